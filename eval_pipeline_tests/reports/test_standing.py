"""Rows over a project: how versions stand, how old numbers are, what waits, what was spent."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import pytest

from eval_pipeline.decisions import Finding, Incident, SuiteSurvey, Survey, survey_of
from eval_pipeline.engines import Usage
from eval_pipeline.project import Project
from eval_pipeline.reports import incident_table, spent, stand_table, stands
from eval_pipeline.reports.standing import MOST_ROWS, Task, cost_table, side_table, sides, since, tasks
from eval_pipeline_tests.surveying import VERSION, evaluate, freeze, point

NOW = datetime.datetime(2026, 2, 1, 12, tzinfo=datetime.UTC)


def usage(day: str, calls: int = 1, dollars: float | None = 0.5, suite: str = "toy") -> Usage:
    return Usage(suite, VERSION, day, "gpt", calls, 10, 5, dollars, 0)


def surveyed(project: Project) -> tuple[Survey, SuiteSurvey]:
    found = survey_of(project, NOW)
    return found, found.suites[0]


def told(waiting: list[Task]) -> list[tuple[str, str]]:
    return [(task.sign.text, task.what) for task in waiting]


def test_a_version_that_was_never_evaluated_says_how_to(toy: Project) -> None:
    found, _ = surveyed(toy)
    (row,) = stands(found)
    assert (row.state, row.verdict.text) == ("unknown", "✗ was never evaluated")
    assert row.reason == f"Run: eval-pipeline run toy --prompt {VERSION}"
    assert row.against.text == "⚠ no baseline"
    assert told(tasks(found)) == [
        ("✗", f"{VERSION} was never evaluated"),
        ("⚠", "guess has no baseline"),
        ("⚠", "the golden set is not signed off: it was never signed off"),
    ]


def test_a_version_stands_in_the_words_of_its_report(toy: Project) -> None:
    freeze(evaluate(toy))
    evaluate(toy, run="run-2")
    found, _ = surveyed(toy)
    (row,) = stands(found)
    assert row.verdict.text == "⚠ passes with warnings"
    assert (row.headline.text, row.headline.colour) == ("accuracy 75.0 % ⚠", "yellow")
    assert row.against.text == "identical, ±0.0 pp"
    assert row.reason == "accuracy: 75.0 % is between fail (< 50 %) and pass (>= 80 %)"
    assert stand_table([row], NOW).rows[0][:4] == ("toy", row.verdict, VERSION, "embedded")


def test_a_blocked_version_is_to_be_investigated(toy: Project) -> None:
    gates = toy.golden("toy") / "gates.yaml"
    gates.write_text(gates.read_text().replace('"< 0.5"', '"< 0.78"'))
    evaluate(toy)
    found, _ = surveyed(toy)
    first = tasks(found)[0]
    assert first.what.startswith(f"{VERSION} is blocked: accuracy: 75.0 % is in the fail zone")
    assert first.command == f"eval-pipeline investigate toy {VERSION}"


def test_a_suite_that_cannot_be_loaded_or_has_no_active_version_has_a_row(toy: Project) -> None:
    prompt = toy.prompts("toy") / f"{VERSION}.md"
    prompt.write_text(prompt.read_text().replace("active", "candidate"))
    found, each = surveyed(toy)
    assert [(row.state, row.verdict.text) for row in stands(found)] == [("broken", "⚠ no version is active")]
    broken = replace(found, suites=(replace(each, suite=None, problems=("it raises",)),))  # type: ignore[arg-type]
    assert [(row.verdict.text, row.reason) for row in stands(broken)] == [("✗ cannot be loaded", "it raises")]
    assert told(tasks(broken)) == [("✗", "it raises")]


def test_what_changed_since_and_what_departed_waits_for_somebody(toy: Project) -> None:
    freeze(evaluate(toy))
    evaluate(toy, run="run-2")
    prompt = toy.prompts("toy") / f"{VERSION}.md"
    prompt.write_text(prompt.read_text() + "\nBe brief.\n")
    (toy.state / "evaluations" / "departed" / "v1").mkdir(parents=True)
    found, _ = surveyed(toy)
    assert told(tasks(found)) == [
        ("⚠", f"{VERSION}: since it was evaluated the prompt was edited"),
        ("⚠", "the golden set is not signed off: it was never signed off"),
        ("⚠", "left results, and is no suite any more: they are not shown"),
    ]


def side_by_side(toy: Project, *points: Any) -> SuiteSurvey:
    _, each = surveyed(toy)
    return replace(each, points=points)


def test_versions_and_engines_stand_side_by_side_with_the_latest_of_each(toy: Project) -> None:
    each = side_by_side(
        toy,
        point(0, 0.7),
        point(1, 0.9, engine="gpt"),
        point(2, 0.4, version="guess-v2.0"),
        point(3, 0.75),
        point(4, 0.8, engine="gpt", incomplete=True),
    )
    assert [(side.point.version, side.point.engine) for side in sides(each)] == [
        (VERSION, "gpt"),
        (VERSION, "embedded"),
        ("guess-v2.0", "embedded"),
    ]
    assert each.suite is not None
    shown = side_table(each, each.suite, NOW)
    assert shown.header[7:] == ("accuracy", "error_rate")
    accuracy = [row[7] for row in shown.rows]
    assert [cell[0] for cell in accuracy] == ["–", "75.0 % ⚠", "40.0 % ✗"]  # nothing of an incomplete one
    assert [row[1] for row in shown.rows] == ["active", "active", "file is gone"]
    assert [row[6] for row in shown.rows] == ["27 days", "28 days", "29 days"]
    assert shown.rows[0][2][0] == "✗ is incomplete"


def test_many_versions_are_bounded_and_it_is_said(toy: Project) -> None:
    many = [point(0, 0.7, version=f"guess-v1.{number}") for number in range(MOST_ROWS + 12)]
    each = side_by_side(toy, *many)
    assert each.suite is not None
    shown = side_table(each, each.suite, NOW)
    assert len(shown.rows) == MOST_ROWS
    assert "12 more are left out: eval-pipeline history toy." in shown.note


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-02-01T11:59:30+00:00", "just now"),
        ("2026-02-01T11:01:00+00:00", "59 min"),
        ("2026-02-01T11:00:00+00:00", "1 h"),
        ("2026-01-30T12:01:00+00:00", "47 h"),
        ("2026-01-30T12:00:00+00:00", "2 days"),
        ("2026-02-01T13:00:00+01:00", "just now"),
        ("2026-02-09T12:00:00+00:00", "just now"),  # a clock that was wrong
        ("", "–"),
    ],
)
def test_an_age_is_what_people_say(moment: str, expected: str) -> None:
    assert since(moment, NOW) == expected


def test_costs_are_summed_by_day_and_what_nobody_knows_is_said() -> None:
    rows = [usage("2026-01-01"), usage("2026-01-02", 3, None, "other"), usage("2026-01-02", 2, 1.25)]
    shown = cost_table(rows)
    assert shown.rows == [
        ("2026-01-02", "5", "20", "10", "$1.2500 and 3 calls of unknown cost", "other, toy"),
        ("2026-01-01", "1", "10", "5", "$0.5000", "toy"),
    ]
    assert spent([usage("2026-01-01", 3, None)]) == "an unknown cost"
    assert cost_table(rows, most=1).note == "1 earlier days are left out: eval-pipeline journal stats."


def test_incidents_are_rows_in_their_order() -> None:
    finding = Finding("trend", "critical", "a\nb")
    incidents = [
        Incident(2, "toy v1", "critical", 86400.0, None, 1, (finding,)),
        Incident(1, "toy v1", "warning", 0.0, 3600.0, 0, ()),
    ]
    first, second = incident_table(incidents).rows
    assert first[0][0] == "open"
    assert first[2:] == ("toy v1", "1970-01-02 00:00", "", "1", "trend: a b")
    assert second[:5] == ("closed", "warning", "toy v1", "1970-01-01 00:00", "1970-01-01 01:00")
