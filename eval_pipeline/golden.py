"""Golden sets: reading them, identifying them, signing them off."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import lt
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from eval_pipeline.content import content_hash, files_hash, write_json
from eval_pipeline.documents import (
    WHOLE,
    Check,
    Glance,
    Part,
    no_checks,
    no_glance,
    read_json,
    read_json_blocks,
    read_tsv,
)
from eval_pipeline.problems import Problems, shown_path
from eval_pipeline.suite import Case, CaseReader, Overview, Place, Requirement, Suite

Entry = TypeVar("Entry", bound=msgspec.Struct)

JSON_LINES = (".jsonl", ".ndjson")
LONGEST_ID = 200
MOST_LINES = 2**40
SIGN_OFF_FILE = "signoff.json"
JUDGE_FILE = "judge.jsonl"
NOT_CASES = ("baseline", "resources", "references", SIGN_OFF_FILE, JUDGE_FILE)
"""What else lies in a golden folder."""


class JsonCases(Generic[Entry]):
    """Reads cases from JSON (an object, or a list of them) and JSON Lines files."""

    suffixes: tuple[str, ...] = (".json", *JSON_LINES)

    def __init__(
        self, entry: type[Entry], case: Any, check: Check = no_checks, glance: Glance = no_glance
    ) -> None:
        self._entry = entry
        self._case = case
        self._check = check
        self._glance = glance

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The cases of one file."""
        for cases, lines in self.read_blocks(path, problems):
            for case, line in zip(cases, lines, strict=True):
                yield case, Place(path, line)

    def read_blocks(
        self, path: Path, problems: Problems, part: Part = WHOLE
    ) -> Iterator[tuple[list[Case[Any, Any]], Sequence[int]]]:
        """The cases of one file with their lines, many at a time; only JSON Lines can be read in part."""
        if path.suffix.lower() in JSON_LINES:
            for records, lines in read_json_blocks(
                path, self._entry, problems, self._check, self._glance, part
            ):
                yield list(map(self._case, records)), lines
        else:
            for entry, line in read_json(path, self._entry, problems, self._check):
                yield [self._case(entry)], [line]


class TsvCases(Generic[Entry]):
    """Reads cases from tables of tab-separated text whose header names the fields."""

    suffixes: tuple[str, ...] = (".tsv",)

    def __init__(self, entry: type[Entry], case: Any, check: Check = no_checks) -> None:
        self._entry = entry
        self._case = case
        self._check = check

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The cases of one file."""
        for entry, line in read_tsv(path, self._entry, problems, self._check):
            yield self._case(entry), Place(path, line)


class CasesBySuffix:
    """Reads several golden formats; the end of a file's name says which one it is in."""

    def __init__(self, *readers: CaseReader) -> None:
        self._readers = {suffix: reader for reader in readers for suffix in reader.suffixes}
        self.suffixes: tuple[str, ...] = tuple(self._readers)

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The cases of one file."""
        reader = self._readers.get(path.suffix.lower())
        if reader is None:
            problems.add(path, "is in no known format", f"Known: {', '.join(self.suffixes)}.")
            return
        yield from reader.read(path, problems)


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


def case_files(suite: Suite, path: Path) -> list[Path]:
    """The golden files at a path: itself, or those of a folder (of its `cases/` if it has one)."""
    if not path.is_dir():
        return [path]
    inside = path / "cases"
    folder, others = (inside, ()) if inside.is_dir() else (path, NOT_CASES)
    return sorted(
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in suite.reader.suffixes
        and not file.is_dir()
        and not file.name.startswith(".")
        and file.relative_to(folder).parts[0] not in others
    )


def read_cases(suite: Suite, path: Path, problems: Problems) -> Iterator[GoldenCase]:
    """Every case of a golden file or folder, one after the other; what is wrong goes to `problems`."""
    for cases, file, lines in read_case_blocks(suite, path, problems):
        for case, line in zip(cases, lines, strict=True):
            yield GoldenCase(case, file, line, content_hash(case.input), content_hash(case))


def read_case_blocks(
    suite: Suite, path: Path, problems: Problems, part: Part = WHOLE
) -> Iterator[GoldenBlock]:
    """Every case of a golden file or folder, many at a time and without their hashes, which are dear."""
    if not path.exists():
        problems.add(path, "does not exist", "Name a golden file or a folder of golden files.")
        return
    files = case_files(suite, path)
    if not files:
        kinds = ", ".join(suite.reader.suffixes)
        problems.add(path, f"holds no golden file ({kinds})", "Add at least one case.")
    ids = _Ids(files)
    for number, file in enumerate(files):
        name = shown_path(file)
        if not file.is_file():
            problems.add(file, "cannot be read", "It is no file; remove it, or mend the link.")
            continue
        for cases, lines in _blocks(suite.reader, file, problems, part):
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


def golden_hash(case_hashes: Iterable[str], resources: Path | None) -> str:
    """What identifies a golden set: its cases in any order, and its resources."""
    return content_hash([sorted(case_hashes), resources_hash(resources)])


def inputs_hash(input_hashes: Mapping[str, str], resources: Path | None) -> str:
    """What identifies the questions of a golden set, whatever the expectations: inputs and resources."""
    return content_hash([input_hashes, resources_hash(resources)])


def resources_hash(resources: Path | None) -> str:
    """What identifies a golden set's resources."""
    return files_hash(file for file in resources.rglob("*") if file.is_file()) if resources else ""


class OverviewBuilder:
    """Collects what requirements look at, without keeping the cases."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._case_ids: list[str] = []
        self._files: list[str] = []
        self._attributes: dict[str, list[Any]] = {}
        self._measures: dict[str, list[Any]] = {}

    def add(self, golden: GoldenCase) -> None:
        """Measure one case."""
        self.add_block([golden.case], golden.file)

    def add_block(self, cases: Sequence[Case[Any, Any]], file: str) -> None:
        """Measure some cases of a file."""
        count = len(self._case_ids)
        self._case_ids += [case.id for case in cases]
        self._files += [file] * len(cases)
        _extend(self._attributes, [case.attributes for case in cases], count)
        if self._suite.measure:
            _extend(self._measures, list(map(self._suite.measure, cases)), count)

    def build(self, references: Any = None) -> Overview:
        """The overview of everything added."""
        attributes, measures = (
            {name: columns[name] for name in sorted(columns)}
            for columns in (self._attributes, self._measures)
        )
        return Overview(self._case_ids, self._files, attributes, measures, references)


def joined(overviews: Sequence[Overview]) -> Overview:
    """One overview of several parts of a golden set, which measure the same."""
    first = overviews[0]

    def columns(parts: Sequence[Mapping[str, Sequence[Any]]]) -> dict[str, Sequence[Any]]:
        return {name: list(chain.from_iterable(each[name] for each in parts)) for name in parts[0]}

    return Overview(
        list(chain.from_iterable(each.case_ids for each in overviews)),
        list(chain.from_iterable(each.files for each in overviews)),
        columns([each.attributes for each in overviews]),
        columns([each.measures for each in overviews]),
        first.references,
    )


def _extend(columns: dict[str, list[Any]], rows: Sequence[Mapping[str, Any]], count: int) -> None:
    """Add rows to columns of that many rows; blank where a row or a column lacks something."""
    names = dict.fromkeys(rows[0] if rows else ())
    distinct = dict(zip(map(id, rows), rows, strict=True)).values()
    if all(row.keys() == names.keys() for row in distinct) and (names.keys() == columns.keys() or not count):
        for name in names:
            columns.setdefault(name, []).extend([row[name] for row in rows])
        return
    for name in dict.fromkeys(chain.from_iterable(rows)):
        columns.setdefault(name, [""] * count)
    for name, column in columns.items():
        column += [row.get(name, "") for row in rows]


def shortfalls(suite: Suite, overview: Overview) -> list[tuple[Requirement, list[str]]]:
    """Each requirement of the suite with what falls short of it."""
    if not overview.case_ids:
        return [(each, ["the golden set is empty"]) for each in suite.requirements]
    return [(each, each.shortfalls(overview)) for each in suite.requirements]


class SignOff(msgspec.Struct, frozen=True):
    """A person's word that a golden set is right as it stands."""

    golden_hash: str
    signed_by: str
    signed_at: str
    reason: str
    cases: dict[str, str]

    @staticmethod
    def file(folder: Path) -> Path:
        """Where the sign-off of a golden folder is kept."""
        return folder / SIGN_OFF_FILE


def sign_off(folder: Path, present: str, cases: dict[str, str], person: str, reason: str) -> SignOff:
    """Record that a person vouches for the golden set as it stands."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    record = SignOff(present, person, now, reason, dict(sorted(cases.items())))
    write_json(SignOff.file(folder), record)
    return record


def unsigned_changes(folder: Path, present: str, cases: dict[str, str], problems: Problems) -> list[str]:
    """What changed since the golden set was signed off; empty where it is as signed."""
    file = SignOff.file(folder)
    if not file.is_file():
        return ["it was never signed off"]
    signed = next((each.record for each in read_json(file, SignOff, problems)), None)
    if signed is None:
        return ["the sign-off cannot be read"]
    if signed.golden_hash == present:
        return []
    changes = [
        *(f"added: {case}" for case in sorted(cases.keys() - signed.cases.keys())),
        *(f"removed: {case}" for case in sorted(signed.cases.keys() - cases.keys())),
        *(
            f"changed: {case}"
            for case in sorted(cases.keys() & signed.cases.keys())
            if cases[case] != signed.cases[case]
        ),
    ]
    return changes or ["resources changed"]
