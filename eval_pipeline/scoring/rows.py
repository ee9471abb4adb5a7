"""Scores, evaluations and history as tables of rows, for files and data frames."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from eval_pipeline.files import Kind, typed_table
from eval_pipeline.scoring.scores import ATTRIBUTE, Scores, metric_values
from eval_pipeline.suite import Suite, all_metrics, quantities, suite_code

if TYPE_CHECKING:
    import pyarrow as pa

    from eval_pipeline.answers import OutputsIdentity
    from eval_pipeline.scoring.evaluation import Evaluation, Point
    from eval_pipeline.scoring.summary import MetricValue, Summary

COUNT = "count:"
METRIC = "metric:"
"""Before the name of a metric that another column has."""
CASE_COLUMNS = ("suite", "version", "case_id", "trial", "error", "detail")

METRIC_COLUMNS: Mapping[str, Kind] = {
    "suite": "text",
    "version": "text",
    "metric": "text",
    "axis": "text?",
    "group": "text?",
    "trial": "int?",
    "value": "float?",
    "low": "float?",
    "high": "float?",
    "zone": "text?",
    "status": "text?",
    "severity": "text?",
    "judged_low": "float?",
    "judged_high": "float?",
    "sd": "float?",
    "answers": "int?",
    "errored": "int?",
    "missing": "int?",
    "held_out": "text?",
    "incomplete": "flag",
}

HISTORY_COLUMNS: Mapping[str, Kind] = {
    "suite": "text",
    "version": "text",
    "evaluated_at": "time",
    "engine": "text",
    "model": "text",
    "sample": "text",
    "metric": "text",
    "value": "float?",
    "standard_error": "float?",
    "cases": "int",
    "trials": "int",
    "errors": "int",
    "passed": "flag",
    "replay": "flag",
    "incomplete": "flag",
    "held_out": "text?",
    "run": "text",
    "evaluation": "text",
    "outputs": "text",
    "prompt_hash": "text",
    "golden_hash": "text",
    "scoring": "text?",
}


def case_rows(scores: Scores, suite: Suite | None = None) -> pa.Table:
    """A row for each case and trial: its error, attributes and counts, and by its suite its metrics."""
    import pyarrow as pa

    counts = scores.counts
    keys = {name: counts[name] for name in ("case_id", "trial", "error", "detail")}
    attributes = {name: counts[name] for name in counts.column_names if name.startswith(ATTRIBUTE)}
    values = _values_by_row(suite, scores) if suite else {}
    metrics = {METRIC + name if name in CASE_COLUMNS else name: each for name, each in values.items()}
    counted = {
        COUNT + name: counts[name].cast(pa.float64())
        for name in counts.column_names
        if name not in keys and name not in attributes
    }
    table = pa.table({**keys, **attributes, **metrics, **counted})
    return _never_null(table, ["case_id", "trial", *counted])


def _values_by_row(suite: Suite, scores: Scores) -> dict[str, pa.Array]:
    """Every metric on every row by itself."""
    import pyarrow as pa

    metrics = all_metrics(suite)
    values: dict[str, list[float | None]] = {metric.name: [] for metric in metrics}
    with suite_code(suite.name):
        for _, sums in scores.rows():
            for metric in metrics:
                values[metric.name] += metric_values(metric, sums)
    return {name: pa.array(each, pa.float64()) for name, each in values.items()}


def diagnosis_rows(scores: Scores) -> pa.Table:
    """A row for each thing that was wrong with an answer."""
    return _never_null(scores.diagnoses, scores.diagnoses.column_names)


def of_version(identity: OutputsIdentity, table: pa.Table) -> pa.Table:
    """The same rows, each with the suite and version that it is about."""
    import pyarrow as pa

    for name in ("version", "suite"):
        texts = pa.repeat(pa.scalar(getattr(identity, name), pa.string()), len(table))
        table = table.add_column(0, pa.field(name, pa.string(), nullable=False), texts)
    return table


def metric_rows(evaluation: Evaluation) -> pa.Table:
    """A row for each metric over everything, then for each trial where there are several, then by group."""
    return typed_table(METRIC_COLUMNS, _rows(evaluation))


def _rows(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    outputs, summary = evaluation.identity.outputs, evaluation.summary
    about = {
        "suite": outputs.suite,
        "version": outputs.version,
        "held_out": summary.held_out.name if summary.held_out else None,
        "incomplete": evaluation.outage is not None,
    }
    for name, value in summary.metrics.items():
        yield {**about, "metric": name, "value": value.value, **_details(summary, name, value)}
    for name, value in summary.metrics.items():
        for trial, each in enumerate(value.trials if summary.trials > 1 else (), 1):
            yield {**about, "metric": name, "trial": trial, "value": each}
    for axis, groups in summary.groups.items():
        for group, values in groups.items():
            for name, each in values.items():
                yield {**about, "metric": name, "axis": axis, "group": group, "value": each}


def _details(summary: Summary, metric: str, value: MetricValue) -> dict[str, Any]:
    """What is known of a metric over everything, and how it stands against its gate."""
    gate = next((each for each in summary.gates if each.metric == metric), None)
    interval = summary.held_out.intervals.get(metric) if summary.held_out else None
    low, high = (interval.low, interval.high) if interval else value.bounds or (None, None)
    judged_low, judged_high = (gate and gate.interval) or (None, None)
    return {
        "low": low,
        "high": high,
        "judged_low": judged_low,
        "judged_high": judged_high,
        "zone": gate and gate.zone,
        "status": gate and gate.status,
        "severity": gate and gate.severity,
        "sd": value.spread["sd"],
        "answers": value.answers,
        "errored": value.errored,
        "missing": value.missing,
    }


def history_rows(points: Iterable[Point]) -> pa.Table:
    """A row for each evaluation and metric, oldest first."""
    own = ("metric", "value", "standard_error")

    def row(point: Point, metric: str) -> dict[str, Any]:
        return {
            **{name: getattr(point, name) for name in HISTORY_COLUMNS if name not in own},
            "evaluated_at": datetime.datetime.fromisoformat(point.evaluated_at),
            "held_out": point.held_out or None,
            "scoring": point.scoring or None,
            "metric": metric,
            "value": point.metrics[metric],
            "standard_error": point.noise.get(metric),
        }

    return typed_table(HISTORY_COLUMNS, (row(point, metric) for point in points for metric in point.metrics))


def with_units(suite: Suite, table: pa.Table) -> pa.Table:
    """The same rows with the unit of their metric, and in which direction it is better.

    Both are null for a metric that the suite has no more.
    """
    import pyarrow as pa

    known = quantities(suite)
    metrics = table["metric"].to_pylist()
    for name in ("unit", "direction"):
        texts = [getattr(known.get(metric), name, None) for metric in metrics]
        table = table.append_column(name, pa.array(texts, pa.string()))
    return table


def _never_null(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """The same table, which says of some columns that they are never null."""
    import pyarrow as pa

    never = set(names)
    fields = [field.with_nullable(field.name not in never) for field in table.schema]
    return table.cast(pa.schema(fields))
