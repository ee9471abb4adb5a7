"""The weekly page of a suite: what the week brought, with its charts."""

import datetime
from collections.abc import Iterator, Sequence

from eval_pipeline.comparison import comparable, metric_trends
from eval_pipeline.decisions import Incident, SuiteSurvey, Survey, VersionSurvey
from eval_pipeline.numbers import change, counted, moment, number
from eval_pipeline.reports.history import history_table
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.page.html import Html, bullets, command, element, joined, section, table
from eval_pipeline.reports.page.shell import document, main, masthead
from eval_pipeline.reports.page.trends import prompts_of, trend_figures
from eval_pipeline.reports.page.verdicts import LONGEST_LINE, Links, verdict
from eval_pipeline.reports.rows import Table
from eval_pipeline.reports.standing import cost_table, incident_table, side_table
from eval_pipeline.reports.tables import trend_table, units
from eval_pipeline.scoring import WORST_CASES, Point
from eval_pipeline.suite import Suite

WEEK = datetime.timedelta(days=7)
MOST_EVALUATIONS = 20


def week_name(at: datetime.datetime) -> str:
    """How the page of a week is called: `2026-W47`."""
    year, week, _ = at.isocalendar()
    return f"{year}-W{week:02}"


def weekly(each: SuiteSurvey, survey: Survey, links: Links) -> str:
    """The whole page. What happened in the seven days before it was written is of the week."""
    at = survey.at.isoformat(timespec="seconds")
    begin = (survey.at - WEEK).isoformat(timespec="seconds")
    title = f"{each.name}: the week to {at[:10]}"
    back = element("a", "all suites", href=links.dashboard)
    content = _content(each, each.suite, survey, begin, links) if each.suite else _broken(each)
    when = element("span", "as of ", element("time", moment(at), datetime=at), class_="muted")
    return document(title, joined([masthead(title, back, when), main(*content)]))


def _broken(each: SuiteSurvey) -> Iterator[Html]:
    yield element("p", "✗ The suite cannot be loaded, so nothing of it is evaluated.", class_="red")
    yield bullets(flat(problem, LONGEST_LINE) for problem in each.problems)


def _content(each: SuiteSurvey, suite: Suite, survey: Survey, begin: str, links: Links) -> Iterator[Html]:
    yield element("p", suite.description)
    for version in each.active:
        yield verdict(each.name, version, links)
    if not each.active:
        yield element("p", "⚠ No version is active.", class_="yellow")
    for prompt in prompts_of(each):
        yield section(f"Trends of {prompt}", trend_figures(each, suite, prompt))
    for version in each.active:
        yield section(f"The week of {version.version}", *_week(each, suite, version, begin), level=2)
    if each.points:
        yield section("Versions and engines side by side", table(side_table(each, suite, survey.at), "sides"))
    for version in each.active:
        yield section(f"Cases of {version.version} to look at", _cases(each, suite, version))
    yield section("Evaluations of the week", _evaluations(each, suite, begin))
    yield section("Incidents of the week", _incidents(each.name, survey.incidents, begin))
    usage = [row for row in survey.usage if row.suite == each.name and row.day >= begin[:10]]
    none = element("p", "No metered call this week.")
    yield section("What metered calls cost this week", table(cost_table(usage)) if usage else none)


def _week(each: SuiteSurvey, suite: Suite, version: VersionSurvey, begin: str) -> Iterator[Html]:
    """How gated metrics moved over the evaluations that can be compared with the latest one."""
    evaluation = version.evaluation
    latest = [point for point in each.points if evaluation and point.evaluation == evaluation.id]
    alike = comparable(each.points, latest[-1]) if latest else []
    if not alike:
        yield element("p", "There is no complete evaluation to look back from.")
        return
    trends = metric_trends(suite, each.gates, alike)
    yield bullets(f"⚠ {one.text}" for one in trends if one.trend.alarm)
    over = f"Trends over {counted(len(alike), 'evaluation')}"
    both = (week_table(each, suite, alike, begin), trend_table(trends)._replace(title=over))
    yield element("div", *(element("div", table(one)) for one in both), class_="pair")


def week_table(each: SuiteSurvey, suite: Suite, alike: Sequence[Point], begin: str) -> Table:
    """Gated metrics before the week and at its end; the first of the week where there is none before."""
    earlier = [point for point in alike if point.evaluated_at < begin]
    first, last = (earlier or alike)[-1 if earlier else 0], alike[-1]
    unit = units(suite)
    rows = []
    for name in (name for name in each.gates if name in unit):
        before, after = first.metrics.get(name), last.metrics.get(name)
        moved = after - before if before is not None and after is not None else None
        rows.append((name, number(before, unit[name]), number(after, unit[name]), change(moved, unit[name])))
    same = "They are one and the same: nothing was asked anew since." if first is last else ""
    header = ("metric", f"before ({first.evaluated_at[:10]})", f"now ({last.evaluated_at[:10]})", "change")
    return Table(header, rows, "Since the week began", same)


def _cases(each: SuiteSurvey, suite: Suite, version: VersionSurvey) -> Html:
    evaluation = version.evaluation
    if evaluation is None:
        return element("p", "It was never evaluated.")
    unit = units(suite)[suite.headline]
    rows = [
        (
            case.case_id,
            number(case.headline, unit),
            f"{case.passed:,} of {case.trials:,}",
            ", ".join(case.errors),
        )
        for case in evaluation.case_results[:WORST_CASES]
    ]
    errors = ", ".join(f"{count:,} × {kind}" for kind, count in evaluation.summary.errors.items())
    note = f"Errors: {errors}." if errors else "No answer was an error."
    shown = table(Table(("lowest case", suite.headline, "trials passed", "errors"), rows, note=note))
    return joined([shown, command(f"eval-pipeline report {each.name} {version.version} --open")])


def _evaluations(each: SuiteSurvey, suite: Suite, begin: str) -> Html:
    points = [point for point in each.points if point.evaluated_at >= begin]
    if not points:
        return element("p", "✗ Nothing was evaluated this week.", class_="red")
    more = len(points) - MOST_EVALUATIONS
    note = (
        f"{more:,} earlier ones are left out: eval-pipeline history {each.name} --replays."
        if more > 0
        else ""
    )
    return table(history_table(suite, each.gates, points[-MOST_EVALUATIONS:])._replace(note=note))


def _incidents(suite: str, incidents: Sequence[Incident], begin: str) -> Html:
    """Those that were open at some time of the week."""
    since = datetime.datetime.fromisoformat(begin).timestamp()
    of_week = [
        each
        for each in incidents
        if each.suite == suite and (each.closed_at is None or each.closed_at >= since)
    ]
    return table(incident_table(of_week)) if of_week else element("p", "There were none.")
