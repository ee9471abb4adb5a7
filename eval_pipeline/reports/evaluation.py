"""What a person sees of an evaluation: tables, charts, and the report on one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eval_pipeline.answers.trials import Stopping
from eval_pipeline.asking.costs import REMEDIES, Operations
from eval_pipeline.comparison.compare import CaseChange, Comparison, MetricChange
from eval_pipeline.comparison.trends import MetricTrend
from eval_pipeline.evaluation import NEAR, WORST_CASES, CaseResult, Evaluation, MetricValue, Summary
from eval_pipeline.gates import Bound, Gate, GateResult
from eval_pipeline.reports.charts import AMBER, GOLD, GREEN, GREY, RED, Bar, bars, heatmap, image, line
from eval_pipeline.reports.markdown import bullets, flat, plain, table
from eval_pipeline.reports.numbers import NOTHING, change, counted, number, probability
from eval_pipeline.scoring import Scores, quantities
from eval_pipeline.store import Proposal
from eval_pipeline.store.history import Point
from eval_pipeline.suite import Experiment, Overview, Rows, Suite, Unit

ZONE_COLOURS = {"fail": RED, "between": AMBER, "pass": GREEN, "excellent": GOLD}
ZONE_SIGNS = {"fail": "✗ fail", "between": "⚠ between", "pass": "✓ pass", "excellent": "★ excellent"}
STATUS_SIGNS = {"pass": "✓", "warn": "⚠", "fail": "✗", "not_applicable": "not applicable"}
MOST_DIAGNOSES = 12
MOST_ROWS = 100
LONGEST_NOTE = 500
MOST_PROBLEMS = 10


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


def error_table(operations: Operations) -> str:
    """Errors by kind, each with an example and what to do."""
    rows = (
        (plain(kind), str(count), plain(operations.examples[kind]), REMEDIES.get(kind, ""))
        for kind, count in operations.errors.items()
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
                number(result.value, unit[result.metric]),
                (_length(Bound.parse(gates[result.metric].passes).limit, unit[result.metric]),),
            )
            for result in summary.gates
        ],
    )


def _length(value: float | None, unit: Unit) -> float:
    return (value or 0.0) / (100 if unit == "points" else 1)


def worst_cases(suite: Suite, results: Sequence[CaseResult], scores: Scores) -> str:
    """The cases that fared worst, each with what was missed, invented or wrong."""
    unit = units(suite)[suite.headline]
    parts = [passes(results)] if results else []
    for result in results[:WORST_CASES]:
        headline = (
            f"**{plain(result.case_id)}**: {suite.headline} {number(result.headline, unit)}, "
            f"passed {result.passed} of {counted(result.trials, 'trial')}"
        )
        rows = [row for row in _diagnoses(scores, result.case_id) if row["kind"] != "error"]
        errors = [f"error: {plain(kind)}" for kind in result.errors]
        parts.append(headline + "\n\n" + bullets([*errors, *_by_kind(rows)]))
    return "\n\n".join(parts) or "There are no cases."


def passes(results: Sequence[CaseResult]) -> str:
    """In how many trials cases pass: one that always fails does not hide in a good mean."""
    always = sum(each.passed == each.trials for each in results)
    never = [plain(each.case_id) for each in results if not each.passed]
    rest = [
        f"{plain(each.case_id)} ({each.passed} of {each.trials})"
        for each in results
        if 0 < each.passed < each.trials
    ]
    lines = [f"{counted(always, 'case')} of {len(results)} pass in every trial"]
    lines += [f"{len(rest)} in some: {_some(rest, MOST_DIAGNOSES)}"] if rest else []
    lines += [f"{len(never)} in none: {_some(never, MOST_DIAGNOSES)}"] if never else []
    return "; ".join(lines) + "."


def _diagnoses(scores: Scores, case_id: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = scores.restricted([case_id]).diagnoses.to_pylist()
    return rows


def _by_kind(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    kinds: dict[str, dict[str, None]] = {}
    for row in rows:
        both = row["expected"] and row["got"]
        what = f"{row['expected']} (got {row['got']})" if both else row["expected"] or row["got"]
        kinds.setdefault(row["kind"], {})[what] = None
    lines = []
    for kind, told in sorted(kinds.items()):
        some = "; ".join(plain(each, 120) for each in list(told)[:MOST_DIAGNOSES])
        more = f" and {len(told) - MOST_DIAGNOSES} more" if len(told) > MOST_DIAGNOSES else ""
        lines.append(f"{kind.replace('_', ' ')} ({len(told)}): {some}{more}")
    return lines


def explanations(suite: Suite, metric: str, scores: Scores) -> list[str]:
    """What a metric's bad value is made of: one line per case, with the things named."""
    kind = next((each.explained_by for each in suite.metrics if each.name == metric), "")
    named: dict[str, dict[str, None]] = {}
    for row in scores.diagnoses.to_pylist() if kind else ():
        if row["kind"] == kind:
            named.setdefault(row["case_id"], {})[flat(row["got"] or row["expected"], 60)] = None
    return [f"{flat(case_id, 60)}: {_some(list(things))}" for case_id, things in named.items()]


def _some(things: Sequence[str], most: int = 5) -> str:
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(things[:most]) + more


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


def hidden_problems(summary: Summary) -> str:
    """What the headline hides, in a sentence; nothing where it hides nothing."""
    if not summary.problems:
        return ""
    more = len(summary.problems) - MOST_PROBLEMS
    told = ", ".join(flat(problem) for problem in summary.problems[:MOST_PROBLEMS])
    return f"Problems: {told}{f' and {more} more' if more > 0 else ''}."


def confusion_charts(suite: Suite, summary: Summary) -> str:
    """The suite's confusion matrices as pictures."""
    charts = []
    for name in suite.confusions:
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
    return _tables({name: build(experiments) for name, build in suite.cross_tables.items()})


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


def comparison_table(suite: Suite, comparison: Comparison) -> str:
    """Every metric before and after, with what the change asks for; gated ones first."""
    unit = units(suite)
    ordered = sorted(comparison.metrics, key=lambda each: not each.gated)
    return table(
        (
            "metric",
            "before",
            "after",
            "difference",
            "95 % CI",
            "adjusted p",
            "detectable",
            "zone",
            "verdict",
            "action",
        ),
        (
            (
                each.metric,
                number(each.before, unit[each.metric]),
                number(each.after, unit[each.metric]),
                change(each.difference, unit[each.metric]),
                *evidence_cells(each, unit[each.metric]),
                _zone_change(each),
                each.verdict if each.gated else "",
                each.action.replace("_", " ") if each.gated else "",
            )
            for each in ordered
        ),
    )


def evidence_cells(each: MetricChange, unit: Unit) -> tuple[str, str, str]:
    """Interval, adjusted p and detectable effect, as a table shows them."""
    found = each.evidence
    if found is None or found.low is None or found.high is None:
        return NOTHING, NOTHING, NOTHING
    return (
        f"{change(found.low, unit)} … {change(found.high, unit)}",
        probability(found.adjusted_p),
        change(found.minimum_detectable_effect, unit).lstrip("+±"),
    )


def _zone_change(each: MetricChange) -> str:
    if each.zone_before == each.zone_after:
        return each.zone_after or ""
    return f"{each.zone_before or NOTHING} → {each.zone_after or NOTHING}"


def comparison_chart(suite: Suite, comparison: Comparison) -> str:
    """The differences of gated metrics with their intervals: to the right is better."""
    sign = {name: 1 if each.direction == "higher" else -1 for name, each in quantities(suite).items()}
    unit = units(suite)
    colours = {"improved": GREEN, "unchanged": GREY, "inconclusive": AMBER, "regressed": RED}
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


def trend_chart(suite: Suite, points: Sequence[Point]) -> str:
    """The headline over all evaluations of a version that asked anew."""
    unit = units(suite)[suite.headline]
    values = [value for point in points if (value := point.metrics.get(suite.headline)) is not None]
    if not values:
        return line(f"{suite.headline}: undefined so far", [0.0], ("", ""))
    ends = (number(min(values), unit), number(max(values), unit))
    return line(f"{suite.headline}: {counted(len(values), 'evaluation')} that asked anew", values, ends)


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


def comparison_text(suite: Suite, comparison: Comparison) -> str:
    """A comparison in full."""
    parts = [
        f"**{comparison.verdict}**, action: **{comparison.action.replace('_', ' ')}**"
        f"{', **approved**' if comparison.approved else ''}. {plain(comparison.sentence, 1000)}",
        bullets(plain(each.told, 1000) for each in comparison.approvals),
        bullets(plain(note) for note in comparison.notes),
        comparison_table(suite, comparison),
        group_text(suite, comparison),
        _case_list(suite, "Cases that regressed", comparison.regressed),
        _case_list(suite, "Cases that improved", comparison.improved),
        *(
            f"{title}: {', '.join(plain(name) for name in names)}."
            for title, names in (
                ("New cases, not compared", comparison.appeared),
                ("Cases that vanished", comparison.vanished),
                ("Cases whose input changed, not compared", comparison.changed),
            )
            if names
        ),
    ]
    return "\n\n".join(part for part in parts if part)


def group_lines(suite: Suite, comparison: Comparison) -> list[str]:
    """The groups that moved, one line each."""
    unit = units(suite)
    return [
        f"{each.axis} {each.group or NOTHING}: {each.metric} {each.verdict}, "
        f"{change(each.difference, unit[each.metric])} over {counted(each.cases, 'case')} "
        f"(adjusted p {probability(each.adjusted_p)})"
        for each in comparison.moved_groups
    ]


def group_text(suite: Suite, comparison: Comparison) -> str:
    """Which groups moved by more than chance explains."""
    if not comparison.groups:
        return ""
    lines = group_lines(suite, comparison)
    of = f"of {counted(len(comparison.groups), 'combination')} of group and metric"
    if not lines:
        return f"Groups that moved by more than chance explains: none {of}."
    return f"Groups that moved by more than chance explains, {of}:\n\n" + bullets(map(plain, lines))


def _case_list(suite: Suite, title: str, changes: Sequence[CaseChange]) -> str:
    if not changes:
        return f"{title}: none."
    unit = units(suite)[suite.headline]
    rows = (
        (
            plain(each.case_id),
            number(each.before, unit),
            number(each.after, unit),
            change(each.difference, unit),
        )
        for each in changes
    )
    return f"{title} ({suite.headline}):\n\n" + table(("case", "before", "after", "difference"), rows)


def report(
    suite: Suite,
    evaluation: Evaluation,
    scores: Scores,
    comparison: Comparison | None,
    stopping: Stopping | None = None,
    proposal: Proposal | None = None,
    beside: Mapping[str, Evaluation] | None = None,
) -> str:
    """The report on an evaluation: verdict first, then numbers, then cases; `beside` are all versions."""
    versions = cross_tables(suite, beside or {})
    summary, outputs = evaluation.summary, evaluation.identity.outputs
    failing = [f"{gate.metric}: {gate.told}" for gate in summary.gates if gate.status == "fail"]
    warnings = [f"{gate.metric}: {gate.told}" for gate in summary.gates if gate.status == "warn"]
    verdict = (
        "✗ fails its gates" if failing else "⚠ passes with warnings" if warnings else "✓ passes its gates"
    )
    parts = [
        f"# {outputs.version}: {verdict}",
        f"{suite.description} {counted(summary.cases, 'case')} × {counted(summary.trials, 'trial')} "
        f"on engine `{outputs.engine}` ({plain(outputs.model)}), {counted(summary.error_count, 'error')}.",
        plain(stopping.told) if stopping else "",
        plain(hidden_problems(summary), 1000),
        "## Gates\n\n"
        + (
            bullets([*(f"✗ {line}" for line in failing), *(f"⚠ {line}" for line in warnings)])
            or "Every gate passes."
        ),
        "## Metrics\n\n" + metric_table(suite, summary),
        model_list(summary),
        "## Against the baseline\n\n"
        + (comparison_text(suite, comparison) if comparison else "There is no baseline to compare with."),
        plain(proposal.told, 1000) if proposal else "",
        "## Worst cases\n\n" + worst_cases(suite, evaluation.case_results, scores),
        "## Groups and tables\n\n"
        + "\n\n".join(
            filter(
                None,
                (
                    confusion_charts(suite, summary),
                    group_tables(suite, summary),
                    suite_tables(summary),
                ),
            )
        ),
        f"## Versions side by side\n\n{versions}" if versions else "",
        "## Identity\n\n"
        + table(
            ("what", "value"),
            (
                ("evaluation", evaluation.id),
                ("prompt", outputs.prompt_hash),
                ("golden set", evaluation.identity.golden_hash),
                ("scoring code", evaluation.identity.scorer),
                ("sample", plain(outputs.sample)),
                ("evaluated at", evaluation.created_at),
            ),
        ),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"
