"""Scoring a decomposition: concepts by label or alias, relationships by both ends and predicate."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.metrics.rates import harmonic_mean, ratio
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import CaseScore, Context, Diagnosis, Item, Metric, Sums, defined, mean, mean_counts
from eval_pipeline.suites.decomposition.cases import DecompositionCase, DecompositionExpected, Relationship

NEAR_MISS = 85.0
PENALTY = 0.15


class Concept(msgspec.Struct, frozen=True):
    """A concept that was extracted."""

    label: str
    source_quote: str | None = None
    confidence: float | None = None


class ExtractedRelationship(msgspec.Struct, frozen=True):
    """A relationship that was extracted."""

    source: str
    target: str
    predicate: str


class Decomposition(msgspec.Struct, frozen=True):
    """The output contract."""

    concepts: list[Concept]
    relationships: list[ExtractedRelationship]


class Triple(NamedTuple):
    """A relationship whose ends are resolved."""

    source: str
    target: str
    predicate: str

    def __str__(self) -> str:
        return f"{self.source} {self.predicate} {self.target}"


@dataclass(frozen=True)
class Vocabulary:
    """Resolves labels and aliases to the expected concepts they name."""

    names: dict[str, str]
    """Normalized label or alias → the expected label."""

    @classmethod
    def of(cls, expected: DecompositionExpected) -> Vocabulary:
        """The vocabulary of a case."""
        return cls(
            {
                normalize(name): concept.label
                for concept in expected.concepts
                for name in (concept.label, *concept.aliases)
            }
        )

    def resolve(self, text: str) -> str:
        """The expected concept that a text names, or the normalized text itself."""
        key = normalize(text)
        return self.names.get(key, key)

    def knows(self, resolved: str) -> bool:
        """Whether a resolved name is an expected concept."""
        return self.names.get(normalize(resolved)) == resolved

    def triple(self, source: str, target: str, predicate: str) -> Triple:
        """A relationship with its ends resolved."""
        return Triple(self.resolve(source), self.resolve(target), normalize(predicate).upper())


@dataclass(frozen=True)
class Extraction:
    """An output with duplicates merged."""

    quotes: dict[str, list[str]]
    """Resolved concept → its non-blank quotes, normalized."""
    triples: set[Triple]
    entries: int
    repeated: int

    @classmethod
    def of(cls, output: Decomposition, vocabulary: Vocabulary) -> Extraction:
        """Merge what names the same concept or states the same relationship."""
        quotes: dict[str, list[str]] = {}
        for concept in output.concepts:
            found = quotes.setdefault(vocabulary.resolve(concept.label), [])
            quote = normalize(concept.source_quote or "")
            if quote:
                found.append(quote)
        literal = [normalize(concept.label) for concept in output.concepts]
        stated = [
            (normalize(each.source), normalize(each.target), normalize(each.predicate))
            for each in output.relationships
        ]
        return cls(
            quotes,
            {vocabulary.triple(each.source, each.target, each.predicate) for each in output.relationships},
            len(literal) + len(stated),
            len(literal) - len(set(literal)) + len(stated) - len(set(stated)),
        )


@dataclass(frozen=True)
class _Marked:
    """What of an output is right, forbidden, quoted and verified, beside what was wanted."""

    extracted: set[str]
    wanted: set[str]
    required: set[str]
    right: set[str]
    forbidden: set[str]
    quoted: set[str]
    verified: set[str]
    wanted_triples: set[Triple]
    required_triples: set[Triple]
    correct: set[Triple]
    banned: set[Triple]


def score_case(item: Item, context: Context) -> CaseScore:
    """The counts and diagnoses of one output."""
    case: DecompositionCase = item.case
    vocabulary = Vocabulary.of(case.expected)
    extraction = Extraction.of(item.output, vocabulary)
    marked = _mark(case, extraction, vocabulary)
    return CaseScore(
        mean_counts(_values(marked, extraction)), (), list(_diagnoses(marked, extraction, vocabulary))
    )


def _mark(case: DecompositionCase, extraction: Extraction, vocabulary: Vocabulary) -> _Marked:
    expected, text = case.expected, normalize(case.input.source_text)
    extracted = set(extraction.quotes)
    wanted = {concept.label for concept in expected.concepts}
    quoted = {label for label, quotes in extraction.quotes.items() if quotes}

    def triples(relationships: Iterable[Relationship]) -> set[Triple]:
        return {vocabulary.triple(each.source, each.target, each.predicate) for each in relationships}

    wanted_triples = triples(expected.relationships)
    return _Marked(
        extracted=extracted,
        wanted=wanted,
        required={concept.label for concept in expected.concepts if concept.required},
        right=extracted & wanted,
        forbidden=extracted & {normalize(label) for label in expected.forbidden_concepts},
        quoted=quoted,
        verified={label for label in quoted if any(quote in text for quote in extraction.quotes[label])},
        wanted_triples=wanted_triples,
        required_triples=triples(each for each in expected.relationships if each.required),
        correct=extraction.triples & wanted_triples,
        banned=extraction.triples & triples(expected.forbidden_relationships),
    )


def _values(marked: _Marked, extraction: Extraction) -> dict[str, float | None]:
    precision = _share(marked.right, marked.extracted, marked.wanted)
    recall = ratio(len(marked.right), len(marked.wanted))
    accuracy = _share(marked.correct, extraction.triples, marked.wanted_triples)
    provenance = _share(marked.quoted, marked.extracted, marked.wanted)
    hallucination = ratio(len(marked.forbidden), len(marked.extracted))
    overall = overall_score(recall, precision, accuracy, provenance, hallucination)
    required_correct = marked.correct & marked.required_triples
    return {
        "concept_precision": precision,
        "concept_recall": recall,
        "required_recall": ratio(len(marked.right & marked.required), len(marked.required)),
        "concept_f1": None if recall is None or precision is None else harmonic_mean(precision, recall),
        "relationship_accuracy": accuracy,
        "relationship_recall": ratio(len(marked.correct), len(marked.wanted_triples)),
        "required_relationship_recall": ratio(len(required_correct), len(marked.required_triples)),
        "provenance_coverage": provenance,
        "provenance_verified": ratio(len(marked.verified), len(marked.quoted)),
        "hallucination_rate": hallucination,
        "forbidden_relationship_rate": ratio(len(marked.banned), len(extraction.triples)),
        "duplicate_rate": ratio(extraction.repeated, extraction.entries),
        "overall_score": overall,
        "overall_index": None if overall is None else overall + PENALTY,
    }


def _diagnoses(marked: _Marked, extraction: Extraction, vocabulary: Vocabulary) -> Iterator[Diagnosis]:
    missed = sorted(marked.wanted - marked.right)
    for label in missed:
        kind = "missed_required_concept" if label in marked.required else "missed_concept"
        yield Diagnosis(kind, label, "")
    for label in sorted(marked.forbidden):
        yield Diagnosis("forbidden_concept", "", label)
    yield from _invented(sorted(marked.extracted - marked.wanted - marked.forbidden), missed)
    for label in sorted(marked.quoted - marked.verified):
        yield Diagnosis("unverified_quote", label, extraction.quotes[label][0])
    for triple in sorted(marked.wanted_triples - marked.correct):
        required = triple in marked.required_triples
        kind = "missed_required_relationship" if required else "missed_relationship"
        yield Diagnosis(kind, str(triple), "")
    for triple in sorted(marked.banned):
        yield Diagnosis("forbidden_relationship", "", str(triple))
    wrong = sorted(extraction.triples - marked.wanted_triples - marked.banned)
    yield from _wrong_relationships(wrong, marked.wanted_triples, vocabulary)


def overall_score(
    recall: float | None,
    precision: float | None,
    relationship_accuracy: float | None,
    provenance_coverage: float | None,
    hallucination_rate: float | None,
) -> float | None:
    """0.25·recall + 0.20·precision + 0.20·relationship accuracy + 0.20·provenance − 0.15·hallucination.

    Undefined where a rewarded part is; with nothing extracted nothing was hallucinated, so there
    is no penalty.
    """
    if recall is None or precision is None or relationship_accuracy is None or provenance_coverage is None:
        return None
    rewards = 0.25 * recall + 0.20 * precision + 0.20 * relationship_accuracy + 0.20 * provenance_coverage
    return rewards - PENALTY * (hallucination_rate or 0.0)


def case_passes(sums: Sums) -> NDArray[np.bool_]:
    """A case passes when no required concept and no required relationship is missed."""
    complete = [
        (sums[defined(name)] == 0) | (sums[name] >= sums[defined(name)] - 1e-9)
        for name in ("required_recall", "required_relationship_recall")
    ]
    return np.asarray(np.logical_and.reduce(complete), dtype=np.bool_)


def _share(part: Collection[object], whole: Collection[object], wanted: Collection[object]) -> float | None:
    """|part| ÷ |whole|; with nothing extracted it is 0 where something was wanted, undefined elsewhere."""
    if not whole:
        return 0.0 if wanted else None
    return len(part) / len(whole)


def _invented(labels: Sequence[str], missed: Sequence[str]) -> Iterator[Diagnosis]:
    """Wrong concepts; one that is close to a missed concept is a candidate for an alias."""
    from rapidfuzz import fuzz, process

    normalized = [normalize(label) for label in missed]
    for label in labels:
        near = process.extractOne(label, normalized, scorer=fuzz.token_sort_ratio, score_cutoff=NEAR_MISS)
        if near:
            yield Diagnosis("alias_candidate", missed[near[2]], label)
        else:
            yield Diagnosis("invented_concept", "", label)


def _wrong_relationships(
    triples: Sequence[Triple], wanted: set[Triple], vocabulary: Vocabulary
) -> Iterator[Diagnosis]:
    pairs = {(triple.source, triple.target): triple for triple in sorted(wanted, reverse=True)}
    for triple in triples:
        flipped = Triple(triple.target, triple.source, triple.predicate)
        same_ends = pairs.get((triple.source, triple.target))
        if flipped in wanted:
            yield Diagnosis("reversed", str(flipped), str(triple))
        elif same_ends is not None:
            yield Diagnosis("wrong_predicate", str(same_ends), str(triple))
        elif not (vocabulary.knows(triple.source) and vocabulary.knows(triple.target)):
            yield Diagnosis("unknown_endpoint", "", str(triple))
        else:
            yield Diagnosis("spurious", "", str(triple))


def _has_concepts(case: DecompositionCase) -> bool:
    return bool(case.expected.concepts)


def _has_required_concepts(case: DecompositionCase) -> bool:
    return any(concept.required for concept in case.expected.concepts)


def _has_relationships(case: DecompositionCase) -> bool:
    return bool(case.expected.relationships)


def _has_required_relationships(case: DecompositionCase) -> bool:
    return any(relationship.required for relationship in case.expected.relationships)


def _has_both(case: DecompositionCase) -> bool:
    return _has_concepts(case) and _has_relationships(case)


of_concepts = partial(mean, population=_has_concepts)
of_relationships = partial(mean, population=_has_relationships)
of_both = partial(mean, population=_has_both)
fault_rate = partial(mean, direction="lower")

METRICS: tuple[Metric, ...] = (
    of_both(
        "overall_index",
        "overall_score + 0.15: the last term read as 0.15·(1 − hallucination_rate), which thresholds fit.",
    ),
    of_both(
        "overall_score",
        "0.25·concept_recall + 0.20·concept_precision + 0.20·relationship_accuracy "
        "+ 0.20·provenance_coverage − 0.15·hallucination_rate; at most 0.85.",
        on_error=-PENALTY,
    ),
    of_concepts(
        "concept_precision",
        "Distinct extracted concepts that are expected ÷ distinct extracted concepts.",
        explained_by="invented_concept",
    ),
    of_concepts(
        "concept_recall",
        "Expected concepts found ÷ expected concepts.",
        explained_by="missed_required_concept",
    ),
    mean(
        "required_recall",
        "Required concepts found ÷ required concepts.",
        population=_has_required_concepts,
        explained_by="missed_required_concept",
    ),
    of_concepts("concept_f1", "Harmonic mean of concept_precision and concept_recall; 0 when both are 0."),
    of_relationships(
        "relationship_accuracy",
        "Distinct extracted relationships whose source, target and predicate all match ÷ "
        "distinct extracted relationships.",
        explained_by="wrong_predicate",
    ),
    of_relationships("relationship_recall", "Expected relationships found ÷ expected relationships."),
    mean(
        "required_relationship_recall",
        "Required relationships found ÷ required relationships.",
        population=_has_required_relationships,
        explained_by="missed_required_relationship",
    ),
    of_concepts("provenance_coverage", "Extracted concepts with a source quote ÷ extracted concepts."),
    mean(
        "provenance_verified",
        "Concepts whose quote stands in the source text ÷ concepts with a quote.",
        explained_by="unverified_quote",
    ),
    fault_rate(
        "hallucination_rate",
        "Extracted concepts on the forbidden list ÷ extracted concepts.",
        explained_by="forbidden_concept",
    ),
    fault_rate(
        "forbidden_relationship_rate",
        "Extracted relationships on the forbidden list ÷ extracted relationships.",
        explained_by="forbidden_relationship",
    ),
    fault_rate("duplicate_rate", "Extracted entries that repeat another one ÷ extracted entries."),
)
