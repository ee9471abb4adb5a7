"""Entries of `scores` for the assertions of many tests: what all share stands there, the rest in cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_pipeline.declarative import RESERVED, SCORERS
from eval_pipeline.importing.entries import Assertion, Leaf
from eval_pipeline.importing.places import Leftovers
from eval_pipeline.importing.templates import PLAIN


@dataclass(frozen=True)
class Asserted:
    """A test, as far as scorers are concerned."""

    variables: Mapping[str, Any]
    assertions: Sequence[Assertion]


@dataclass
class Scores:
    """The entries, and the cells that they need of each test."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=dict)


class Assembling:
    """Puts assertions of the same shape into one entry."""

    def __init__(self, tests: Sequence[Asserted], seen: Collection[str], leftovers: Leftovers) -> None:
        self._tests = tests
        self._seen = seen
        """The variables that prompts see."""
        self._leftovers = leftovers
        self._metrics: set[str] = {*RESERVED, *SCORERS, "accuracy", "assertions"}
        self._scores = Scores()
        everything = {name for test in tests for name in test.variables}
        self._taken = set(everything)
        self._shared = {
            name for name in everything if all(_is_plain(test.variables.get(name)) for test in tests)
        }
        """The variables that every test has, and that a cell says as a text does."""

    def scores(self) -> Scores:
        """The entries in the order in which tests bring them."""
        slots: dict[tuple[Any, int], dict[int, Assertion]] = {}
        for index, test in enumerate(self._tests):
            seen: Counter[Any] = Counter()
            for assertion in test.assertions:
                slots.setdefault((assertion.shape, seen[assertion.shape]), {})[index] = assertion
                seen[assertion.shape] += 1
        for by_test in slots.values():
            self._scores.entries.append(self._entry(by_test))
        return self._scores

    def _entry(self, by_test: Mapping[int, Assertion]) -> dict[str, Any]:
        first = next(iter(by_test.values()))
        by_position = zip(*([*each.leaves()] for each in by_test.values()), strict=True)
        values = [self._values(list(by_test), leaves) for leaves in by_position]
        entry = first.entry(iter(values))
        if first.metric:
            entry["name"] = self._metric(first)
        if first.weight != 1:
            entry["weight"] = int(first.weight) if first.weight.is_integer() else first.weight
        if len(by_test) < len(self._tests):
            entry["optional"] = True
        return entry

    def _values(self, tests: Sequence[int], leaves: Sequence[Leaf]) -> dict[str, Any]:
        """What an entry says for each field: the value that all share, a template, or a column."""
        return {name: self._value(name, tests, leaves) for name in leaves[0].own}

    def _value(self, name: str, tests: Sequence[int], leaves: Sequence[Leaf]) -> Any:
        values = [leaf.own[name] for leaf in leaves]
        if len(tests) == len(self._tests):
            if all(value == values[0] for value in values) and "{{" not in str(values[0]):
                return values[0]
            written = [leaf.shared.get(name) for leaf in leaves]
            is_one = written[0] is not None and all(each == written[0] for each in written)
            if is_one and (template := self._template(written[0], leaves[0])) is not None:
                return template
        cells: list[Any] = [None] * len(self._tests)
        for test, value in zip(tests, values, strict=True):
            cells[test] = value
        base = leaves[0].key if name == leaves[0].key else f"{leaves[0].key}_{name}"
        column = free_name(f"expected_{base}", self._taken)
        self._taken.add(column)
        self._scores.columns[column] = cells
        return f"{{{{ {column} }}}}"

    def _template(self, written: Any, leaf: Leaf) -> Any:
        """A value that refers to variables, where every case has them and none gives the answer away."""
        texts = written if isinstance(written, list) else [written]
        used = {name for text in texts for name in PLAIN.findall(text)}
        if not used <= self._shared or (
            SCORERS[leaf.key].holds_answer and not leaf.negated and used & {*self._seen}
        ):
            return None
        made = [PLAIN.sub(lambda match: f"{{{{ {match[1]} }}}}", text) for text in texts]
        return made if isinstance(written, list) else made[0]

    def _metric(self, assertion: Assertion) -> str:
        name = re.sub(r"[^A-Za-z0-9_@]+", "_", assertion.metric).strip("_") or "metric"
        if name in self._metrics:
            message = (
                f"the metric {assertion.metric!r} is one of several here, since several scorers make it up"
            )
            self._leftovers.change(assertion.place, message, "The score of all of them is `score`.")
        free = free_name(name, self._metrics)
        self._metrics.add(free)
        return free


def free_name(wanted: str, taken: Collection[str]) -> str:
    """A name that nothing has: the wanted one, or one with a number."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def _is_plain(value: Any) -> bool:
    return (isinstance(value, str) and bool(value.strip())) or (
        isinstance(value, int) and not isinstance(value, bool)
    )
