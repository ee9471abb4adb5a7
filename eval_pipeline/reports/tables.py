"""The tables that people read: metrics, groups, golden sets, errors, trends. Each is made here, once."""

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval_pipeline.answers import REMEDIES, Costs
from eval_pipeline.comparison import MetricTrend
from eval_pipeline.gates import GateResult, MeasuredModel
from eval_pipeline.numbers import NOTHING, Unit, change, counted, number, probability
from eval_pipeline.reports.markdown import bullets, plain
from eval_pipeline.reports.rows import Cell, Colour, Table
from eval_pipeline.scoring import NEAR, Evaluation, HeldOut, MetricValue, Scores, Summary
from eval_pipeline.suite import Experiment, Overview, Rows, Suite, quantities, suite_code

COLOURS: dict[str, Colour] = {"pass": "green", "warn": "yellow", "fail": "red", "not_applicable": "dim"}
ZONES = {"between": "⚠ between", "pass": "✓ pass", "excellent": "★ excellent"}
MOST_ROWS = 100
MOST_GROUPS, LONGEST_TABLE = 100, 1000
"""So many groups, and rows of a suite's own tables, are shown; an evaluation's file has all of them."""
LONGEST_NOTE = 500


def units(suite: Suite) -> dict[str, Unit]:
    """Each metric's unit."""
    return {name: each.unit for name, each in quantities(suite).items()}


def headline(suite: Suite, evaluation: Evaluation) -> str:
    """The metric that stands for all, and on which cases where they are not all; blank after an outage."""
    if evaluation.outage:
        return ""
    summary = evaluation.summary
    held_out = f" ({summary.held_out.name}, {counted(summary.cases, 'case')})" if summary.held_out else ""
    value = number(summary.metrics[suite.headline].value, units(suite)[suite.headline])
    return f"{suite.headline} {value}{held_out}"


def overview_table(overview: Overview) -> Table:
    """The cases of a golden set with what can be counted in them."""
    columns = {
        **overview.attributes,
        **{name: values for name, values in overview.measures.items() if _are_numbers(values)},
    }
    rows = [
        (case_id, file, *(_cell(values[index], "number") for values in columns.values()))
        for index, (case_id, file) in enumerate(zip(overview.case_ids, overview.files, strict=True))
        if index < MOST_ROWS
    ]
    more = len(overview.case_ids) - len(rows)
    header = ("case", "file", *(name.replace("_", " ") for name in columns))
    return Table(header, rows, note=f"and {more:,} more" if more else "")


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int | float) for value in values)


def diagnosis_table(scores: Scores) -> Table:
    """How often each kind of mistake was made."""
    kinds = Counter(scores.diagnoses["kind"].to_pylist()).items()
    ordered = sorted(kinds, key=lambda each: (-each[1], each[0]))
    return Table(("kind", "times"), [(kind.replace("_", " "), f"{count:,}") for kind, count in ordered])


def error_table(costs: Costs) -> Table:
    """Errors by kind, each with an example and what to do."""
    return Table(
        ("kind", "times", "for example", "what to do"),
        [
            (kind, f"{count:,}", costs.examples[kind], REMEDIES.get(kind, ""))
            for kind, count in costs.errors.items()
        ],
    )


def metric_table(suite: Suite, summary: Summary) -> Table:
    """Every metric: value, zone, spread over trials, and what it rests on; gated ones first."""
    gates = {gate.metric: gate for gate in summary.gates}
    unit = units(suite)
    held_out = summary.held_out
    rows = []
    for name in (*gates, *(name for name in summary.metrics if name not in gates)):
        value = summary.metrics[name]
        spread = [number(each, unit[name]) if value.trials else "" for each in value.spread.values()]
        judges = [number(model.accuracy) for model in summary.models if name in model.metrics]
        rows.append(
            (
                name,
                shown_value(value, unit[name]),
                gate_label(gates[name]) if name in gates else "",
                *(spread if summary.trials > 1 else ()),
                _rests_on(value) if value.trials else "",
                *(_beside(held_out, name, value.value, unit[name]) if held_out else ()),
                *((", ".join(judges),) if summary.models else ()),
            )
        )
    over_trials = ("sd", "min", "max") if summary.trials > 1 else ()
    accuracy = ("accuracy of its judges",) if summary.models else ()
    others = [f"{name} ({part.cases:,})" for name, part in held_out.beside.items()] if held_out else []
    beside = ("95 % CI", *others) if held_out else ()
    return Table(("metric", "value", "zone", *over_trials, "answers", *beside, *accuracy), rows)


def zone_table(suite: Suite, summary: Summary) -> Table:
    """The gated metrics for a narrow place: the sign of the zone, the value and the name, then the words."""
    unit = units(suite)
    rows = []
    for gate in summary.gates:
        words = gate_label(gate).text.removeprefix(f"{gate_sign(gate)} ")
        rows.append((gate_sign(gate), number(gate.value, unit[gate.metric]), gate.metric, words))
    return Table(("", "value", "metric", "zone"), rows)


def _beside(held_out: HeldOut, metric: str, value: float | None, unit: Unit) -> Iterator[str]:
    """The interval of a value, and what other cases gave, with the difference of the value from it."""
    yield held_out.interval(metric, unit)
    for part in held_out.beside.values():
        other = part.metrics.get(metric)
        apart = f" ({change(value - other, unit)})" if value is not None and other is not None else ""
        yield f"{number(other, unit)}{apart}"


def _rests_on(value: MetricValue) -> str:
    """How many answers a value is about, and how many of them were errors."""
    parts = ((value.errored, "errored"), (value.missing, "missing"))
    without = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    return f"{value.answers:,} ({without})" if without else f"{value.answers:,}"


def shown_value(value: MetricValue, unit: Unit) -> str:
    """A metric's value with its bounds."""
    return bounded(value.value, value.bounds, unit)


def bounded(value: float | None, bounds: tuple[float, float] | None, unit: Unit) -> str:
    """A value; beside a rate near 0 or 1, how far from there it may well be."""
    shown = number(value, unit)
    if bounds is None or value is None:
        return shown
    low, high = bounds
    bound = f"≤ {number(high, unit)}" if value <= NEAR else f"≥ {number(low, unit)}"
    return f"{shown} ({bound})"


def gate_label(gate: GateResult) -> Cell:
    """The result of a gate in a word or two, the same wherever it is shown."""
    colour = COLOURS[gate.status]
    if gate.status == "not_applicable":
        return Cell("not applicable", colour)
    if gate.zone is None:
        return Cell("✗ undefined" if gate.value is None else "✗ unusable judge", colour)
    if gate.zone == "fail":
        return Cell("✗ fail" if gate.status == "fail" else "⚠ misses target", colour)
    look = " (⚠ look)" if gate.status == "warn" and gate.zone != "between" else ""
    return Cell(ZONES[gate.zone] + look, colour)


def gate_sign(gate: GateResult) -> str:
    """The sign that its label begins with."""
    return NOTHING if gate.status == "not_applicable" else gate_label(gate).text.partition(" ")[0]


def model_notes(summary: Summary) -> list[str]:
    """How far the models behind metrics can be trusted."""
    return [
        f"{', '.join(model.metrics)}: judged by {model.name}, {model.told}{_left_open(summary, model)}"
        for model in summary.models
    ]


def _left_open(summary: Summary, model: MeasuredModel) -> str:
    """What a model's error leaves of the metrics whose gates it cannot settle."""
    left = [
        f"{gate.metric} at {' to '.join(map(number, gate.interval))}"
        for gate in summary.gates
        if gate.interval and gate.metric in model.metrics
    ]
    return f"; its error leaves {', '.join(left)}" if left else ""


def model_list(summary: Summary) -> str:
    """The same, as a list for a report."""
    return bullets(plain(note, LONGEST_NOTE) for note in model_notes(summary))


def group_tables(suite: Suite, summary: Summary, scores: Scores) -> list[Table]:
    """The gated metrics by group, and how many cases each group has.

    Of very many groups, those that are the worst by the first metric.
    """
    unit = units(suite)
    names = [gate.metric for gate in summary.gates]
    tables = []
    for axis, groups in summary.groups.items():
        cases = _cases_by(axis, summary.rests_on(scores))
        rows = [
            (value or NOTHING, f"{cases[value]:,}", *(number(row.get(name), unit[name]) for name in names))
            for value, row in _worst_groups(suite, groups, names)
        ]
        few = len(groups) <= MOST_GROUPS
        note = "" if few else f"The {MOST_GROUPS} worst by {names[0] if names else axis} of {len(groups):,}."
        tables.append(Table((axis, "cases", *names), rows, f"By {axis}", note))
    return tables


def _cases_by(axis: str, scores: Scores) -> Counter[str]:
    """How many cases have each value of an attribute."""
    values, index = scores.attribute(axis)
    of_case = {case_id: values[place] for case_id, place in zip(scores.case_ids, index, strict=True)}
    return Counter(of_case.values())


def _worst_groups(
    suite: Suite, groups: Mapping[str, Mapping[str, float | None]], metrics: Sequence[str]
) -> list[tuple[str, Mapping[str, float | None]]]:
    """All groups; where they are very many, some, those without a value last."""
    if len(groups) <= MOST_GROUPS or not metrics:
        return list(groups.items())[:MOST_GROUPS]
    sign = 1 if quantities(suite)[metrics[0]].direction == "higher" else -1

    def badness(group: tuple[str, Mapping[str, float | None]]) -> tuple[bool, float]:
        value = group[1].get(metrics[0])
        return value is None, sign * (value or 0.0)

    return heapq.nsmallest(MOST_GROUPS, groups.items(), key=badness)


def cross_tables(suite: Suite, evaluations: Mapping[str, Evaluation]) -> list[Table]:
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
        built = {name: build(experiments) for name, build in suite.reporting.cross_tables.items()}
    return _tables(suite, built)


def suite_tables(suite: Suite, summary: Summary) -> list[Table]:
    """The tables that the suite itself defines."""
    return _tables(suite, summary.tables)


def _tables(suite: Suite, tables: Mapping[str, Rows]) -> list[Table]:
    return [
        Table(
            tuple(rows[0]),
            [_cells(row, suite.reporting.table_units) for row in rows[:LONGEST_TABLE]],
            name.replace("_", " "),
            _legend(suite.reporting.legends.get(name, ""), len(rows)),
        )
        for name, rows in tables.items()
        if rows
    ]


def _legend(legend: str, rows: int) -> str:
    return f"{legend} {LONGEST_TABLE:,} of {rows:,} rows.".lstrip() if rows > LONGEST_TABLE else legend


def _cells(row: Mapping[str, Any], unit: Mapping[str, Unit]) -> list[str]:
    """A row of raw values. A number has the unit of its column, or else of what the row is about."""
    of_row = unit.get(str(next(iter(row.values()))), "number")
    return [_cell(value, unit.get(column, of_row)) for column, value in row.items()]


def _cell(value: Any, unit: Unit) -> str:
    if isinstance(value, bool | str):
        return str(value)
    return number(value, "number" if isinstance(value, int) else unit)


def trend_table(trends: Sequence[MetricTrend]) -> Table:
    """How every gated metric went over the evaluations that asked anew."""
    return Table(
        ("metric", "evaluations", "declines in a row", "beyond noise", "slope a run", "p", ""),
        [
            (
                each.metric,
                f"{len(each.values):,}",
                f"{each.trend.consecutive_declines:,}",
                f"{each.trend.declines_beyond_noise:,}",
                change(each.trend.slope, each.unit),
                probability(each.trend.slope_p),
                Cell("⚠ slides", "yellow") if each.trend.alarm else "",
            )
            for each in trends
        ],
        note="A negative slope is for the worse.",
    )
