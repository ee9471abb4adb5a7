"""What rankings show without judgments: that something was found, each document once."""

from eval_pipeline.suite.production import Measure, ProductionMeasures, Served, Share, share_of


def distinct(served: Served) -> Share | None:
    """Documents that are listed once ÷ entries of the ranking."""
    listed = [each.doc_id for each in served.output.results]
    return share_of(listed.count(each) == 1 for each in listed)


MEASURES = ProductionMeasures(
    measures=(Measure("distinct_results", "Documents that are listed once ÷ entries.", distinct),),
    words=(1, 20_000),
    items=lambda output: len(output.results),
    most_items=100,
    source=lambda given: str(given.query),
)
