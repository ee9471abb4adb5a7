"""A comparison for people."""

from collections.abc import Sequence

from eval_pipeline.comparison import Comparison, MetricChange
from eval_pipeline.decisions import Standing
from eval_pipeline.numbers import NOTHING, Unit, change, counted, limit, number, probability
from eval_pipeline.reports.markdown import bullets, plain, table, tables
from eval_pipeline.reports.rows import Cell, Colour, Table
from eval_pipeline.reports.tables import bounded, units
from eval_pipeline.suite import Suite

LONGEST_EXAMPLE = 600
MOST_CASES = 500
"""So many cases, or groups, are listed; the JSON of a comparison has all of them."""
CHANGE = ("before", "after", "difference")
INTERVAL = "95 % CI"
VERDICT_COLOURS: dict[str, Colour] = {"improved": "green", "inconclusive": "yellow", "regressed": "red"}


def comparison_table(suite: Suite, comparison: Comparison) -> Table:
    """Every metric before and after, with what the change asks for; gated ones first."""
    unit = units(suite)
    return Table(
        ("metric", *CHANGE, INTERVAL, "adjusted p", "detectable", "zone", "verdict", "action"),
        [
            (
                each.metric,
                bounded(each.before, each.bounds_before, unit[each.metric]),
                bounded(each.after, each.bounds_after, unit[each.metric]),
                change(each.difference, unit[each.metric]),
                *_evidence(each, unit[each.metric]),
                _zone_change(each),
                _verdict(each.verdict),
                each.action.replace("_", " ") if each.gated else "",
            )
            for each in sorted(comparison.metrics, key=lambda each: not each.gated)
        ],
        together=(CHANGE, ("verdict", "action"), (INTERVAL,), ("adjusted p", "detectable", "zone")),
    )


def side_lines(comparison: Comparison, moments: Sequence[str]) -> list[str]:
    """Both sides: version, engine with its model, trials, and the moment that each is of."""
    if comparison.identities is None:
        return [f"Before: {comparison.before}", f"After:  {comparison.after}"]
    names = (("Before: ", comparison.before), ("After:  ", comparison.after))
    return [
        f"{label}{name} on {side.engine} ({side.model}), {counted(side.trials, 'trial')}"
        f"{f', {moment}' if moment else ''}"
        for (label, name), side, moment in zip(names, comparison.identities, moments, strict=True)
    ]


def _moved(
    before: float | None, after: float | None, difference: float | None, unit: Unit
) -> tuple[str, str, str]:
    return number(before, unit), number(after, unit), change(difference, unit)


def _evidence(each: MetricChange, unit: Unit) -> tuple[str, str, str]:
    """Interval, adjusted p and detectable effect."""
    evidence = each.evidence
    if evidence is None or evidence.low is None or evidence.high is None:
        return NOTHING, NOTHING, NOTHING
    return (
        _ends(evidence.low, evidence.high, unit),
        probability(evidence.adjusted_p),
        change(evidence.minimum_detectable_effect, unit).lstrip("+±"),
    )


def _ends(low: float | None, high: float | None, unit: Unit) -> str:
    return NOTHING if low is None or high is None else f"{change(low, unit)} … {change(high, unit)}"


def _zone_change(each: MetricChange) -> str:
    if each.zone_before == each.zone_after:
        return each.zone_after or ""
    return f"{each.zone_before or NOTHING} → {each.zone_after or NOTHING}"


def _verdict(verdict: str) -> Cell:
    return Cell(verdict, VERDICT_COLOURS.get(verdict, ""))


def weight_table(suite: Suite, comparison: Comparison) -> Table:
    """The metrics of which one case holds much, and what they are without its weight."""
    unit = units(suite)
    weighed = [
        (each, each.evidence)
        for each in comparison.metrics
        if each.evidence and each.evidence.heavy and each.verdict != "identical"
    ]
    return Table(
        (
            "metric",
            "difference",
            "on equal case weights",
            "without the heaviest case",
            "heaviest",
            "carried by",
        ),
        [
            (
                each.metric,
                change(each.difference, unit[each.metric]),
                change(evidence.heavy.equal_weights, unit[each.metric]),
                change(evidence.heavy.without, unit[each.metric]),
                f"{evidence.heavy.case_id} ({number(evidence.heavy.share)})",
                ", ".join(
                    f"{case.case_id} {change(case.difference, unit[each.metric])}"
                    for case in evidence.carried_by
                ),
            )
            for each, evidence in weighed
            if evidence.heavy
        ],
        "Pooled metrics of which one case holds more than a tenth",
    )


def tests_tables(suite: Suite, comparison: Comparison) -> list[Table]:
    """The test that was asked for, beside the verdicts; nothing where none was."""
    unit = units(suite)
    changes = {each.metric: each for each in comparison.metrics}
    if not comparison.tests:
        return []
    first = comparison.tests[0]
    rows = [
        (
            each.metric,
            change(changes[each.metric].difference, unit[each.metric]),
            number(each.statistic, "number"),
            probability(each.p_value),
            _ends(each.low, each.high, unit[each.metric]),
            "not applicable" if each.significant is None else "yes" if each.significant else "no",
            _verdict(changes[each.metric].verdict),
            each.reason,
        )
        for each in comparison.tests
    ]
    interval = f"{limit(1 - first.alpha)} CI"
    header = ("metric", "difference", "statistic", "p", interval, "significant", "verdict", "")
    note = (
        "Each metric by itself, two-sided, not corrected for their number. It informs; the verdict decides."
    )
    return [Table(header, rows, f"{first.test} at alpha {first.alpha:g}", note)]


def group_table(suite: Suite, comparison: Comparison) -> Table:
    """The groups that moved by more than chance explains."""
    unit, moved = units(suite), comparison.moved_groups
    size = counted(len(comparison.groups), "combination")
    return Table(
        ("group", "metric", *CHANGE, "cases", "adjusted p", "verdict"),
        [
            (
                f"{each.axis} {each.group or NOTHING}",
                each.metric,
                *_moved(each.before, each.after, each.difference, unit[each.metric]),
                f"{each.cases:,}",
                probability(each.adjusted_p),
                _verdict(each.verdict),
            )
            for each in moved[:MOST_CASES]
        ],
        f"Groups that moved by more than chance explains, of {size} of group and metric",
        f"{MOST_CASES} of {len(moved):,}." if len(moved) > MOST_CASES else "",
    )


def moved_tables(suite: Suite, comparison: Comparison) -> list[Table]:
    """What weighs much, the groups that moved, and the cases by the headline metric; nothing if none did."""
    unit = units(suite)[suite.headline]
    cases = [
        Table(
            ("case", *CHANGE),
            [
                (each.case_id, *_moved(each.before, each.after, each.difference, unit))
                for each in changes[:MOST_CASES]
            ],
            f"Cases that {verdict} ({suite.headline})",
            f"{MOST_CASES} of {len(changes):,}." if len(changes) > MOST_CASES else "",
        )
        for verdict, changes in (("regressed", comparison.regressed), ("improved", comparison.improved))
    ]
    tables_ = (weight_table(suite, comparison), group_table(suite, comparison), *cases)
    return [each for each in tables_ if each.rows]


def reading_lines(comparison: Comparison) -> list[str]:
    """What the suite's document makes of a comparison."""
    return [each.text for each in comparison.readings]


def example_text(suite: Suite, comparison: Comparison) -> str:
    """The cases that fell the most, with input, expectation and both answers; nothing where none fell."""
    unit = units(suite)[suite.headline]
    changes = {each.case_id: each for each in comparison.regressed}
    parts = []
    for each in comparison.examples:
        before, after, _ = _moved(changes[each.case_id].before, changes[each.case_id].after, None, unit)
        texts = {"input": each.input, "expected": each.expected, "before": each.before, "after": each.after}
        lines = bullets(f"{name}: {plain(text, LONGEST_EXAMPLE)}" for name, text in texts.items())
        parts.append(f"**{plain(each.case_id)}** ({suite.headline} {before} → {after})\n\n{lines}")
    return "\n\n".join(parts)


def left_out(comparison: Comparison) -> list[str]:
    """The cases that could not be compared, one sentence for each reason."""
    return [
        f"{title} ({len(names):,}): {', '.join(names[:MOST_CASES])}{' …' * (len(names) > MOST_CASES)}."
        for title, names in (
            ("New cases, not compared", comparison.appeared),
            ("Cases that vanished", comparison.vanished),
            ("Cases whose input changed, not compared", comparison.changed),
        )
        if names
    ]


def comparison_text(suite: Suite, standing: Standing) -> str:
    """A comparison in full."""
    comparison = standing.comparison
    parts = [
        plain(standing.conclusion, 2000),
        bullets(plain(line, 1000) for line in (*reading_lines(comparison), *comparison.notes)),
        table(comparison_table(suite, comparison)),
        tables(moved_tables(suite, comparison)) or "No case moved, nor a group beyond chance.",
        *(plain(line, 1000) for line in left_out(comparison)),
    ]
    return "\n\n".join(filter(None, parts))
