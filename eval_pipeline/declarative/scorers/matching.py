"""Replies that are something, or contain it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from eval_pipeline.declarative.cells import Row, Unusable, as_list, as_text
from eval_pipeline.declarative.kinds import Kind
from eval_pipeline.declarative.scorers.base import GOOD, Count, Fraction, Reply, Scorer, Spelling, needed
from eval_pipeline.language.patterns import (
    BadPattern,
    SlowPattern,
    compile_bounded,
    compile_exact,
    found,
    is_found,
)

Several = str | tuple[str, ...]
Tolerance = Annotated[float, msgspec.Meta(ge=0)]
_EXACT = 1e-12


class Sameness(Spelling, frozen=True, kw_only=True):
    """A scorer that compares values of any kind, part by part."""

    tolerance: Tolerance = 0.0
    """How far numbers may be apart."""
    relative_tolerance: Tolerance = 0.0
    """The same as a part of the larger one."""

    def same(self, one: Any, other: Any) -> bool:
        """Whether two values are the same."""
        if isinstance(one, str) and isinstance(other, str):
            return one == other or self.spelt(one) == self.spelt(other)
        if isinstance(one, bool) or isinstance(other, bool):
            return one is other
        if isinstance(one, int | float) and isinstance(other, int | float):
            apart = max(self.tolerance * (1 + _EXACT), _EXACT)
            return math.isclose(one, other, rel_tol=self.relative_tolerance, abs_tol=apart)
        if isinstance(one, list) and isinstance(other, list):
            return len(one) == len(other) and all(map(self.same, one, other))
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            return one.keys() == other.keys() and all(self.same(one[name], other[name]) for name in one)
        return one is other


class Equals(Sameness, frozen=True, kw_only=True, rename={"of": "equals"}):
    """The answer is the expected one: the same label, labels, number, list, text or JSON."""

    of: str | int | float | bool | tuple[Any, ...]

    key = "equals"
    about = "Answers that are the expected one ÷ answers"
    holds_answer = True
    reads_value = True

    def wanted(self, row: Row, kind: Kind) -> Any:
        """The expected answer."""
        return kind.expected(needed(self.of, row))

    def value(self, reply: Reply, wanted: Any) -> float:
        """Whether they are the same."""
        return float(self.same(reply.value, wanted))


class OneOf(Sameness, frozen=True, kw_only=True, rename={"of": "one_of"}):
    """The answer is one of several that are right."""

    of: Several

    key = "one_of"
    about = "Answers that are one of those expected ÷ answers"
    kinds = ("label", "number", "text")
    holds_answer = True
    reads_value = True

    def wanted(self, row: Row, kind: Kind) -> list[Any]:
        """The answers that are right."""
        return [kind.expected(each) for each in _listed(self.of, row)]

    def value(self, reply: Reply, wanted: list[Any]) -> float:
        """Whether it is one of them."""
        return float(any(self.same(reply.value, each) for each in wanted))

    def golden(self, wanted: list[Any]) -> Any:
        """The first of them."""
        return wanted[0]


class Contains(Spelling, frozen=True, kw_only=True, rename={"of": "contains"}):
    """The reply contains a text."""

    of: str

    key = "contains"
    about = "Replies that contain the text ÷ replies"

    def wanted(self, row: Row, kind: Kind) -> str:
        """The text."""
        return as_text(needed(self.of, row))

    def value(self, reply: Reply, wanted: str) -> float:
        """Whether it stands in the reply."""
        return float(self.spelt(wanted) in self.spelt(reply.text))


class ContainsAll(Spelling, frozen=True, kw_only=True, rename={"of": "contains_all"}):
    """The part of some texts that the reply contains."""

    of: Several
    at_least: Fraction = 1.0

    key = "contains_all"
    about = "Texts that the reply contains ÷ texts"

    def wanted(self, row: Row, kind: Kind) -> list[str]:
        """The texts."""
        return _listed(self.of, row)

    def value(self, reply: Reply, wanted: list[str]) -> float:
        """How many of them stand in the reply ÷ how many there are."""
        text = self.spelt(reply.text)
        return sum(self.spelt(each) in text for each in wanted) / len(wanted)

    def told(self, reply: Reply, wanted: list[str]) -> tuple[str, str]:
        """What is missing."""
        text = self.spelt(reply.text)
        return super().told(reply, [each for each in wanted if self.spelt(each) not in text])


class ContainsAny(Spelling, frozen=True, kw_only=True, rename={"of": "contains_any"}):
    """The reply contains at least one of some texts."""

    of: Several

    key = "contains_any"
    about = "Replies that contain one of the texts ÷ replies"

    def wanted(self, row: Row, kind: Kind) -> list[str]:
        """The texts."""
        return _listed(self.of, row)

    def value(self, reply: Reply, wanted: list[str]) -> float:
        """Whether one of them stands in the reply."""
        text = self.spelt(reply.text)
        return float(any(self.spelt(each) in text for each in wanted))


class NotContains(Spelling, frozen=True, kw_only=True, rename={"of": "not_contains"}):
    """The reply contains none of some texts."""

    of: Several

    key = "not_contains"
    about = "Replies that contain none of the texts ÷ replies"

    def wanted(self, row: Row, kind: Kind) -> list[str]:
        """The texts."""
        return _listed(self.of, row)

    def value(self, reply: Reply, wanted: list[str]) -> float:
        """Whether none of them stands in the reply."""
        text = self.spelt(reply.text)
        return float(not any(self.spelt(each) in text for each in wanted))

    def told(self, reply: Reply, wanted: list[str]) -> tuple[str, str]:
        """What is there and should not be."""
        text = self.spelt(reply.text)
        there = [each for each in wanted if self.spelt(each) in text]
        return f"without {', '.join(there)}", super().told(reply, there)[1]


class StartsWith(Spelling, frozen=True, kw_only=True, rename={"of": "starts_with"}):
    """The reply begins with a text."""

    of: str

    key = "starts_with"
    about = "Replies that begin with the text ÷ replies"

    def wanted(self, row: Row, kind: Kind) -> str:
        """The text."""
        return as_text(needed(self.of, row))

    def value(self, reply: Reply, wanted: str) -> float:
        """Whether the reply begins with it."""
        return float(self.spelt(reply.text).startswith(self.spelt(wanted)))


class Regex(Scorer, frozen=True, kw_only=True, rename={"of": "regex"}):
    """A regular expression finds something in the reply, case and white space aside, in bounded time."""

    of: str
    exact: bool = False
    """Whether case, white space and Unicode form count."""

    key = "regex"
    about = "Replies in which the pattern finds something ÷ replies"

    def wanted(self, row: Row, kind: Kind) -> str:
        """The pattern."""
        pattern = as_text(needed(self.of, row))
        try:
            compile_exact(pattern) if self.exact else compile_bounded(pattern)
        except BadPattern as bad:
            message, _, remedy = str(bad).rpartition(". ")
            raise Unusable(message, remedy) from None
        return pattern

    def value(self, reply: Reply, wanted: str) -> float:
        """Whether it finds something; a search that takes too long is bad input, never a value."""
        try:
            hit = is_found(wanted, reply.text) if self.exact else bool(found(wanted, reply.text))
            return float(hit)
        except SlowPattern as slow:
            raise slow.in_case(reply.case_id) from None


class Levenshtein(Spelling, frozen=True, kw_only=True, rename={"of": "levenshtein"}):
    """How few characters differ: 1 − edits ÷ characters of the longer text."""

    of: str
    at_least: Fraction = GOOD
    at_most: Count | None = None
    """How many edits there may be; then the value is 1 or 0."""

    key = "levenshtein"
    about = "1 − characters to insert, delete or replace ÷ characters of the longer text"
    holds_answer = True

    @property
    def threshold(self) -> float:
        """The value from which on a case passes."""
        return self.at_least if self.at_most is None else 1.0

    def wanted(self, row: Row, kind: Kind) -> str:
        """The expected text."""
        return as_text(needed(self.of, row))

    def value(self, reply: Reply, wanted: str) -> float:
        """How alike they are."""
        from rapidfuzz.distance import Levenshtein as Edits

        texts = self.spelt(reply.text), self.spelt(wanted)
        if self.at_most is not None:
            return float(Edits.distance(*texts) <= self.at_most)
        return float(Edits.normalized_similarity(*texts))


def _listed(value: Several, row: Row) -> list[str]:
    """The texts that a scorer wants: one by one, or all in one cell."""
    if isinstance(value, str):
        texts = as_list(needed(value, row))
    else:
        texts = [as_text(needed(each, row)) for each in value]
    if not texts:
        raise Unusable("is an empty list", "Name at least one text, or let the score be `optional: true`.")
    return texts
