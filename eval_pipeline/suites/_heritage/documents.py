"""Golden files as the heritage document has them: entries for several tasks, and entries without an id."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from eval_pipeline.files import Check, Located, Violation, content_hash, no_checks, read_json, read_json_lines
from eval_pipeline.golden import JSON_LINES, JsonCases
from eval_pipeline.problems import Problems
from eval_pipeline.suite import Case, Place
from eval_pipeline.suites._heritage.attributes import CustodianType, Description


class TypeClassification(msgspec.Struct, frozen=True):
    """The type of the custodian that a text is about."""

    primary_type: CustodianType
    secondary_types: list[CustodianType] = []
    rationale: str = ""


class CombinedEntry(Description, frozen=True, kw_only=True):
    """An entry for several tasks: a text, and what each of them makes of it. A task adds its own part."""

    text: str
    id: str | None = None
    type_classification: TypeClassification | None = None

    @property
    def attributes(self) -> dict[str, str]:
        """What is said, by name; the custodian type may be that of the classification."""
        said = super().attributes
        if self.type_classification:
            said.setdefault("custodian_type", self.type_classification.primary_type)
        return said


def made_id(file: str, *content: str) -> str:
    """The id of an entry that has none: its file's name and what it says, so that it never moves."""
    return f"{file}-{content_hash(content)[:12]}"


def first_place(mention: str, text: str) -> int:
    """Where a mention without an offset begins: first as words of their own, or else inside of others."""
    whole = re.search(rf"(?<!\w){re.escape(mention)}(?!\w)", text)
    return whole.start() if whole else max(0, text.find(mention))


def misplaced(mention: str, text: str, *path: str | int) -> Iterator[Violation]:
    """What is wrong with a mention that has no offset: it is to stand in its text, where the first counts."""
    if not mention.strip():
        yield Violation(path, "is blank", "Name what is linked.")
    elif mention not in text:
        message = f"{mention[:60]!r} does not stand in the text"
        yield Violation(path, message, "Write the mention as the text has it.")


class Shape(NamedTuple):
    """One of the forms that the entries of a golden file may have."""

    known_by: str
    """A field that only entries of this form have."""
    entry: type[Any]
    cases: Callable[[Any, str], Iterable[Case[Any, Any]]]
    """(entry, name of its file) → its cases."""
    check: Check = no_checks


class ShapedCases:
    """Reads cases from JSON and JSON Lines files; the first entry of a file says which form all have."""

    suffixes: tuple[str, ...] = JsonCases.suffixes

    def __init__(self, usual: Shape, *others: Shape) -> None:
        self._usual = usual
        self._others = others

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The cases of one file, which has to have one."""
        before, found = len(problems), False
        shape = next((self._shape(each) for each, _ in _records(path)), self._usual)
        read = read_json_lines if _has_lines(path) else read_json
        for entry, line in read(path, shape.entry, problems, shape.check):
            for case in shape.cases(entry, path.stem):
                found = True
                yield case, Place(path, line)
        if len(problems) > before:
            self._tell_others(path, shape, problems)
        elif not found:
            message = "no entry says anything for this suite"
            problems.add(path, message, "Fill it in, or remove the file.", field=shape.known_by)

    def _shape(self, entry: Mapping[str, Any]) -> Shape:
        return next((each for each in self._others if each.known_by in entry), self._usual)

    def _tell_others(self, path: Path, shape: Shape, problems: Problems) -> None:
        """Why entries of another form than the first cannot be read."""
        for entry, line in _records(path):
            own = self._shape(entry).known_by
            if own != shape.known_by and own in entry:
                message = f"is of another form than the first entry, which has `{shape.known_by}`"
                problems.add(path, message, "Give each form a file of its own.", line=line, field=own)


def _has_lines(path: Path) -> bool:
    return path.suffix.lower() in JSON_LINES


def _records(path: Path) -> Iterator[Located[dict[str, Any]]]:
    """The entries of a file as they stand there; what is wrong with them is told elsewhere."""
    return (read_json_lines if _has_lines(path) else read_json)(path, dict[str, Any], Problems())
