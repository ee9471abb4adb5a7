"""What the columns of a table are for: guessed from their names and from what stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import msgspec

Task = Literal["classify", "extract", "answer", "summarise", "rag", "rank"]

EXPECTED = (
    "expected", "expected_output", "expected_answer", "gold", "golden", "label", "labels", "target", "ideal",
    "reference", "answer", "category", "class", "intent", "sentiment", "topic", "summary", "relevant",
    "output",
)  # fmt: skip
"""Names of a column that says what should come out, the clearest first."""
INPUTS = (
    "text", "input", "question", "query", "message", "subject", "title", "body", "content", "description",
    "ticket", "email", "review", "document", "article", "transcript", "prompt", "passage", "passages",
    "context", "contexts", "documents", "candidates", "sentence",
)  # fmt: skip
"""Names of columns that a prompt is about."""
GROUPS = (
    "language", "lang", "locale", "sprache", "taal", "langue", "country", "land", "region", "channel",
    "source", "platform", "split", "difficulty",
)  # fmt: skip
"""Names of columns that tell cases apart, and are what should come out only where nothing else can be."""
SOURCES = ("passage", "passages", "context", "contexts", "documents")
CITED = ("sources", "citations", "cited", "source_ids")
IDS = re.compile(r"(?:.*[_\- ])?(?:id|uuid|key|nr|no|number)|case|case[_\- ]?name", re.IGNORECASE)
_NUMBERED = re.compile(r"\S*\d\S*")
HIDDEN = "__"
ASSERTIONS = "__expected"
"""Columns of assertions per case, which begin so."""

MOST_LABELS = 50
MOST_GROUPS = 12
LONG_LABEL = 4
"""Labels have fewer words, on average."""
FREE_TEXT = 3
"""Free text has so many words, on average."""
LONG_TEXT = 80


class Column:
    """One column, and what its cells have in common."""

    def __init__(self, name: str, cells: Sequence[Any]) -> None:
        self.name = name
        self.cells = [_text(cell) for cell in cells]

    @cached_property
    def filled(self) -> list[str]:
        """The cells that are not blank."""
        return [cell for cell in self.cells if cell]

    @cached_property
    def distinct(self) -> list[str]:
        """The values, each once and in order."""
        return sorted(set(self.filled))

    @cached_property
    def words(self) -> float:
        """How many words a cell has, on average."""
        return sum(len(cell.split()) for cell in self.filled) / max(len(self.filled), 1)

    @property
    def complete(self) -> bool:
        """Whether no cell is blank."""
        return bool(self.cells) and len(self.filled) == len(self.cells)

    @property
    def is_unique(self) -> bool:
        """Whether every cell names its row."""
        return self.complete and len(self.distinct) == len(self.cells)

    @property
    def repeats(self) -> bool:
        """Whether a few short values stand in many rows."""
        return 2 <= len(self.distinct) <= len(self.filled) / 2 and self.words < LONG_LABEL

    def is_json(self, kind: type) -> bool:
        """Whether every cell is JSON of a kind."""
        return bool(self.filled) and all(isinstance(_parsed(cell), kind) for cell in self.filled)


@dataclass(frozen=True)
class Roles:
    """What columns are for, and why."""

    id: str = ""
    inputs: tuple[str, ...] = ()
    expected: str = ""
    attributes: tuple[str, ...] = ()
    cited: str = ""
    """The column of sources that a reply should cite."""
    why: Mapping[str, str] = field(default_factory=dict)
    """The reason for each role that was guessed."""
    unsure: frozenset[str] = frozenset()
    """The roles that somebody should confirm."""

    @property
    def used(self) -> set[str]:
        """The columns that have a role."""
        return {self.id, self.expected, self.cited, *self.inputs, *self.attributes} - {""}


def guess_roles(columns: Sequence[Column], given: Mapping[str, Any]) -> Roles:
    """What columns are for; what a person said of id, inputs, expected and attributes counts."""
    why: dict[str, str] = {}
    unsure: set[str] = set()
    free = [column for column in columns if not column.name.startswith(HIDDEN)]

    def take(role: str, chosen: Sequence[Column], reason: str, certain: bool = True) -> tuple[str, ...]:
        nonlocal free
        names = tuple(given[role]) if given.get(role) else tuple(column.name for column in chosen)
        free = [column for column in free if column.name not in names]
        if names and not given.get(role):
            why[role] = reason
        if not given.get(role) and not certain:
            unsure.add(role)
        return names

    asserted = any(column.name.startswith(ASSERTIONS) for column in columns)
    case_id = take("id", *_id(free))
    expected = take("expected", *_expected(free, asserted))
    cited = take("cited", [each for each in free if each.name.lower() in CITED][:1], "its name")
    inputs = take("inputs", *_inputs(free))
    groups = [each for each in free if each.repeats and len(each.distinct) <= MOST_GROUPS]
    attributes = take("attributes", groups, "few distinct values")
    only = [*expected, ""][0]
    return Roles([*case_id, ""][0], inputs, only, attributes, [*cited, ""][0], why, frozenset(unsure))


Choice = tuple[list[Column], str, bool]
"""Columns, why they were chosen, and whether there is no doubt."""


def _id(columns: Sequence[Column]) -> Choice:
    named = [each for each in columns if IDS.fullmatch(each.name) and each.is_unique]
    if named:
        return named[:1], "its name, and every row has another one", True
    numbered = [each for each in columns[:1] if each.is_unique and all(map(_NUMBERED.fullmatch, each.cells))]
    return numbered, "the first column, and every row has another one", True


def _expected(columns: Sequence[Column], asserted: bool) -> Choice:
    by_name = {each.name.lower().replace(" ", "_").replace("-", "_"): each for each in columns}
    for name in EXPECTED:
        if name in by_name:
            return [by_name[name]], "its name", True
    ending = [each for known, each in by_name.items() if known.startswith(("expected", "gold"))]
    if ending:
        return ending[:1], "its name", True
    if asserted:
        return [], "", True
    few = [each for each in columns if each.repeats and each.name.lower() not in INPUTS]
    few = [each for each in few if each.name.lower() not in GROUPS] or few
    return few[-1:], f"{len(few[-1].distinct)} distinct values" if few else "", False


def _inputs(columns: Sequence[Column]) -> Choice:
    named = [each for each in columns if each.name.lower() in INPUTS]
    if named:
        return named, "their names" if len(named) > 1 else "its name", True
    texts = [each for each in columns if each.words >= FREE_TEXT or not each.repeats]
    prose = [each for each in texts if each.words >= FREE_TEXT]
    return prose or texts[:1], "free text", len(prose) == 1


def guess_task(columns: Sequence[Column], roles: Roles) -> tuple[Task, str]:
    """Which kind of task it is, and why."""
    by_name = {column.name: column for column in columns}
    expected = by_name.get(roles.expected)
    if expected is None:
        return "answer", "no column says what is expected"
    if expected.repeats and len(expected.distinct) <= MOST_LABELS:
        return "classify", f"{expected.name} has {len(expected.distinct)} distinct values"
    if expected.is_json(dict):
        return "extract", f"{expected.name} holds JSON objects"
    if expected.is_json(list) or expected.name.lower() == "relevant":
        return "rank", f"{expected.name} holds lists"
    if any(name.lower() in SOURCES for name in roles.inputs):
        return "rag", "there are passages to answer from"
    long = max((by_name[name].words for name in roles.inputs if name in by_name), default=0.0)
    if expected.name.lower() == "summary" or (long >= LONG_TEXT and expected.words >= FREE_TEXT * 4):
        return "summarise", f"{expected.name} is a shorter text"
    return "answer", f"{expected.name} is a text"


def columns_in(rows: Iterator[Mapping[str, Any]]) -> list[Column]:
    """The columns of rows, in the order in which they appear."""
    cells: dict[str, list[Any]] = {}
    for number, row in enumerate(rows):
        for name in row:
            if name not in cells:
                cells[name] = [""] * number
        for name, values in cells.items():
            values.append(row.get(name))
    return [Column(name, values) for name, values in cells.items()]


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell.strip()
    return "" if cell is None else msgspec.json.encode(cell).decode()


def _parsed(cell: str) -> Any:
    try:
        return msgspec.json.decode(cell)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
