"""Golden sets: reading them, identifying them, signing them off."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from eval_pipeline.content import content_hash, files_hash, write_json
from eval_pipeline.documents import Check, no_checks, read_json, read_json_lines
from eval_pipeline.problems import Problems, shown_path
from eval_pipeline.suite import Case, Overview, Place, Requirement, Suite

Entry = TypeVar("Entry", bound=msgspec.Struct)

JSON_LINES = (".jsonl", ".ndjson")
LONGEST_ID = 200
SIGN_OFF_FILE = "signoff.json"
NOT_CASES = ("baseline", "resources", "references", SIGN_OFF_FILE)
"""What else lies in a golden folder."""


class JsonCases(Generic[Entry]):
    """Reads cases from JSON (an object, or a list of them) and JSON Lines files."""

    suffixes: tuple[str, ...] = (".json", *JSON_LINES)

    def __init__(self, entry: type[Entry], case: Any, check: Check = no_checks) -> None:
        self._entry = entry
        self._case = case
        self._check = check

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The cases of one file."""
        read = read_json_lines if path.suffix.lower() in JSON_LINES else read_json
        for entry, line in read(path, self._entry, problems, self._check):
            yield self._case(entry), Place(path, line)


class GoldenCase(msgspec.Struct, frozen=True):
    """A case as a golden set holds it: where it stands, and the hashes that tell whether it changed."""

    case: Case[Any, Any]
    file: str
    line: int
    input_hash: str
    case_hash: str


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


def read_cases(suite: Suite, path: Path, problems: Problems, *, hashed: bool = True) -> Iterator[GoldenCase]:
    """Every case of a golden file or folder, one after the other; what is wrong goes to `problems`.

    Whoever only scores needs no hashes, which cost more than reading: they are left blank then.
    """
    if not path.exists():
        problems.add(path, "does not exist", "Name a golden file or a folder of golden files.")
        return
    files = case_files(suite, path)
    if not files:
        kinds = ", ".join(suite.reader.suffixes)
        problems.add(path, f"holds no golden file ({kinds})", "Add at least one case.")
    seen: dict[str, Place] = {}
    for file in files:
        name = shown_path(file)
        if not file.is_file():
            problems.add(file, "cannot be read", "It is no file; remove it, or mend the link.")
            continue
        for case, place in suite.reader.read(file, problems):
            if not _is_id(case.id):
                remedy = f"Use up to {LONGEST_ID} visible characters."
                problems.add(file, "is no usable id", remedy, line=place.line, field="id")
            elif case.id in seen:
                first = seen[case.id]
                problems.add(
                    file,
                    f"{case.id!r} is also the id of {shown_path(first.file)}:{first.line}",
                    "Give every case an id of its own.",
                    line=place.line,
                    field="id",
                )
            seen.setdefault(case.id, place)
            hashes = (content_hash(case.input), content_hash(case)) if hashed else ("", "")
            yield GoldenCase(case, name, place.line, *hashes)


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
        count = len(self._case_ids)
        self._case_ids.append(golden.case.id)
        self._files.append(golden.file)
        _append(self._attributes, golden.case.attributes, count)
        if self._suite.measure:
            _append(self._measures, self._suite.measure(golden.case), count)

    def build(self) -> Overview:
        """The overview of everything added."""
        attributes, measures = (
            {name: columns[name] for name in sorted(columns)}
            for columns in (self._attributes, self._measures)
        )
        return Overview(self._case_ids, self._files, attributes, measures)


def _append(columns: dict[str, list[Any]], row: Mapping[str, Any], count: int) -> None:
    """Add a row to columns of that many rows; blank where the row or the column lacks something."""
    for name in row:
        if name not in columns:
            columns[name] = [""] * count
    for name, column in columns.items():
        column.append(row.get(name, ""))


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
