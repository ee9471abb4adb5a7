"""Assertions on their way to `scores`: one scorer, or several that pass together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from eval_pipeline.declarative import SCORERS
from eval_pipeline.importing.places import NOWHERE, Place


@dataclass(frozen=True)
class Leaf:
    """One scorer: what is the same in every test, and what each test says for itself."""

    fixed: Mapping[str, Any]
    own: Mapping[str, Any]
    """The values by field: texts, lists of texts, numbers, true, or a schema."""
    place: Place = NOWHERE
    negated: bool = False
    weight: float = 1.0
    metric: str = ""
    shared: Mapping[str, Any] = field(default_factory=dict)
    """The values as they were written, templates of variables included; empty where they are none."""

    @property
    def key(self) -> str:
        """The scorer's name."""
        return next(name for name in (*self.own, *self.fixed) if name in SCORERS)

    @property
    def shape(self) -> tuple[Any, ...]:
        """What assertions have in common that are measured by the same entry."""
        return (
            "leaf",
            tuple(map(repr, self.fixed.items())),
            tuple(self.own),
            self.negated,
            self.weight,
            self.metric,
        )

    def leaves(self) -> Iterator[Leaf]:
        """Itself."""
        yield self

    def entry(self, values: Iterator[Mapping[str, Any]], in_mean: bool = False) -> dict[str, Any]:
        """The entry, with a value for each field."""
        given = {**next(values), **self.fixed}
        given = {self.key: given.pop(self.key), **given}
        if self.negated and self.key in ("contains", "contains_any"):
            texts = given.pop(self.key)
            return {"not_contains": [texts] if self.key == "contains" else texts, **given}
        if self.negated:
            return {"none_of": [given]}
        return {"all_of": [given]} if in_mean and self.key == "contains_all" else given


@dataclass(frozen=True)
class Set:
    """Several assertions that pass together: all of them or, with a threshold, their weighted mean."""

    parts: tuple[Assertion, ...]
    place: Place
    threshold: float | None = None
    weight: float = 1.0
    metric: str = ""

    @property
    def shape(self) -> tuple[Any, ...]:
        """What assertions have in common that are measured by the same entry."""
        return "set", tuple(part.shape for part in self.parts), self.threshold, self.weight, self.metric

    def leaves(self) -> Iterator[Leaf]:
        """Every assertion in it."""
        for part in self.parts:
            yield from part.leaves()

    def entry(self, values: Iterator[Mapping[str, Any]], in_mean: bool = False) -> dict[str, Any]:
        """The entry, with a value for each field of each part."""
        by_mean = in_mean or self.threshold is not None
        entries = [part.entry(values, by_mean) for part in self.parts]
        if not by_mean:
            return {"all_of": entries}
        weights = [part.weight for part in self.parts]
        told = {"weights": weights} if len(set(weights)) > 1 else {}
        bound = {} if self.threshold is None else {"at_least": self.threshold}
        return {"mean_of": entries, **told, **bound}


Assertion = Leaf | Set
