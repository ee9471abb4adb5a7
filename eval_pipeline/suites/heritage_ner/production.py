"""What extractions show without golden ones: entities that stand where they are said to."""

from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite.production import (
    HALLUCINATION,
    PROVENANCE,
    Measure,
    ProductionMeasures,
    Served,
    Share,
    share_of,
    stands_in,
)
from eval_pipeline.suites._heritage.vocabulary import ENTITY_TYPES, entity_type
from eval_pipeline.suites.heritage_ner.cases import Entity


def distinct(served: Served) -> list[Entity]:
    """The entities of an answer, each once."""
    return list(dict.fromkeys(served.output.entities))


def placed(served: Served) -> Share | None:
    """Entities whose text stands at their offsets ÷ entities."""
    text = served.input.text if served.input else served.source
    return share_of(
        stands_in(each.text, text, cut=True)
        and normalize(text[each.start : each.end]) == normalize(each.text)
        for each in distinct(served)
    )


def made_up(served: Served) -> Share | None:
    """Entities whose text stands nowhere in the source ÷ entities."""
    return share_of(not stands_in(each.text, served.source, cut=True) for each in distinct(served))


def found(served: Served) -> Share:
    """Whether there is an entity at all."""
    return Share(float(bool(served.output.entities)))


def known_types(served: Served) -> Share | None:
    """Entities of a listed type ÷ entities."""
    return share_of(entity_type(each.type) in ENTITY_TYPES for each in distinct(served))


MEASURES = ProductionMeasures(
    measures=(
        Measure(PROVENANCE, "Entities whose text stands at their offsets ÷ entities.", placed),
        Measure(
            HALLUCINATION, "Entities that stand nowhere in the text ÷ entities.", made_up, better="lower"
        ),
        Measure("found_any", "Answers with an entity ÷ answers; texts without one are rare.", found),
        Measure("known_types", "Entities of a listed type ÷ entities.", known_types),
    ),
    words=(0, 5000),
    times_source=2.0,
    items=lambda output: len(output.entities),
    most_items=200,
    source=lambda given: str(given.text),
)
