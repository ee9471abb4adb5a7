"""The weekly page: what the week brought, also where it brought nothing."""

from __future__ import annotations

import dataclasses
import datetime

import pytest

from eval_pipeline.decisions import Finding, Incident, SuiteSurvey, Survey, survey_of
from eval_pipeline.project import Project
from eval_pipeline.reports.page.verdicts import Links
from eval_pipeline.reports.page.weekly import week_name, week_table, weekly
from eval_pipeline.suites import suite_names
from eval_pipeline_tests.surveying import VERSION, evaluate, point

NOW = datetime.datetime(2026, 1, 20, 4, tzinfo=datetime.UTC)
BEGIN = "2026-01-13T04:00:00+00:00"


def page(found: Survey, each: SuiteSurvey, project: Project) -> str:
    return weekly(each, found, Links(project.state, project.state / "weekly" / each.name))


@pytest.mark.parametrize(
    ("day", "name"), [("2026-11-17", "2026-W47"), ("2026-01-01", "2026-W01"), ("2027-01-01", "2026-W53")]
)
def test_a_page_is_named_by_its_week(day: str, name: str) -> None:
    assert week_name(datetime.datetime.fromisoformat(f"{day}T04:00:00+00:00")) == name


def test_metrics_are_compared_with_the_last_evaluation_before_the_week(toy: Project) -> None:
    (each,) = survey_of(toy, NOW).suites
    assert each.suite is not None
    alike = [point(10, 0.7), point(11, 0.75), point(14, 0.9), point(18, 0.8)]
    shown = week_table(each, each.suite, alike, BEGIN)
    assert shown.header == ("metric", "before (2026-01-12)", "now (2026-01-19)", "change")
    assert shown.rows[0] == ("accuracy", "75.0 %", "80.0 %", "+5.0 pp")
    only = week_table(each, each.suite, alike[2:], BEGIN)
    assert only.rows[0] == ("accuracy", "90.0 %", "80.0 %", "−10.0 pp")
    assert "nothing was asked anew" in week_table(each, each.suite, alike[:1], BEGIN).note


def test_a_page_holds_the_verdict_charts_worst_cases_and_incidents(toy: Project) -> None:
    evaluate(toy)
    found = survey_of(toy)
    now = found.at.timestamp()
    finding = Finding("trend", "critical", "it slides")
    incidents = (
        Incident(2, f"toy {VERSION}", "critical", now - 86400, None, 0, (finding,)),
        Incident(1, f"toy {VERSION}", "critical", now - 99 * 86400, now - 98 * 86400, 0, (finding,)),
        Incident(3, "other v1", "critical", now, None, 0, ()),
    )
    found = dataclasses.replace(found, incidents=incidents)
    text = page(found, found.suites[0], toy)
    for said in (
        f">{VERSION}</a> passes with warnings",
        "<svg ",
        ">fox<",
        "trend: it slides",
        "No metered call",
    ):
        assert said in text
    assert text.count("it slides") == 1
    assert "other v1" not in text
    assert 'href="../../dashboard.html"' in text
    assert f'href="../../evaluations/toy/{VERSION}/' in text


def test_a_week_without_anything_says_so(toy: Project) -> None:
    found = survey_of(toy)
    text = page(found, found.suites[0], toy)
    for said in ("was never evaluated", "Nothing was evaluated this week", "There were none."):
        assert said in text


def test_a_suite_that_cannot_be_loaded_has_a_page_with_the_reason(toy: Project) -> None:
    (toy.root / "suites" / "toy" / "__init__.py").write_text("raise RuntimeError('<b>no</b>')\n")
    found = survey_of(toy)
    text = page(found, found.suites[0], toy)
    assert "RuntimeError: &lt;b&gt;no&lt;/b&gt;" in text


def test_every_shipped_suite_has_a_page(whole_project: Project) -> None:
    found = survey_of(whole_project)
    assert [each.name for each in found.suites] == suite_names(whole_project)
    for each in found.suites:
        assert f"{each.name}: the week to" in page(found, each, whole_project)
