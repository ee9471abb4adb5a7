"""The history of a suite as rows."""

from collections.abc import Iterable, Sequence

from eval_pipeline.numbers import number
from eval_pipeline.reports.rows import Cell, Table
from eval_pipeline.reports.tables import units
from eval_pipeline.scoring import Point
from eval_pipeline.suite import Suite

MOST_COLUMNS = 4


def history_table(suite: Suite, gated: Iterable[str], points: Sequence[Point]) -> Table:
    """Evaluations in their order, with the headline and the first of the gated metrics."""
    unit = units(suite)
    names = [suite.headline, *(name for name in gated if name != suite.headline)][:MOST_COLUMNS]
    return Table(
        ("evaluated at", "version", "engine", "sample", "cases", *names, "gates"),
        [
            (
                point.evaluated_at[:16].replace("T", " "),
                point.version,
                point.engine,
                point.sample + (" (replay)" if point.replay else ""),
                f"{point.cases:,}{rests_on(point)}",
                *(number(point.quality.get(name), unit[name]) for name in names),
                _state(point),
            )
            for point in points
        ],
    )


def rests_on(point: Point) -> str:
    """The cases that numbers rest on, where they are not all."""
    return f" ({point.held_out})" if point.held_out else ""


def _state(point: Point) -> Cell:
    if point.incomplete:
        return Cell("✗ incomplete", "yellow")
    return Cell("✓", "green") if point.passed else Cell("✗", "red")
