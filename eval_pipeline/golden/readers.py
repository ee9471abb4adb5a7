"""The formats that golden cases come in."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import msgspec

from eval_pipeline import files
from eval_pipeline.problems import Problems
from eval_pipeline.suite import EXACT_MATCH, Case, CaseReader, Place, Suite

Entry = TypeVar("Entry", bound=msgspec.Struct)
JSON_LINES = (".jsonl", ".ndjson")


class JsonCases(Generic[Entry]):
    """Reads cases from JSON (an object, or a list of them) and JSON Lines files."""

    suffixes: tuple[str, ...] = (".json", *JSON_LINES)

    def __init__(
        self,
        entry: type[Entry],
        case: Any,
        check: files.Check = files.no_checks,
        glance: files.Glance = files.no_glance,
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
        self, path: Path, problems: Problems, part: files.Part = files.WHOLE
    ) -> Iterator[tuple[list[Case[Any, Any]], Sequence[int]]]:
        """The cases of one file with their lines, many at a time; only JSON Lines can be read in part."""
        if path.suffix.lower() in JSON_LINES:
            for records, lines in files.read_json_blocks(
                path, self._entry, problems, self._check, self._glance, part
            ):
                yield list(map(self._case, records)), lines
        else:
            for entry, line in files.read_json(path, self._entry, problems, self._check):
                yield [self._case(entry)], [line]


@runtime_checkable
class ChoosesFiles(Protocol):
    """A reader that knows which files of a golden folder hold its cases."""

    def files(self, folder: Path, problems: Problems) -> list[Path]:
        """These files; what is wrong with them goes to `problems`."""


def reader_of(suite: Suite) -> CaseReader:
    """How golden files of a suite are read: its own way, or entries of id, input, expected and attributes."""
    if suite.reader is not None:
        return suite.reader
    fields = [("id", str), ("input", suite.input), ("expected", suite.expected)]
    entry = msgspec.defstruct(
        "Entry", [*fields, ("attributes", dict[str, str], {})], frozen=True, forbid_unknown_fields=True
    )
    check = _not_blank if EXACT_MATCH in suite.metrics else files.no_checks
    return JsonCases(entry, lambda each: Case(each.id, each.input, each.expected, each.attributes), check)


def _not_blank(entry: Any) -> Iterator[files.Violation]:
    if not entry.expected.strip():
        yield files.Violation(("expected",), "is blank, and a blank answer is an error", "Say what is right.")


class TsvCases(Generic[Entry]):
    """Reads cases from tables of tab-separated text whose header names the fields.

    `case` makes a case of an entry and the id that its row has by number, for rows without one of their own.
    """

    suffixes: tuple[str, ...] = (".tsv",)

    def __init__(self, entry: type[Entry], case: Any, check: files.Check = files.no_checks) -> None:
        self._entry = entry
        self._case = case
        self._check = check

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The cases of one file."""
        rows = files.read_tsv(path, self._entry, problems, self._check)
        for number, (entry, line) in enumerate(rows, 1):
            yield self._case(entry, f"{path.stem}-{number}"), Place(path, line)


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
