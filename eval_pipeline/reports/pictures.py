"""Charts of an evaluation and of a comparison."""

from collections.abc import Mapping

from eval_pipeline.comparison import Comparison
from eval_pipeline.gates import Bound, Gate
from eval_pipeline.numbers import Unit, change, number
from eval_pipeline.reports.charts import AMBER, GREEN, GREY, RED, ZONE_COLOURS, Bar, bars, heatmap, image
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.tables import gate_sign, units
from eval_pipeline.scoring import Summary
from eval_pipeline.suite import Suite, quantities


def metric_chart(suite: Suite, summary: Summary, gates: Mapping[str, Gate]) -> str:
    """The gated metrics as bars in the colour of their zone, with a mark where passing begins."""
    unit = units(suite)
    return bars(
        f"{suite.name}: gated metrics, coloured by zone; the line marks the pass threshold",
        [
            Bar(
                result.metric,
                _length(result.value, unit[result.metric]),
                ZONE_COLOURS.get(result.zone or "", GREY),
                f"{gate_sign(result)} {number(result.value, unit[result.metric])}",
                (_length(Bound.parse(gates[result.metric].passes).limit, unit[result.metric]),),
            )
            for result in summary.gates
        ],
        ZONE_COLOURS,
    )


def _length(value: float | None, unit: Unit) -> float:
    return (value or 0.0) / (100 if unit == "points" else 1)


def confusion_charts(suite: Suite, summary: Summary) -> str:
    """The suite's confusion matrices as pictures."""
    charts = []
    for name in suite.reporting.confusions:
        if rows := summary.tables[name]:
            labels = [flat(row[""]) for row in rows]
            columns = [column for column in rows[0] if column]
            cells = [[row[column] for column in columns] for row in rows]
            title = f"{suite.name}, {name.replace('_', ' ')}: rows are gold, columns are predicted"
            charts.append(
                image(
                    heatmap(title, labels, [flat(column) for column in columns], cells),
                    name.replace("_", " "),
                )
            )
    return "\n\n".join(charts)


def comparison_chart(suite: Suite, comparison: Comparison) -> str:
    """The differences of gated metrics with their intervals: to the right is better."""
    sign = {name: 1 if each.direction == "higher" else -1 for name, each in quantities(suite).items()}
    unit = units(suite)
    colours = {"improved": GREEN, "inconclusive": AMBER, "regressed": RED}
    gated = [each for each in comparison.metrics if each.gated]
    gains = {each.metric: (each.difference or 0.0) * sign[each.metric] for each in gated}
    intervals = {
        each.metric: (each.evidence.low * sign[each.metric], each.evidence.high * sign[each.metric])
        for each in gated
        if each.evidence and each.evidence.low is not None and each.evidence.high is not None
    }
    ends = [abs(end) for interval in (*intervals.values(), gains.values()) for end in interval]
    largest = max(ends, default=0.0) or 1.0
    return bars(
        f"{comparison.after} against {comparison.before}; right is better",
        [
            Bar(
                each.metric,
                gains[each.metric] / largest,
                colours.get(each.verdict, GREY),
                change(each.difference, unit[each.metric]),
                interval=_scaled(intervals.get(each.metric), largest),
            )
            for each in gated
        ],
    )


def _scaled(interval: tuple[float, float] | None, largest: float) -> tuple[float, float] | None:
    return (min(interval) / largest, max(interval) / largest) if interval else None
