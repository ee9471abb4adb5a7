"""Replies with a structure: JSON, sets and rankings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from eval_pipeline.declarative.cells import Row, Unusable, as_json, as_list, filled, folded, shown
from eval_pipeline.declarative.kinds import UNREADABLE, Kind
from eval_pipeline.declarative.schemas import departures, unusable
from eval_pipeline.declarative.scorers.base import Fraction, Reply, Scorer, Spelling, needed
from eval_pipeline.declarative.scorers.matching import Sameness
from eval_pipeline.metrics.ranking import Hit, hits, retrieval_measures
from eval_pipeline.suite import KeyedCount, KeyedSums, Rows, Values

RIGHT, WRONG = "right", "wrong"
WHOLE = "(all of it)"
HIGHEST_GRADE = 100


class JsonSchema(Scorer, frozen=True, kw_only=True, rename={"of": "json_schema"}):
    """The reply satisfies a JSON Schema; references lead nowhere outside of it."""

    of: dict[str, Any]

    key = "json_schema"
    about = "Replies that satisfy the JSON Schema ÷ replies"
    kinds = ("json",)

    def __post_init__(self) -> None:
        if reason := unusable(self.of):
            raise ValueError(reason)

    @property
    def needs(self) -> list[str]:
        """None: a schema refers to no column."""
        return []

    def value(self, reply: Reply, wanted: Any) -> float:
        """Whether nothing departs from the schema."""
        return float(not departures(_plain(reply), self.of))

    def told(self, reply: Reply, wanted: Any) -> tuple[str, str]:
        """Where it departs."""
        return "; ".join(departures(_plain(reply), self.of)), shown(reply.text)


class IsJson(Scorer, frozen=True, kw_only=True, rename={"of": "is_json"}):
    """The reply is JSON and nothing else, of a schema where there is one, whatever the kind of answers."""

    of: bool | str | dict[str, Any]

    key = "is_json"
    about = "Replies that are JSON, of the schema where there is one ÷ replies"

    def __post_init__(self) -> None:
        if self.of is False:
            raise ValueError("is neither true nor a JSON Schema")
        if isinstance(self.of, dict) and (reason := unusable(self.of)):
            raise ValueError(reason)

    @property
    def needs(self) -> list[str]:
        """The column of the schema; a schema itself refers to none."""
        return super().needs if isinstance(self.of, str) else []

    def wanted(self, row: Row, kind: Kind) -> dict[str, Any]:
        """The schema; an empty one where anything is right."""
        cell = as_json(needed(self.of, row)) if isinstance(self.of, str) else self.of
        schema: Any = {} if cell is True else cell
        reason = unusable(schema) if isinstance(schema, dict) else "is neither true nor a JSON Schema"
        if reason:
            raise Unusable(reason, "Correct the schema.")
        return dict(schema)

    def value(self, reply: Reply, wanted: dict[str, Any]) -> float:
        """Whether it is, and nothing departs from the schema."""
        try:
            return float(not departures(as_json(reply.text), wanted))
        except Unusable:
            return 0.0


class JsonEquals(Sameness, frozen=True, kw_only=True, rename={"of": "json_equals"}):
    """The part of an object's fields that are as expected; missing and further fields are wrong."""

    of: str | dict[str, Any]
    fields: tuple[str, ...] = ()
    """The fields that count; all where none is named."""
    at_least: Fraction = 1.0

    key = "json_equals"
    about = "Fields that are as expected ÷ fields that are expected or there"
    kinds = ("json",)
    holds_answer = True
    reads_value = True

    def wanted(self, row: Row, kind: Kind) -> Any:
        """The expected JSON."""
        if not isinstance(self.of, str):
            return {name: filled(value, row) for name, value in self.of.items()}
        return as_json(needed(self.of, row))

    def value(self, reply: Reply, wanted: Any) -> float:
        """Right fields ÷ fields."""
        verdicts = self._verdicts(reply.value, wanted)
        return sum(verdicts.values()) / len(verdicts)

    def _verdicts(self, value: Any, wanted: Any) -> dict[str, bool]:
        if not (isinstance(value, Mapping) and isinstance(wanted, Mapping)):
            names = self.fields or (tuple(wanted) if isinstance(wanted, Mapping) else ())
            return dict.fromkeys(names, False) or {WHOLE: self.same(value, wanted)}
        names = self.fields or tuple(dict.fromkeys((*wanted, *value)))
        verdicts = {
            name: name in value and name in wanted and self.same(value[name], wanted[name]) for name in names
        }
        return verdicts or {WHOLE: True}

    def told(self, reply: Reply, wanted: Any) -> tuple[str, str]:
        """The fields that are wrong, as expected and as they are."""
        if not (isinstance(reply.value, Mapping) and isinstance(wanted, Mapping)):
            return super().told(reply, wanted)
        wrong = [name for name, right in self._verdicts(reply.value, wanted).items() if not right]
        sides = ({name: side[name] for name in wrong if name in side} for side in (wanted, reply.value))
        expected, got = map(shown, sides)
        return expected, got

    def keyed(self, table: str, reply: Reply, wanted: Any) -> Iterator[KeyedCount]:
        """How often each expected field is right."""
        value = {} if reply.value is UNREADABLE else reply.value
        known = wanted if isinstance(wanted, Mapping) else {WHOLE: wanted}
        for name, right in self._verdicts(value, wanted).items():
            if name in known:
                yield KeyedCount(table, name, RIGHT if right else WRONG, 1.0)

    def tables(self) -> list[Callable[[KeyedSums], Rows]]:
        """How often each field is right."""
        return [_field_rows]


def _field_rows(table: KeyedSums) -> Rows:
    right, wrong = table.column(RIGHT)[0], table.column(WRONG)[0]
    return [
        {"field": name, RIGHT: int(yes), WRONG: int(no)}
        for name, yes, no in zip(table.row_keys, right, wrong, strict=True)
    ]


class SetF1(Spelling, frozen=True, kw_only=True, rename={"of": "set_f1"}):
    """The answer's elements against those expected, whatever their order: F1 of the two sets."""

    of: str | tuple[str, ...]
    at_least: Fraction = 1.0

    key = "set_f1"
    about = "F1 of the answer's elements against those expected"
    kinds = ("labels", "list")
    holds_answer = True
    reads_value = True

    def wanted(self, row: Row, kind: Kind) -> list[str]:
        """The expected elements; none is an expectation, too, where it is written as []."""
        expected: list[str] = kind.expected(
            needed(self.of, row) if isinstance(self.of, str) else list(self.of)
        )
        return expected

    def value(self, reply: Reply, wanted: list[str]) -> float:
        """2 · shared ÷ (given + expected); nothing where nothing is expected is right."""
        given, expected = set(map(self.spelt, reply.value)), set(map(self.spelt, wanted))
        total = len(given) + len(expected)
        return 2 * len(given & expected) / total if total else 1.0


class Ranking(Scorer, frozen=True, kw_only=True, rename={"of": "ranking"}):
    """The order of a list against what is relevant: nDCG, recall within the first k, or the first hit."""

    of: str | tuple[str, ...]
    measure: Literal["ndcg", "recall", "mrr"] = "ndcg"
    k: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10
    at_least: Fraction = 1.0

    key = "ranking"
    about = "Ranking"
    kinds = ("list",)
    holds_answer = True
    reads_value = True

    @property
    def default_name(self) -> str:
        """The measure, with its depth where it has one."""
        return "mrr" if self.measure == "mrr" else f"{self.measure}@{self.k}"

    @property
    def description(self) -> str:
        """The measure in words."""
        words = {
            "ndcg": f"Discounted gain of the first {self.k} ÷ that of the best order",
            "recall": f"Relevant ones within the first {self.k} ÷ relevant ones",
            "mrr": "1 ÷ the rank of the first relevant one",
        }
        return f"{words[self.measure]}: the mean over cases."

    def wanted(self, row: Row, kind: Kind) -> dict[str, int]:
        """Grades by id: 1 for everything in a list, as written in an object."""
        cell = needed(self.of, row) if isinstance(self.of, str) else self.of
        if isinstance(cell, str) and cell.lstrip().startswith("{"):
            cell = as_json(cell)
        if isinstance(cell, Mapping):
            grades = dict(cell)
            if not all(type(each) is int and 0 <= each <= HIGHEST_GRADE for each in grades.values()):
                raise Unusable("has grades that are no whole numbers", f'Write {{"id": 0…{HIGHEST_GRADE}}}.')
        else:
            grades = dict.fromkeys(as_list(cell), 1)
        if not any(grades.values()):
            raise Unusable("names nothing that is relevant", "Name at least one id.")
        return {folded(name): grade for name, grade in grades.items()}

    def values(self, replies: Sequence[Reply], wanted: Sequence[dict[str, int]]) -> Values:
        """The measure of every reply."""
        found: list[list[Hit]] = []
        for reply, judged in zip(replies, wanted, strict=True):
            ids = [] if reply.value is UNREADABLE else list(dict.fromkeys(map(folded, reply.value)))
            found.append(hits(ids, [None] * len(ids), judged))
        name = "mrr" if self.measure == "mrr" else f"{self.measure}@{self.k}"
        return np.asarray(retrieval_measures(found, wanted, [self.k])[name], dtype=float)

    def golden(self, wanted: dict[str, int]) -> Any:
        """The best order."""
        return sorted(
            (name for name, grade in wanted.items() if grade), key=lambda name: (-wanted[name], name)
        )


def _plain(reply: Reply) -> Any:
    """The JSON of a reply, whether or not its kind's own schema allows it."""
    return as_json(reply.text) if reply.value is UNREADABLE else reply.value
