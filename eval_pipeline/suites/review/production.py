"""What reviews show without golden ones: findings that quote the document."""

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
from eval_pipeline.suites.review.findings import distinct
from eval_pipeline.suites.review.places import bare_quote, line_range


def _quotes(served: Served) -> list[str]:
    found = distinct(served.output.findings)
    return [bare_quote(each.quote) for each in found if bare_quote(each.quote)]


def verified(served: Served) -> Share | None:
    """Findings whose quote stands in the document ÷ findings; one without a quote has none that does."""
    found = distinct(served.output.findings)
    return share_of(stands_in(bare_quote(each.quote), served.source) for each in found)


def made_up(served: Served) -> Share | None:
    """Quotes that stand nowhere in the document ÷ quotes."""
    return share_of(not stands_in(quote, served.source) for quote in _quotes(served))


def located(served: Served) -> Share | None:
    """Lines that the document has ÷ lines that findings name."""
    lines = served.source.count("\n") + 1
    ranges = [line_range(each.location or "") for each in distinct(served.output.findings)]
    return share_of(each[1] <= lines for each in ranges if each is not None)


MEASURES = ProductionMeasures(
    measures=(
        Measure(PROVENANCE, "Findings whose quote stands in the document ÷ findings.", verified),
        Measure(
            HALLUCINATION, "Quotes that stand nowhere in the document ÷ quotes.", made_up, better="lower"
        ),
        Measure("located", "Named lines that the document has ÷ named lines.", located),
    ),
    words=(1, 10_000),
    items=lambda output: len(output.findings),
    most_items=100,
    source=lambda given: str(given.document),
)
