"""Tables for people: metrics, groups, golden sets, errors, trends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from eval_pipeline.answers import REMEDIES, Costs
from eval_pipeline.comparison import MetricTrend
from eval_pipeline.gates import GateResult
from eval_pipeline.numbers import NOTHING, Unit, change, number, probability
from eval_pipeline.reports.markdown import bullets, plain, table
from eval_pipeline.scoring import NEAR, Evaluation, MetricValue, Scores, Summary
from eval_pipeline.suite import Experiment, Overview, Rows, Suite, quantities, suite_code

ZONE_SIGNS = {"fail": "✗ fail", "between": "⚠ between", "pass": "✓ pass", "excellent": "★ excellent"}
STATUS_SIGNS = {"pass": "✓", "warn": "⚠", "fail": "✗", "not_applicable": "not applicable"}
MOST_ROWS = 100
LONGEST_NOTE = 500


def units(suite: Suite) -> dict[str, Unit]:
    """Each metric's unit."""
    return {name: each.unit for name, each in quantities(suite).items()}


def overview_table(overview: Overview) -> str:
    """The cases of a golden set with what can be counted in them."""
    columns = {
        **overview.attributes,
        **{name: values for name, values in overview.measures.items() if _are_numbers(values)},
    }
    header = ("case", "file", *(name.replace("_", " ") for name in columns))
    rows = [
        (plain(case_id), plain(file), *(plain(values[index]) for values in columns.values()))
        for index, (case_id, file) in enumerate(zip(overview.case_ids, overview.files, strict=True))
        if index < MOST_ROWS
    ]
    more = len(overview.case_ids) - len(rows)
    return table(header, rows) + (f"\n\nand {more} more" if more else "")


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int | float) for value in values)


def diagnosis_table(scores: Scores) -> str:
    """How often each kind of mistake was made."""
    kinds = sorted(
        Counter(scores.diagnoses["kind"].to_pylist()).items(), key=lambda each: (-each[1], each[0])
    )
    return table(("kind", "times"), ((plain(kind.replace("_", " ")), str(count)) for kind, count in kinds))


def error_table(costs: Costs) -> str:
    """Errors by kind, each with an example and what to do."""
    rows = (
        (plain(kind), str(count), plain(costs.examples[kind]), REMEDIES.get(kind, ""))
        for kind, count in costs.errors.items()
    )
    return table(("kind", "times", "for example", "what to do"), rows)


def metric_table(suite: Suite, summary: Summary) -> str:
    """Every metric: value, zone, spread over trials, and what it rests on; gated ones first."""
    gates = {gate.metric: gate for gate in summary.gates}
    unit = units(suite)
    names = [*gates, *(name for name in summary.metrics if name not in gates)]
    rows = []
    for name in names:
        value = summary.metrics[name]
        spread = [number(each, unit[name]) if value.trials else "" for each in value.spread.values()]
        judges = [number(model.accuracy, "fraction") for model in summary.models if name in model.metrics]
        rows.append(
            (
                name,
                shown_value(value, unit[name]),
                _zone(gates.get(name)),
                *(spread if summary.trials > 1 else ()),
                _rests_on(value) if value.trials else "",
                *((", ".join(judges),) if summary.models else ()),
            )
        )
    over_trials = ("sd", "min", "max") if summary.trials > 1 else ()
    accuracy = ("accuracy of its judges",) if summary.models else ()
    header = ("metric", "value", "zone", *over_trials, "answers", *accuracy)
    return table(header, rows)


def _rests_on(value: MetricValue) -> str:
    """How many answers a value is about, and how many of them were errors."""
    parts = ((value.errored, "errored"), (value.missing, "missing"))
    told = ", ".join(f"{count} {what}" for count, what in parts if count)
    return f"{value.answers} ({told})" if told else str(value.answers)


def shown_value(value: MetricValue, unit: Unit) -> str:
    """A value; beside a rate near 0 or 1, how far from there it may well be."""
    shown = number(value.value, unit)
    if value.bounds is None or value.value is None:
        return shown
    low, high = value.bounds
    bound = f"≤ {number(high, unit)}" if value.value <= NEAR else f"≥ {number(low, unit)}"
    return f"{shown} ({bound})"


def model_notes(summary: Summary) -> list[str]:
    """How far the models behind metrics can be trusted."""
    return [f"{', '.join(model.metrics)}: judged by {model.name}, {model.told}" for model in summary.models]


def model_list(summary: Summary) -> str:
    """The same, as a list for a report."""
    return bullets(plain(note, LONGEST_NOTE) for note in model_notes(summary))


def _zone(gate: GateResult | None) -> str:
    if gate is None:
        return ""
    if gate.zone is None:
        return "not applicable" if gate.status == "not_applicable" else "✗ undefined"
    sign = ZONE_SIGNS[gate.zone]
    return f"{sign} (⚠ look)" if gate.status == "warn" and gate.zone in ("pass", "excellent") else sign


def group_tables(suite: Suite, summary: Summary) -> str:
    """The gated metrics by group."""
    unit = units(suite)
    names = [gate.metric for gate in summary.gates]
    return "\n\n".join(
        f"**By {axis}**\n\n"
        + table(
            (axis, *names),
            (
                (plain(value) or NOTHING, *(number(row.get(name), unit[name]) for name in names))
                for value, row in groups.items()
            ),
        )
        for axis, groups in summary.groups.items()
    )


def cross_tables(suite: Suite, evaluations: Mapping[str, Evaluation]) -> str:
    """The suite's tables that put versions side by side."""
    experiments = {
        version: Experiment(
            {name: value.trials for name, value in each.summary.metrics.items()},
            each.summary.tables,
            each.summary.cases,
        )
        for version, each in evaluations.items()
    }
    with suite_code(suite.name):
        return _tables({name: build(experiments) for name, build in suite.reporting.cross_tables.items()})


def suite_tables(summary: Summary) -> str:
    """The tables that the suite itself defines."""
    return _tables(summary.tables)


def _tables(tables: Mapping[str, Rows]) -> str:
    return "\n\n".join(
        f"**{name.replace('_', ' ')}**\n\n"
        + table(
            tuple(plain(name) for name in rows[0]),
            (tuple(_cell(value) for value in row.values()) for row in rows),
        )
        for name, rows in tables.items()
        if rows
    )


def _cell(value: Any) -> str:
    return number(value, "number") if isinstance(value, float) or value is None else plain(value)


def trend_table(trends: Sequence[MetricTrend]) -> str:
    """How every gated metric went over the evaluations that asked anew."""
    header = ("metric", "evaluations", "declines in a row", "beyond noise", "slope a run", "p", "")
    rows = (
        (
            each.metric,
            str(len(each.values)),
            str(each.found.consecutive_declines),
            str(each.found.declines_beyond_noise),
            change(each.found.slope, each.unit),
            probability(each.found.slope_p),
            "⚠ slides" if each.found.alarm else "",
        )
        for each in trends
    )
    return f"{table(header, rows)}\n\nA negative slope is for the worse."
