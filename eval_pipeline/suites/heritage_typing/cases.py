"""The golden cases: a description of a heritage custodian, and which of the 19 types it is."""

from collections.abc import Iterator

import msgspec

from eval_pipeline.files import Violation
from eval_pipeline.suite import Case
from eval_pipeline.suites._heritage.attributes import CustodianType, Description
from eval_pipeline.suites._heritage.documents import CombinedEntry, TypeClassification, made_id
from eval_pipeline.suites._heritage.vocabulary import CUSTODIAN_TYPES


class GoldenRow(Description, frozen=True, kw_only=True):
    """A row of the golden table."""

    text: str
    gold_type: CustodianType
    secondary_types: str = ""
    """Types that also fit, as letters separated by commas."""
    id: str | None = None
    """By default the name of the file and the number of the row."""


class ClassifiedEntry(CombinedEntry, frozen=True, kw_only=True):
    """An entry for several tasks, as JSON, with its part for this one."""

    type_classification: TypeClassification


class TypingInput(msgspec.Struct, frozen=True):
    """What an engine sees."""

    text: str
    language: str = ""


class TypingExpected(msgspec.Struct, frozen=True):
    """What only scoring sees."""

    type: str
    secondary_types: list[str] = []


TypingCase = Case[TypingInput, TypingExpected]


def secondary_types(row: GoldenRow) -> list[str]:
    """The letters of the types that also fit."""
    return [letter.strip() for letter in row.secondary_types.split(",") if letter.strip()]


def to_case(row: GoldenRow, numbered: str) -> TypingCase:
    """A row as a case; its custodian type is the one to be found."""
    return Case(
        row.id or numbered,
        TypingInput(row.text, row.language or ""),
        TypingExpected(row.gold_type, secondary_types(row)),
        {**row.attributes, "custodian_type": row.gold_type},
    )


def to_row(entry: ClassifiedEntry) -> GoldenRow:
    """An entry for several tasks as a row."""
    classified = entry.type_classification
    given = {**entry.attributes, "text": entry.text, "gold_type": classified.primary_type, "id": entry.id}
    return msgspec.convert({**given, "secondary_types": ",".join(classified.secondary_types)}, GoldenRow)


def to_cases(entry: ClassifiedEntry, file: str) -> list[TypingCase]:
    """The case of an entry for several tasks."""
    return [to_case(to_row(entry), made_id(file, entry.text))]


def check_classified(entry: ClassifiedEntry) -> Iterator[Violation]:
    """What is wrong with the part of an entry that is for this task."""
    if not entry.text.strip():
        yield Violation(("text",), "is blank", "Give the text to classify.")
    for each in check_row(to_row(entry)):
        field = each.path[0]
        path = ("type_classification", field) if field == "secondary_types" else each.path
        yield each._replace(path=path)


def check_row(row: GoldenRow) -> Iterator[Violation]:
    """What is wrong inside one row."""
    for letter in secondary_types(row):
        if letter not in CUSTODIAN_TYPES:
            known = ", ".join(CUSTODIAN_TYPES)
            yield Violation(("secondary_types",), f"{letter!r} is no custodian type", f"Known: {known}.")
        elif letter == row.gold_type:
            yield Violation(("secondary_types",), f"{letter} is the gold type already", "Remove it.")
    if row.custodian_type not in (None, row.gold_type):
        yield Violation(
            ("custodian_type",),
            f"{row.custodian_type} contradicts the gold type {row.gold_type}",
            "Leave it out.",
        )
