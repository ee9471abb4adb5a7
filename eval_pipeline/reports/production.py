"""Figures of production as tables."""

from collections.abc import Sequence

from eval_pipeline.monitoring import FIGURES, Aim, Figures
from eval_pipeline.numbers import counted, number
from eval_pipeline.reports.rows import Cell, Table

SIMULATED = "simulated"
SHOWN = (
    "requests", "requests_per_minute", "latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "error_rate",
    "cost_usd", "cost_per_request_usd", "concepts_per_answer", "relationships_per_answer", "mean_confidence",
    "feedback_points",
)  # fmt: skip
"""The figures that a table of several stretches shows."""


def stretch_of(figures: Figures) -> str:
    """The time that figures are of: an hour by its beginning, days by their dates."""
    hours = (figures.end - figures.start).total_seconds() / 3600
    if hours < 24:
        return f"{figures.start:%Y-%m-%d %H:%M}"
    last = figures.end - (figures.end - figures.start) / hours
    return f"{figures.start:%Y-%m-%d}" + (f" – {last:%Y-%m-%d}" if hours > 24 else "")


def figure_table(rows: Sequence[Figures]) -> Table:
    """Several stretches, versions or models: a row for each.

    All that tells rows apart is in the first column, which a narrow screen repeats.
    """
    keys = [name for name in ("version", "model") if any(getattr(each, name) is not None for each in rows)]
    shown = [name for name in SHOWN if any(each.value(name) is not None for each in rows)]
    content = [
        (
            " · ".join((stretch_of(each), *(getattr(each, name) or "unknown" for name in keys))),
            *(number(each.value(name), FIGURES[name].unit) for name in shown),
        )
        for each in rows
    ]
    header = (" · ".join(("UTC", *keys)), *(name.replace("_", " ") for name in shown))
    return Table(header, content, note=simulated_note(rows))


def one_table(figures: Figures, aims: Sequence[Aim]) -> Table:
    """Every figure of one stretch, with its target."""
    targets = {aim.figure: aim for aim in aims}
    rows: list[tuple[str | Cell, ...]] = []
    for name, figure in FIGURES.items():
        value, aim = figures.value(name), targets.get(name)
        if value is None and aim is None:
            continue
        state = Cell("") if aim is None else Cell("met", "green") if aim.met else Cell("missed", "red")
        rows.append((name, number(value, figure.unit), aim.wanted if aim else "", state, figure.about))
    errors = [(f"errors: {kind}", f"{count:,}", "", Cell(""), "") for kind, count in figures.errors.items()]
    return Table(
        ("figure", "value", "target", "", "what it is"), [*rows, *errors], note=simulated_note([figures])
    )


def simulated_note(rows: Sequence[Figures]) -> str:
    """That events are not real, where some are not."""
    count = sum(each.simulated for each in rows)
    return f"From the simulator: {counted(count, 'event')}." if count else ""
