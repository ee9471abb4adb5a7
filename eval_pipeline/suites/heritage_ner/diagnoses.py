"""What the diagnoses of entity recognition mean to somebody who investigates a failure."""

from collections.abc import Sequence

from eval_pipeline.suite import DiagnosisVocabulary, Kind, Wanted
from eval_pipeline.suites.heritage_ner.cases import NerCase


def wanted(case: NerCase) -> Sequence[Wanted]:
    """The expected entities, at their offsets."""
    return [
        Wanted(f"{each.type} {each.text[:80]!r} {each.start}–{each.end}", (each.text,), each.start, each.type)
        for each in case.expected.entities
    ]


VOCABULARY = DiagnosisVocabulary(
    {
        "missed": Kind(
            "missed", "entities that were missed", "Name the types with examples; say that all of them count."
        ),
        "spurious": Kind(
            "invented",
            "entities that are none",
            "Say what is no entity: generic words, parts of longer names.",
        ),
        "wrong_boundary": Kind(
            "form",
            "entities cut in the wrong place",
            "Say whether articles, titles and places belong to a name.",
        ),
        "wrong_type": Kind(
            "mislabelled",
            "entities of the wrong type",
            "Define the types that are confused against each other.",
        ),
    },
    wanted,
    lambda given: str(given.text),
)
