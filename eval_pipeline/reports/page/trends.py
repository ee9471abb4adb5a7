"""The trends of a prompt's gated metrics, as figures of a page."""

from collections.abc import Iterator, Sequence

from eval_pipeline.decisions import SuiteSurvey, VersionSurvey
from eval_pipeline.numbers import counted, number
from eval_pipeline.prompts import prompt_name
from eval_pipeline.reports.charts import inline
from eval_pipeline.reports.page.html import Html, cell, element, joined
from eval_pipeline.reports.rows import Cell
from eval_pipeline.reports.standing import gated_value
from eval_pipeline.reports.tables import units
from eval_pipeline.reports.trend_lines import legend_of
from eval_pipeline.reports.trends import Course, course, undrawn
from eval_pipeline.scoring import Point
from eval_pipeline.suite import Suite


def prompts_of(each: SuiteSurvey) -> list[str]:
    """The prompts of a suite, those that are gone included."""
    versions = [*(version.version for version in each.versions), *(point.version for point in each.points)]
    return list(dict.fromkeys(map(prompt_name, versions)))


def trend_figures(each: SuiteSurvey, suite: Suite, prompt: str) -> Html:
    """A chart for each gated metric of a prompt, with one legend for all; in words what is not drawn."""
    points = [point for point in each.points if prompt_name(point.version) == prompt]
    active = next((version for version in each.active if prompt_name(version.version) == prompt), None)
    names = [name for name in each.gates if name in units(suite)]
    drawn = {
        name: course(
            suite,
            name,
            each.gates[name],
            points,
            baseline=_baseline(each, active, prompt, name),
            active=[active.version] if active else (),
        )
        for name in names
    }
    there = {name: one for name, one in drawn.items() if one is not None}
    figures = [element("div", *_figures(there, active, points), class_="trends")] if there else []
    legend = [_legend(list(there.values()))] if there else []
    return joined([*legend, *figures, *_left_out(points, [name for name in names if name not in there])])


def _baseline(each: SuiteSurvey, active: VersionSurvey | None, prompt: str, metric: str) -> float | None:
    """What the baseline has: by today's scoring where the active version was compared with it."""
    standing = active.standings.baseline if active else None
    if prompt not in each.baselines:
        return None
    if standing is not None:
        for change in standing.comparison.metrics:
            if change.metric == metric:
                return change.before
    return each.baselines[prompt].metrics.get(metric)


def _legend(courses: Sequence[Course]) -> Html:
    longest = max(courses, key=lambda one: len(one.lines))
    baseline = any(one.baseline is not None for one in courses)
    keys = legend_of(longest.lines, baseline=baseline)
    return element(
        "ul",
        *(element("li", Html(inline(key.svg, f"drawn like this: {key.name}")), key.name) for key in keys),
        class_="keys",
    )


def _figures(
    courses: dict[str, Course], active: VersionSurvey | None, points: Sequence[Point]
) -> Iterator[Html]:
    evaluation = active.evaluation if active else None
    known = {gate.metric: gate for gate in evaluation.summary.gates} if evaluation else {}
    latest = [point for point in points if evaluation and point.evaluation == evaluation.id]
    for name, one in courses.items():
        value = cell(gated_value(known[name], known[name].value, one.unit)) if name in known else ""
        beside = []
        if latest and name in latest[-1].intervals:
            low, high = latest[-1].intervals[name]
            beside.append(f"95 % CI {number(low, one.unit)} to {number(high, one.unit)}")
        if one.baseline is not None:
            beside.append(f"baseline {number(one.baseline, one.unit)}")
        caption = element(
            "figcaption",
            element("b", name),
            element("span", value, class_="value"),
            element("span", "; ".join([*beside, *one.notes]), class_="more"),
        )
        yield element("figure", caption, Html(inline(one.svg(), _described(one))), class_="trend")


def _described(one: Course) -> str:
    """A chart in words, for whoever does not see it."""
    marks = [mark for line in one.lines for mark in line.marks]
    values = [mark.value for mark in marks]
    latest = max(marks, key=lambda mark: mark.place)
    ends = f"from {number(min(values), one.unit)} to {number(max(values), one.unit)}"
    return (
        f"{one.metric}: {counted(len(marks), 'value')} in {counted(len(one.lines), 'line')}, {ends}, "
        f"the latest {number(latest.value, one.unit)}"
    )


def _left_out(points: Sequence[Point], without: Sequence[str]) -> Iterator[Html]:
    parts = undrawn(points)
    if parts:
        yield element("p", f"Not drawn: {', '.join(parts)}.", class_="note")
    if without and points:
        yield cell(Cell(f"No value yet: {', '.join(without)}.", "dim"))
