"""The golden format: a source text, what is expected in it, and what must not be found."""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from eval_pipeline.files import Violation
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import Case
from eval_pipeline.suites.decomposition.forms import name_stems

DOMAINS = ("ecological", "technical", "social", "economic", "interdisciplinary")

Predicate = Literal["IS_A", "CAUSES", "PRECEDES", "REQUIRES", "RELATES_TO"]
Domain = Literal["ecological", "technical", "social", "economic", "interdisciplinary"]


class ExpectedConcept(msgspec.Struct, frozen=True):
    """A concept that should be found, under its label or any alias."""

    label: str
    aliases: list[str] = []
    required: bool = True


class Relationship(msgspec.Struct, frozen=True):
    """A directed link between two concepts."""

    source: str
    target: str
    predicate: Predicate


class ExpectedRelationship(Relationship, frozen=True):
    """A relationship that should be found."""

    required: bool = True


class GoldenEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A golden file, with the field names of its document's template."""

    id: str
    domain: Domain
    source_text: str
    expected_concepts: list[ExpectedConcept]
    expected_relationships: list[ExpectedRelationship] = []
    forbidden_concepts: list[str] = []
    forbidden_relationships: list[Relationship] = []
    topic: str = ""
    version: str = "1.0"
    created: str = ""
    origin: str = ""


class DecompositionInput(msgspec.Struct, frozen=True):
    """What an engine sees."""

    topic: str
    source_text: str


class DecompositionExpected(msgspec.Struct, frozen=True):
    """What only scoring sees."""

    concepts: list[ExpectedConcept]
    relationships: list[ExpectedRelationship]
    forbidden_concepts: list[str]
    forbidden_relationships: list[Relationship]
    origin: str = ""


def to_case(entry: GoldenEntry) -> Case[DecompositionInput, DecompositionExpected]:
    """A golden entry as a case: what engines may see, apart from what they may not."""
    return Case(
        entry.id,
        DecompositionInput(entry.topic or entry.id, entry.source_text),
        DecompositionExpected(
            entry.expected_concepts,
            entry.expected_relationships,
            entry.forbidden_concepts,
            entry.forbidden_relationships,
            entry.origin,
        ),
        {"domain": entry.domain},
    )


def check_entry(entry: GoldenEntry) -> Iterator[Violation]:
    """Contradictions inside one golden file."""
    if not normalize(entry.source_text):
        yield Violation(("sourceText",), "is blank", "Give the text to decompose.")
    owners: dict[str, str] = {}
    for index, concept in enumerate(entry.expected_concepts):
        yield from _check_names(concept, ("expectedConcepts", index), owners)
    forms = {name_stems(name): owner for name, owner in owners.items()}
    for index, label in enumerate(entry.forbidden_concepts):
        path = ("forbiddenConcepts", index)
        if not normalize(label):
            yield Violation(path, "is blank", "Name a concept, or remove the entry.")
        elif owner := owners.get(normalize(label)) or forms.get(name_stems(label)):
            yield Violation(
                path, f"{label!r} is forbidden and expected (as {owner!r})", "Remove it from one of the two."
            )

    yield from _check_relationships(entry, owners)


def _check_relationships(entry: GoldenEntry, owners: dict[str, str]) -> Iterator[Violation]:
    """Relationships that are expected and forbidden at once, under whatever alias."""

    def resolved(relationship: Relationship) -> tuple[str, str, str]:
        ends = (normalize(relationship.source), normalize(relationship.target))
        return owners.get(ends[0], ends[0]), owners.get(ends[1], ends[1]), relationship.predicate

    expected = {resolved(relationship) for relationship in entry.expected_relationships}
    for index, relationship in enumerate(entry.forbidden_relationships):
        if resolved(relationship) in expected:
            message = f"{relationship.source} {relationship.predicate} {relationship.target}"
            yield Violation(
                ("forbiddenRelationships", index),
                f"{message!r} is forbidden and expected",
                "Remove it from one of the two.",
            )


def _check_names(
    concept: ExpectedConcept, path: tuple[Any, ...], owners: dict[str, str]
) -> Iterator[Violation]:
    names = [(("label",), concept.label)]
    names += [(("aliases", number), alias) for number, alias in enumerate(concept.aliases)]  # type: ignore[misc]
    own = set()
    for field, name in names:
        key = normalize(name)
        if not key:
            yield Violation((*path, *field), "is blank", "Name the concept, or remove the entry.")
        elif key in owners and key not in own:
            yield Violation(
                (*path, *field),
                f"{name!r} belongs to {owners[key]!r} and to {concept.label!r}",
                "Let every label and alias name one concept.",
            )
        own.add(key)
        owners.setdefault(key, concept.label)
