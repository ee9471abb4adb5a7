"""What an answer is: how a reply of each kind is read, and what a golden cell of that kind says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from eval_pipeline.answers import FIRST_TRIAL, Answer, Usable, parse
from eval_pipeline.declarative.cells import Unusable, as_json, as_list, as_text, shown
from eval_pipeline.declarative.labels import CONFUSION, confused, macro_f1
from eval_pipeline.declarative.numerals import as_number, numbers_in
from eval_pipeline.files.words import did_you_mean
from eval_pipeline.language.negation import LONGEST_TEXT, is_denied, negations
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import KeyedCount, KeyedSums, Metric, Rows, matrix_rows

_AROUND = " \t\r\n\f\v\"'`*_“”‘’«».,;:!()[]"
"""What may stand around a label or a number."""
_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,3}[.)])\s+")


class _Unreadable:
    """What a reply is that cannot be read as its kind."""

    def __repr__(self) -> str:
        return "unreadable"


UNREADABLE: Any = _Unreadable()


class Kind(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", dict=True
):
    """A kind of answer."""

    output: ClassVar[Any] = str
    accuracy: ClassVar[str] = ""
    """What the metric of `equals` is called, where it has a name of its own."""

    def read(self, reply: Any) -> Any:
        """A reply as a value of this kind, or UNREADABLE."""
        return reply

    def expected(self, cell: Any) -> Any:
        """A golden cell as a value of this kind; raises `Unusable`."""
        return as_text(cell)

    def written(self, value: Any) -> Any:
        """A value of this kind as an output says it."""
        return as_text(value)

    def metrics(self) -> tuple[Metric, ...]:
        """What is measured besides, where `equals` says what is right."""
        return ()

    def keyed(self, expected: Any, given: Any) -> Iterator[KeyedCount]:
        """What these metrics are made from; `given` is UNREADABLE for an error, too."""
        yield from ()

    def tables(self) -> dict[str, Callable[[KeyedSums], Rows]]:
        """The tables of it that reports show; each is a confusion matrix."""
        return {}


class Text(Kind, frozen=True, tag="text"):
    """Any text: the reply as it stands."""


class Label(Kind, frozen=True, tag="label"):
    """One of some labels, in any case: alone, as JSON, or the only one that prose names and does not deny."""

    of: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    strict: bool = False
    """Whether prose around the label makes a reply unreadable."""

    accuracy = "accuracy"

    def __post_init__(self) -> None:
        _stop_if_twice(self.of)

    @cached_property
    def _known(self) -> dict[str, str]:
        return {normalize(label): label for label in self.of}

    def metrics(self) -> tuple[Metric, ...]:
        """Macro F1."""
        return (macro_f1(self.of, explained_by=self.accuracy),)

    def keyed(self, expected: Any, given: Any) -> Iterator[KeyedCount]:
        """A cell of the confusion matrix."""
        yield confused(expected, None if given is UNREADABLE else given)

    def tables(self) -> dict[str, Callable[[KeyedSums], Rows]]:
        """The confusion matrix."""
        return {CONFUSION: matrix_rows}

    def read(self, reply: Any) -> Any:
        """The label that a reply names."""
        label = self._known.get(_bare(reply))
        if label is None:
            label = self._known.get(_bare(_json_text(reply)))
        if label is not None:
            return label
        named = [] if self.strict else _named(reply, self._known)
        return named[0] if len(named) == 1 else UNREADABLE

    def expected(self, cell: Any) -> str:
        """The label in a golden cell."""
        return _known_label(cell, self._known)


class Labels(Kind, frozen=True, tag="labels"):
    """Some of several labels: a list of them, or those that prose names and does not deny."""

    of: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    strict: bool = False
    """Whether a reply must be a list of known labels and nothing else."""

    def __post_init__(self) -> None:
        _stop_if_twice(self.of)

    @cached_property
    def _known(self) -> dict[str, str]:
        return {normalize(label): label for label in self.of}

    def read(self, reply: Any) -> Any:
        """The labels that a reply names, each once and in the order of `of`."""
        listed = _elements(reply)
        elements = [None] if listed is UNREADABLE else [self._known.get(_bare(each)) for each in listed]
        if None not in elements:
            return [label for label in self.of if label in elements]
        named = [] if self.strict else _named(reply, self._known)
        return [label for label in self.of if label in named] or UNREADABLE

    def expected(self, cell: Any) -> list[str]:
        """The labels in a golden cell."""
        labels = [_known_label(each, self._known) for each in as_list(cell)]
        return [label for label in self.of if label in labels]

    def written(self, value: Any) -> str:
        """The labels as a JSON list."""
        return as_text(list(value))


class Number(Kind, frozen=True, tag="number"):
    """A number, with thousands separators or without: alone, or the only one in the reply."""

    decimal: Literal[".", ","] = "."
    """What stands before decimals; the other sign separates thousands."""
    strict: bool = False
    """Whether words around the number make a reply unreadable."""

    def read(self, reply: Any) -> Any:
        """The number in a reply."""
        alone = as_number(_around(reply), self.decimal)
        if alone is not None or self.strict:
            return UNREADABLE if alone is None else alone
        found = numbers_in(reply, self.decimal)
        return found[0] if len(found) == 1 else UNREADABLE

    def expected(self, cell: Any) -> float:
        """The number in a golden cell."""
        number = cell if type(cell) in (int, float) else as_number(as_text(cell), self.decimal)
        if number is None:
            remedy = f"Write a number; {self.decimal!r} stands before decimals."
            raise Unusable(f"{shown(cell)!r} is not a number", remedy)
        return float(number)

    def written(self, value: Any) -> str:
        """The number, plainly."""
        return f"{value:.15g}".replace(".", self.decimal)


class List(Kind, frozen=True, tag="list"):
    """Texts in an order: a JSON list, a line each, or texts between commas."""

    def read(self, reply: Any) -> Any:
        """The texts of a reply."""
        return _elements(reply)

    def expected(self, cell: Any) -> list[str]:
        """The texts of a golden cell."""
        return as_list(cell)

    def written(self, value: Any) -> str:
        """The texts as a JSON list."""
        return as_text(list(value))


class Json(Kind, frozen=True, tag="json"):
    """JSON: all of the reply, a fenced block in it, or what stands between its outermost braces."""

    schema: dict[str, Any] = {}
    """A JSON Schema; endpoints are asked for it, and a reply that departs from it is unreadable."""

    @property
    def output(self) -> Any:
        """Any JSON, of this schema where there is one."""
        return Annotated[Any, msgspec.Meta(extra_json_schema=self.schema)]

    def read(self, reply: Any) -> Any:
        """The value itself, where its schema allows it."""
        from eval_pipeline.declarative.schemas import departures

        return UNREADABLE if self.schema and departures(reply, self.schema) else reply

    def expected(self, cell: Any) -> Any:
        """The JSON of a golden cell."""
        return as_json(cell)

    def written(self, value: Any) -> Any:
        """The value itself."""
        return value


def _stop_if_twice(labels: tuple[str, ...]) -> None:
    spelt = [normalize(label) for label in labels]
    twice = [label for label, each in zip(labels, spelt, strict=True) if spelt.count(each) > 1 or not each]
    if twice:
        raise ValueError(f"{', '.join(map(repr, twice))}: labels differ by more than case, and none is blank")


def _known_label(cell: Any, known: dict[str, str]) -> str:
    text = as_text(cell)
    label = known.get(normalize(text))
    if label is None:
        near = did_you_mean(text, known.values())
        raise Unusable(
            f"{shown(text)!r} is none of the labels", f"{near}Labels: {', '.join(known.values())}."
        )
    return label


def _around(text: str) -> str:
    """A text without the quotes, stars and full stops around it."""
    return text.strip(_AROUND)


def _bare(text: str) -> str:
    return normalize(_around(text))


def _json_text(reply: str) -> str:
    """The text in a reply that is a JSON string, or an object with one field that is a text."""
    value = _json_in(reply)
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return value if isinstance(value, str) else ""


def _json_in(reply: str) -> Any:
    if not any(mark in reply for mark in '{["'):
        return None
    parsed = parse(Answer("", FIRST_TRIAL, reply), object)
    return parsed.output if isinstance(parsed, Usable) else None


def _elements(reply: str) -> Any:
    """The texts that a reply lists, or UNREADABLE."""
    value = _json_in(reply)
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if isinstance(value, list):
        return [as_text(each) for each in value]
    lines = [_BULLET.sub("", line).strip() for line in reply.splitlines() if line.strip()]
    try:
        return lines if len(lines) > 1 else as_list(_BULLET.sub("", reply).strip())
    except Unusable:
        return UNREADABLE


def _named(text: str, known: dict[str, str]) -> list[str]:
    """The labels that stand in a text as words and are not denied; the longer one where two overlap.

    None in a text that is longer than denials are looked for.
    """
    normal = normalize(text) if len(text) <= LONGEST_TEXT else ""
    denied = negations(normal)
    found: dict[str, int] = {}
    taken: list[tuple[int, int]] = []
    for spelt in sorted(known, key=len, reverse=True):
        for match in re.finditer(rf"(?<!\w){re.escape(spelt)}(?!\w)", normal):
            start, end = match.span()
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            taken.append((start, end))
            if not is_denied(denied, start, end):
                found.setdefault(known[spelt], start)
    return sorted(found, key=found.__getitem__)
