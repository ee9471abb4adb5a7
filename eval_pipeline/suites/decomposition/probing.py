"""The golden answers of decomposition, and what else it is probed with."""

from collections.abc import Mapping

from eval_pipeline.language.sentences import split_sentences
from eval_pipeline.metrics.text import normalize, words
from eval_pipeline.suite import Case, Context, Probing
from eval_pipeline.suites.decomposition.cases import (
    DecompositionExpected,
    DecompositionInput,
    ExpectedConcept,
)
from eval_pipeline.suites.decomposition.scoring import Concept, Decomposition, ExtractedRelationship

DecompositionCase = Case[DecompositionInput, DecompositionExpected]


def golden_answer(case: DecompositionCase) -> Decomposition:
    """Every expected concept with a quote, and every expected relationship."""
    sentences = {each: normalize(each) for each in split_sentences(case.input.source_text)}
    return Decomposition(
        [Concept(each.label, _quote(each, sentences)) for each in case.expected.concepts],
        [
            ExtractedRelationship(each.source, each.target, each.predicate)
            for each in case.expected.relationships
        ],
    )


def _quote(concept: ExpectedConcept, sentences: Mapping[str, str]) -> str:
    """The sentence that names a concept or, where none does, the one that shares most words with it."""
    names = [normalize(name) for name in (concept.label, *concept.aliases)]
    own = {word.text for name in names for word in words(name)}
    return max(
        sentences,
        key=lambda each: (
            any(name in sentences[each] for name in names),
            len(own.intersection(sentences[each].split())),
        ),
    )


def with_canaries(case: DecompositionCase, context: Context) -> Decomposition:
    """The golden answer, and everything that is forbidden."""
    golden = golden_answer(case)
    forbidden = [Concept(each, golden.concepts[0].source_quote) for each in case.expected.forbidden_concepts]
    return Decomposition([*golden.concepts, *forbidden], golden.relationships)


PROBING = Probing(golden_answer, own={"with canaries": with_canaries})
