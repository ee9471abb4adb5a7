"""Reading golden sets: every case with its place and its hashes."""

from collections.abc import Iterator, Sequence
from operator import lt
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from eval_pipeline.files import WHOLE, Part, content_hash, files_below
from eval_pipeline.golden.readers import ChoosesFiles, JsonCases, reader_of
from eval_pipeline.golden.signoff import SIGN_OFF_FILE
from eval_pipeline.problems import Problems, shown_path
from eval_pipeline.suite import Case, CaseReader, Suite, suite_code

LONGEST_ID = 200
MOST_LINES = 2**40
JUDGE_FILE = "judge.jsonl"
NOT_CASES = ("baseline", "resources", "references", SIGN_OFF_FILE, JUDGE_FILE)
"""What else lies in a golden folder."""


class GoldenCase(msgspec.Struct, frozen=True):
    """A case as a golden set holds it: where it stands, and the hashes that tell whether it changed."""

    case: Case[Any, Any]
    file: str
    line: int
    input_hash: str
    case_hash: str


class GoldenBlock(NamedTuple):
    """Some cases of one golden file, and the line of each."""

    cases: list[Case[Any, Any]]
    file: str
    lines: Sequence[int]


def case_files(suite: Suite, path: Path, problems: Problems) -> list[Path]:
    """The golden files at a path: itself, or those of a folder (of its `cases/` if it has one)."""
    if not path.is_dir():
        return [path]
    reader = reader_of(suite)
    if isinstance(reader, ChoosesFiles):
        return reader.files(path, problems)
    inside = path / "cases"
    suffixes = reader.suffixes
    folder, others = (inside, ()) if inside.is_dir() else (path, NOT_CASES)
    return [
        file
        for file in files_below(folder, problems)
        if file.suffix.lower() in suffixes
        and not file.name.startswith(".")
        and file.relative_to(folder).parts[0] not in others
    ]


def read_cases(suite: Suite, path: Path, problems: Problems) -> Iterator[GoldenCase]:
    """Every case of a golden file or folder, one after the other; what is wrong goes to `problems`."""
    for cases, file, lines in read_case_blocks(suite, path, problems):
        for case, line in zip(cases, lines, strict=True):
            yield GoldenCase(case, file, line, content_hash(case.input), content_hash(case))


def read_case_blocks(
    suite: Suite, path: Path, problems: Problems, part: Part = WHOLE
) -> Iterator[GoldenBlock]:
    """Every case of a golden file or folder, many at a time and without their hashes."""
    if not path.exists():
        problems.add(path, "does not exist", "Name a golden file or a folder of golden files.")
        return
    before = len(problems)
    files, reader = case_files(suite, path, problems), reader_of(suite)
    if not files and len(problems) == before:
        kinds = ", ".join(reader.suffixes)
        problems.add(path, f"holds no golden file ({kinds})", "Add at least one case.")
    ids = _Ids(files)
    for number, file in enumerate(files):
        name = shown_path(file)
        if not file.is_file():
            problems.add(file, "is not a regular file", "Remove it, or mend the link.")
            continue
        with suite_code(suite.name):
            for cases, lines in _blocks(reader, file, problems, part):
                ids.add([case.id for case in cases], number, lines, problems)
                yield GoldenBlock(cases, name, lines)


def _blocks(
    reader: CaseReader, file: Path, problems: Problems, part: Part
) -> Iterator[tuple[list[Case[Any, Any]], Sequence[int]]]:
    if isinstance(reader, JsonCases):
        yield from reader.read_blocks(file, problems, part)
    else:
        for case, place in reader.read(file, problems):
            yield [case], [place.line]


class _Ids:
    """The ids seen so far, each with the file and line of its first appearance in one number.

    As long as they come in ascending order none can stand twice: blocks are put aside, and looked into
    only when one of them breaks that order.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._places: dict[str, int] = {}
        self._aside: list[tuple[Sequence[str], int, Sequence[int]]] = []
        self._ascending = True

    def add(self, ids: Sequence[str], file: int, lines: Sequence[int], problems: Problems) -> None:
        """Note the ids of a block; those that are unusable or not new go to `problems`."""
        if not ids:
            return
        if self._ascending:
            last = self._aside[-1][0][-1] if self._aside else ""
            if last < ids[0] and all(map(lt, ids, ids[1:])) and _are_ids(ids):
                self._aside.append((ids, file, lines))
                return
            self._ascending = False
            for block in self._aside:
                self._note(*block, problems)
            self._aside.clear()
        self._note(ids, file, lines, problems)

    def _note(self, ids: Sequence[str], file: int, lines: Sequence[int], problems: Problems) -> None:
        start = file * MOST_LINES
        before = len(self._places)
        if _are_ids(ids) and self._places.keys().isdisjoint(ids):
            self._places.update(zip(ids, map(start.__add__, lines) if start else lines, strict=True))
            if len(self._places) == before + len(ids):
                return
            for case_id in dict.fromkeys(ids):
                del self._places[case_id]
        for case_id, line in zip(ids, lines, strict=True):
            self._add(case_id, file, line, problems)

    def _add(self, case_id: str, number: int, line: int, problems: Problems) -> None:
        file = self._files[number]
        if not _is_id(case_id):
            remedy = f"Use up to {LONGEST_ID} visible characters."
            problems.add(file, "is no usable id", remedy, line=line, field="id")
        elif case_id in self._places:
            first_file, first_line = divmod(self._places[case_id], MOST_LINES)
            problems.add(
                file,
                f"{case_id!r} is also the id of {shown_path(self._files[first_file])}:{first_line}",
                "Give every case an id of its own.",
                line=line,
                field="id",
            )
        self._places.setdefault(case_id, number * MOST_LINES + line)


def _are_ids(texts: Sequence[str]) -> bool:
    """Whether a quick look shows that all are usable ids."""
    joined = "".join(texts)
    return (
        all(texts)
        and " " not in joined
        and joined.isprintable()
        and max(map(len, texts), default=0) <= LONGEST_ID
    )


def _is_id(text: str) -> bool:
    return 0 < len(text) <= LONGEST_ID and text.isprintable() and text == text.strip()
