"""Scoring a decomposition: concepts by label or alias, relationships by both ends and predicate."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

import eval_pipeline.suite as kit
from eval_pipeline.metrics.rates import harmonic_mean, ratio
from eval_pipeline.metrics.text import normalize, occurs_as_words
from eval_pipeline.suites.decomposition import calibration
from eval_pipeline.suites.decomposition.cases import DecompositionExpected, DecompositionInput, Relationship
from eval_pipeline.suites.decomposition.forms import Canaries, is_paraphrase

NEAR_MISS = 85.0
PENALTY = 0.15
PASSING = {
    "concept_recall": 0.70,
    "concept_precision": 0.65,
    "relationship_accuracy": 0.60,
    "provenance_coverage": 0.90,
    "provenance_verified": 0.95,
    "required_recall": 0.85,
    "required_relationship_recall": 0.75,
}
"""What a case needs to pass: the document's pass values, and its excellent ones for what is required."""


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
    confidences: dict[str, float]
    """Resolved concept → how sure the output is of it, where it says so; of several values the highest."""
    triples: set[Triple]
    entries: int
    repeated: int

    @classmethod
    def of(cls, output: Decomposition, vocabulary: Vocabulary) -> Extraction:
        """Merge what names the same concept or states the same relationship."""
        quotes: dict[str, list[str]] = {}
        confidences: dict[str, float] = {}
        for concept in output.concepts:
            name = vocabulary.resolve(concept.label)
            result = quotes.setdefault(name, [])
            quote = normalize(concept.source_quote or "")
            if quote:
                result.append(quote)
            if concept.confidence is not None:
                confidences[name] = max(concept.confidence, confidences.get(name, concept.confidence))
        literal = [normalize(concept.label) for concept in output.concepts]
        stated = [
            (normalize(each.source), normalize(each.target), normalize(each.predicate))
            for each in output.relationships
        ]
        return cls(
            quotes,
            confidences,
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
    forbidden: dict[str, str]
    """Extracted concept → the forbidden one that it is, or is a form of."""
    quoted: set[str]
    verified: set[str]
    text: str
    wanted_triples: set[Triple]
    required_triples: set[Triple]
    correct: set[Triple]
    banned: set[Triple]


def score_case(item: kit.Item, context: kit.Context) -> kit.CaseScore:
    """The counts and diagnoses of one output."""
    case: kit.Case[DecompositionInput, DecompositionExpected] = item.case
    vocabulary = Vocabulary.of(case.expected)
    extraction = Extraction.of(item.output, vocabulary)
    marked = _mark(case, extraction, vocabulary)
    return kit.CaseScore(
        kit.mean_counts(_values(marked, extraction)),
        list(calibration.calibration_counts(extraction.confidences, marked.right)),
        list(_diagnoses(marked, extraction, vocabulary)),
    )


def _mark(
    case: kit.Case[DecompositionInput, DecompositionExpected], extraction: Extraction, vocabulary: Vocabulary
) -> _Marked:
    expected, text = case.expected, normalize(case.input.source_text)
    extracted = set(extraction.quotes)
    wanted = {concept.label for concept in expected.concepts}
    quoted = {label for label, quotes in extraction.quotes.items() if quotes}

    def triples(relationships: Iterable[Relationship]) -> set[Triple]:
        return {vocabulary.triple(each.source, each.target, each.predicate) for each in relationships}

    wanted_triples = triples(expected.relationships)
    canaries = Canaries(expected.forbidden_concepts, text)
    suspects = {label: canaries.named_by(label) for label in extracted - wanted}
    return _Marked(
        extracted=extracted,
        wanted=wanted,
        required={concept.label for concept in expected.concepts if concept.required},
        right=extracted & wanted,
        forbidden={label: canary for label, canary in suspects.items() if canary is not None},
        quoted=quoted,
        verified={
            label
            for label in quoted
            if any(occurs_as_words(quote, text) for quote in extraction.quotes[label])
        },
        text=case.input.source_text,
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
        "provenance_verified": _verified(marked),
        "hallucination_rate": hallucination,
        "forbidden_relationship_rate": ratio(len(marked.banned), len(extraction.triples)),
        "duplicate_rate": ratio(extraction.repeated, extraction.entries),
        "mean_confidence": calibration.mean_confidence(extraction.confidences),
        "overall_score": overall,
        "overall_index": None if overall is None else overall + PENALTY,
    }


def _verified(marked: _Marked) -> float | None:
    """Verified ÷ quoted concepts; undefined without a quote, but 0 where nothing at all was extracted."""
    if marked.wanted and not marked.extracted:
        return 0.0
    return ratio(len(marked.verified), len(marked.quoted))


def _diagnoses(marked: _Marked, extraction: Extraction, vocabulary: Vocabulary) -> Iterator[kit.Diagnosis]:
    missed = sorted(marked.wanted - marked.right)
    for label in missed:
        kind = "missed_required_concept" if label in marked.required else "missed_concept"
        yield kit.Diagnosis(kind, label, "")
    for label, canary in sorted(marked.forbidden.items()):
        named = label if normalize(canary) == label else f"{label} (a form of {canary})"
        yield kit.Diagnosis("forbidden_concept", "", named)
    yield from _invented(sorted(marked.extracted - marked.wanted - set(marked.forbidden)), missed)
    yield from _quotes(marked, extraction)
    for triple in sorted(marked.wanted_triples - marked.correct):
        required = triple in marked.required_triples
        kind = "missed_required_relationship" if required else "missed_relationship"
        yield kit.Diagnosis(kind, str(triple), "")
    for triple in sorted(marked.banned):
        yield kit.Diagnosis("forbidden_relationship", "", str(triple))
    wrong = sorted(extraction.triples - marked.wanted_triples - marked.banned)
    yield from _wrong_relationships(wrong, marked.wanted_triples, vocabulary)


def _quotes(marked: _Marked, extraction: Extraction) -> Iterator[kit.Diagnosis]:
    """Concepts without a quote, with one in other words than the text's, and with one that is made up."""
    for label in sorted(marked.extracted - marked.quoted):
        yield kit.Diagnosis("unquoted_concept", label, "")
    for label in sorted(marked.quoted - marked.verified):
        quotes = sorted(extraction.quotes[label])
        near = next((quote for quote in quotes if is_paraphrase(quote, marked.text)), None)
        kind = "invented_quote" if near is None else "paraphrased_quote"
        yield kit.Diagnosis(kind, label, near or quotes[0])


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


def case_passes(sums: kit.Sums) -> NDArray[np.bool_]:
    """A case passes when its own values reach `PASSING` and nothing forbidden is in it.

    A value that is undefined is not asked for: a case without relationships has no accuracy of them.
    """

    def reaches(name: str, least: float) -> NDArray[np.bool_]:
        count = sums[kit.defined(name)]
        return np.asarray((count == 0) | (sums[name] >= (least - 1e-9) * count))

    clean = (sums["hallucination_rate"] == 0) & (sums["forbidden_relationship_rate"] == 0)
    reached = [reaches(name, least) for name, least in PASSING.items()]
    return np.asarray(np.logical_and.reduce([clean, *reached]), dtype=np.bool_)


def _share(part: Collection[object], whole: Collection[object], wanted: Collection[object]) -> float | None:
    """|part| ÷ |whole|; with nothing extracted it is 0 where something was wanted, undefined elsewhere."""
    if not whole:
        return 0.0 if wanted else None
    return len(part) / len(whole)


def _invented(labels: Sequence[str], missed: Sequence[str]) -> Iterator[kit.Diagnosis]:
    """Wrong concepts; one that is close to a missed concept is a candidate for an alias."""
    from rapidfuzz import fuzz, process

    normalized = [normalize(label) for label in missed]
    for label in labels:
        near = process.extractOne(label, normalized, scorer=fuzz.token_sort_ratio, score_cutoff=NEAR_MISS)
        if near:
            yield kit.Diagnosis("alias_candidate", missed[near[2]], label)
        else:
            yield kit.Diagnosis("invented_concept", "", label)


def _wrong_relationships(
    triples: Sequence[Triple], wanted: set[Triple], vocabulary: Vocabulary
) -> Iterator[kit.Diagnosis]:
    pairs = {(triple.source, triple.target): triple for triple in sorted(wanted, reverse=True)}
    for triple in triples:
        flipped = Triple(triple.target, triple.source, triple.predicate)
        same_ends = pairs.get((triple.source, triple.target))
        if flipped in wanted:
            yield kit.Diagnosis("reversed", str(flipped), str(triple))
        elif same_ends is not None:
            yield kit.Diagnosis("wrong_predicate", str(same_ends), str(triple))
        elif not (vocabulary.knows(triple.source) and vocabulary.knows(triple.target)):
            yield kit.Diagnosis("unknown_endpoint", "", str(triple))
        else:
            yield kit.Diagnosis("spurious", "", str(triple))


def _has_concepts(case: kit.Case[DecompositionInput, DecompositionExpected]) -> bool:
    return bool(case.expected.concepts)


def _has_required_concepts(case: kit.Case[DecompositionInput, DecompositionExpected]) -> bool:
    return any(concept.required for concept in case.expected.concepts)


def _has_relationships(case: kit.Case[DecompositionInput, DecompositionExpected]) -> bool:
    return bool(case.expected.relationships)


def _has_required_relationships(case: kit.Case[DecompositionInput, DecompositionExpected]) -> bool:
    return any(relationship.required for relationship in case.expected.relationships)


def _has_both(case: kit.Case[DecompositionInput, DecompositionExpected]) -> bool:
    return _has_concepts(case) and _has_relationships(case)


of_concepts = partial(kit.mean, population=_has_concepts)
of_relationships = partial(kit.mean, population=_has_relationships)
of_both = partial(kit.mean, population=_has_both)
fault_rate = partial(kit.mean, direction="lower")

METRICS: tuple[kit.Metric, ...] = (
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
    kit.mean(
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
    kit.mean(
        "required_relationship_recall",
        "Required relationships found ÷ required relationships.",
        population=_has_required_relationships,
        explained_by="missed_required_relationship",
    ),
    of_concepts(
        "provenance_coverage",
        "Extracted concepts with a source quote ÷ extracted concepts.",
        explained_by="unquoted_concept",
    ),
    of_concepts(
        "provenance_verified",
        "Concepts whose quote stands in the source text ÷ concepts with a quote.",
        explained_by="invented_quote paraphrased_quote",
    ),
    fault_rate(
        "hallucination_rate",
        "Extracted concepts on the forbidden list, in any form ÷ extracted concepts.",
        explained_by="forbidden_concept",
    ),
    fault_rate(
        "forbidden_relationship_rate",
        "Extracted relationships on the forbidden list ÷ extracted relationships.",
        explained_by="forbidden_relationship",
    ),
    fault_rate("duplicate_rate", "Extracted entries that repeat another one ÷ extracted entries."),
    kit.mean("mean_confidence", "The mean confidence that an output states for its concepts."),
)
