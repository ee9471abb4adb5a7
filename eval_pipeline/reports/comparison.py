"""A comparison for people."""

from __future__ import annotations

from collections.abc import Sequence

from eval_pipeline.comparison import CaseChange, Comparison, MetricChange
from eval_pipeline.decisions import Standing
from eval_pipeline.numbers import NOTHING, Unit, change, counted, number, probability
from eval_pipeline.reports.markdown import bullets, plain, table
from eval_pipeline.reports.tables import units
from eval_pipeline.suite import Suite


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


def comparison_text(suite: Suite, standing: Standing) -> str:
    """A comparison in full."""
    comparison = standing.comparison
    parts = [
        f"**{comparison.verdict}**, action: **{comparison.action.replace('_', ' ')}**"
        f"{', **approved**' if standing.approved else ''}. {plain(standing.sentence, 1000)}",
        bullets(plain(each.summary, 1000) for each in standing.approvals),
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
