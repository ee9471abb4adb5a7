"""What decompositions show without a golden one: concepts that stand in their source, and quotes of it."""

from collections.abc import Iterator
from typing import Any

from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import Case
from eval_pipeline.suite.production import (
    HALLUCINATION,
    PROVENANCE,
    Measure,
    ProductionMeasures,
    Served,
    Share,
    is_echo,
    share_of,
    stands_in,
)
from eval_pipeline.suites.decomposition.forms import Canaries, stands_in_some_form, stems_of
from eval_pipeline.suites.decomposition.scoring import Concept


def distinct(served: Served) -> list[Concept]:
    """The concepts of an answer, each label once: of several with one label the one that quotes least."""
    concepts: dict[str, Concept] = {}
    for each in sorted(served.output.concepts, key=lambda each: len(normalize(each.source_quote or ""))):
        concepts.setdefault(normalize(each.label), each)
    return list(concepts.values())


def verified(served: Served) -> Share | None:
    """Concepts whose quote stands in the source ÷ concepts."""
    return share_of(stands_in(each.source_quote, served.source) for each in distinct(served))


def hallucinated(served: Served) -> Share | None:
    """Concepts that are made up ÷ concepts."""
    return share_of(_made_up(served))


def _made_up(served: Served) -> Iterator[bool]:
    stems = stems_of(served.source)
    canaries = Canaries(served.canaries, normalize(served.source))
    for concept in distinct(served):
        label, quote = normalize(concept.label), concept.source_quote
        yield (
            not stands_in_some_form(concept.label, stems)
            or is_echo(label, served.source)
            or bool(normalize(quote or "") and not stands_in(quote, served.source))
            or canaries.named_by(label) is not None
        )


def linked(served: Served) -> Share | None:
    """Relationships whose ends are concepts of the same answer ÷ relationships."""
    known = {normalize(each.label) for each in served.output.concepts}
    ends = {
        (normalize(each.source), normalize(each.predicate), normalize(each.target))
        for each in served.output.relationships
    }
    return share_of({source, target} <= known and source != target for source, _, target in sorted(ends))


def forbidden(case: Case[Any, Any]) -> list[str]:
    """The canaries of a golden case."""
    return list(case.expected.forbidden_concepts)


MEASURES = ProductionMeasures(
    measures=(
        Measure(PROVENANCE, "Concepts whose quote stands in the source ÷ concepts.", verified),
        Measure(
            HALLUCINATION,
            "Concepts whose label or quote is not in the source, or that are a known canary ÷ concepts.",
            hallucinated,
            better="lower",
        ),
        Measure("relationships_linked", "Relationships between two concepts of the answer ÷ all.", linked),
    ),
    words=(20, 5000),
    items=lambda output: len(output.concepts),
    most_items=60,
    source=lambda given: str(given.source_text),
    canaries=forbidden,
)
