"""The assertions of promptfoo's tests: each becomes a scorer, or is listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eval_pipeline.importing.documents import FILE, Fields, Folder, Items
from eval_pipeline.importing.entries import Assertion, Leaf, Set
from eval_pipeline.importing.places import Leftovers, NotTaken, Place
from eval_pipeline.importing.templates import as_printed, is_template
from eval_pipeline.importing.translations import (
    INSTEAD,
    KNOWN_TYPES,
    NOTES,
    OTHERWISE,
    TYPES,
    Given,
    fraction,
)

SET = "assert-set"
NOT = "not-"
KNOWN = ("type", "value", "threshold", "weight", "metric", "transform")
"""The fields of an assertion that are looked at."""
FAMILIES = ("promptfoo:", "trajectory:", "trace-")
"""How types begin that look at more than an answer."""


class Translator:
    """Makes scorers of assertions; what cannot be one is listed."""

    def __init__(self, folder: Folder, leftovers: Leftovers) -> None:
        self._folder = folder
        self._leftovers = leftovers

    def all_of(
        self, assertions: Items, variables: Mapping[str, Any], threshold: Any, place: Place
    ) -> list[Assertion]:
        """The assertions of a test; with a threshold they are one set."""
        entries: list[Assertion] = []
        for given, where in assertions.placed():
            try:
                entries.append(self._one(given, where, variables))
            except NotTaken as reason:
                self._leftovers.drop(_named(where, given), reason.message, reason.remedy)
                if threshold is not None:
                    message = f"the threshold {as_printed(threshold)} of a test without all of its assertions"
                    self._leftovers.drop(place, message, "See the assertion that is missing.")
                    return self._rest_dropped(assertions)
        if threshold is None or not entries:
            return entries
        try:
            return [_weighing(Set(tuple(entries), place, fraction(threshold)))]
        except NotTaken as reason:
            self._leftovers.drop(place, reason.message, reason.remedy)
            return self._rest_dropped(assertions)

    def _rest_dropped(self, assertions: Items) -> list[Assertion]:
        for given, where in assertions.placed():
            message = "belongs to a threshold that cannot be taken over"
            self._leftovers.drop(_named(where, given), message, "Let each assertion stand for itself.")
        return []

    def _one(self, given: Any, place: Place, variables: Mapping[str, Any]) -> Assertion:
        if not isinstance(given, Fields) or not isinstance(given.get("type"), str):
            raise NotTaken("is no assertion with a type", "Write - type: …, value: …")
        if given["type"] == SET:
            return self._set(given, place, variables)
        made = self._leaf(given, place, variables)
        return replace(made, weight=_weight(given), metric=self._metric(given))

    def _set(self, given: Fields, place: Place, variables: Mapping[str, Any]) -> Assertion:
        assertions = given.get("assert")
        if not isinstance(assertions, Items) or not assertions:
            raise NotTaken("is a set without assertions", "Write them below `assert`.")
        parts: list[Assertion] = []
        for each, where in assertions.placed():
            try:
                parts.append(self._one(each, where, variables))
            except NotTaken as reason:
                self._leftovers.drop(_named(where, each), reason.message, reason.remedy)
                raise NotTaken(
                    "is a set of which a part cannot be taken over", "Do without that part."
                ) from None
        for leaf in (leaf for part in parts for leaf in part.leaves() if leaf.metric):
            self._leftovers.change(leaf.place, f"the metric {leaf.metric!r} of a part is not shown by itself")
        threshold = None if given.get("threshold") is None else fraction(given["threshold"])
        if threshold is None:
            parts = list(self._deciding(parts))
        made = Set(tuple(parts), place, threshold, _weight(given), self._metric(given))
        if not made.weight:
            raise NotTaken(
                "is a set that weighs nothing and can still fail a test", "Give it a weight, or remove it."
            )
        if not parts:
            raise NotTaken("is a set of which nothing weighs anything", "Remove it.")
        return _weighing(made) if threshold is not None else made

    def _deciding(self, parts: Sequence[Assertion]) -> Iterator[Assertion]:
        """The parts of a set that decide something; without a threshold the others do not."""
        for part in parts:
            if part.weight:
                yield part
            else:
                self._leftovers.drop(
                    part.place, "weighs nothing in a set, and decides nothing", "Leave it out."
                )

    def _metric(self, given: Fields) -> str:
        metric = given.get("metric")
        if metric is not None and (not isinstance(metric, str) or is_template(metric)):
            self._leftovers.change(given.at("metric"), "a metric's name is no template here", "Write it out.")
            return ""
        return metric or ""

    def _leaf(self, given: Fields, place: Place, variables: Mapping[str, Any]) -> Leaf:
        negated = given["type"].startswith(NOT)
        bare = given["type"].removeprefix(NOT)
        if bare not in TYPES:
            known = bare in KNOWN_TYPES or bare.startswith(FAMILIES)
            message = "has no counterpart" if known else "is no type that is known"
            raise NotTaken(message, INSTEAD.get(bare, OTHERWISE))
        if given.get("transform") is not None:
            raise NotTaken(
                "the output is transformed by code before", "Let the prompt ask for what is measured."
            )
        for name in given:
            if name not in KNOWN:
                self._leftovers.drop(given.at(name), "is a field without a counterpart", "Do without it.")
        value = self._loaded(given.get("value"))
        made = TYPES[bare](Given(bare, value, given.get("threshold"), variables))
        if note := NOTES.get(bare):
            self._leftovers.change(_named(place, given), note)
        return replace(made, place=place, negated=negated)

    def _loaded(self, value: Any) -> Any:
        """The value, read from the file that it names."""
        if isinstance(value, Items):
            return [self._loaded(each) for each in value]
        if not isinstance(value, str) or not value.startswith((FILE, "package:")):
            return value
        if value.startswith("package:"):
            raise NotTaken("is code, which is never run", INSTEAD["javascript"])
        (path,) = self._folder.named(value)[:1]
        if path.suffix.lower() in (".json", ".yaml", ".yml"):
            return self._folder.document(path)
        return self._folder.text(path).strip()


def _weighing(made: Set) -> Set:
    """A set whose mean is the same here and there; raises `NotTaken`."""
    if not sum(part.weight for part in made.parts):
        raise NotTaken("is a mean of which nothing weighs anything", "Give an assertion a weight.")
    for part in made.parts:
        if isinstance(part, Set):
            _weighing(part)
        elif part.negated and part.key in ("rouge", "similarity"):
            raise NotTaken(
                f"not-{part.key} has degrees in a mean there, and none here", "Do without the threshold."
            )
    return made


def _named(place: Place, given: Any) -> Place:
    """The place of an assertion, with its type."""
    kind = given.get("type") if isinstance(given, Mapping) else None
    return place._replace(field=f"{place.field} ({kind})") if isinstance(kind, str) else place


def _weight(given: Fields) -> float:
    weight = given.get("weight", 1)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1e6:
        raise NotTaken("its weight is no number from 0 on", "Write weight: 1.")
    return float(weight)
