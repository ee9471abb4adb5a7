"""What labels show without golden ones: spans that stand where they are said to."""

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
from eval_pipeline.suites.span_labeling.cases import Span
from eval_pipeline.suites.span_labeling.reading import locate


def distinct(served: Served) -> list[Span]:
    """The spans of an answer, each once."""
    return list(dict.fromkeys(served.output.spans))


def placed(served: Served) -> Share | None:
    """Spans whose text stands at their offsets ÷ spans."""
    prompt = served.input.prompt if served.input else served.source
    return share_of(
        stands_in(each.text, prompt, cut=True) and locate(each.text, each.start, each.end, prompt)[2]
        for each in distinct(served)
    )


def made_up(served: Served) -> Share | None:
    """Spans whose text stands nowhere in the prompt ÷ spans."""
    return share_of(not stands_in(each.text, served.source, cut=True) for each in distinct(served))


MEASURES = ProductionMeasures(
    measures=(
        Measure(PROVENANCE, "Spans whose text stands at their offsets ÷ spans.", placed),
        Measure(HALLUCINATION, "Spans that stand nowhere in the prompt ÷ spans.", made_up, better="lower"),
    ),
    words=(1, 3000),
    times_source=4.0,
    items=lambda output: len(output.spans),
    most_items=100,
    source=lambda given: str(given.prompt),
)
