"""From hours of production to incidents, and from incidents to paused deployments."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.decisions import (
    Finding,
    Incident,
    Incidents,
    Look,
    is_production_known,
    look_at_production,
    open_incidents,
    paused_by,
    production,
    watched_now,
)
from eval_pipeline.monitoring import MeasuredDay, event_table, measure_day, reads_figures
from eval_pipeline.monitoring.simulating import INCIDENT_HOURS, Plan, simulated_day
from eval_pipeline.project import Project
from eval_pipeline.store import database_url
from eval_pipeline.suite.production import HALLUCINATION
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.decisions.test_objections import approval
from eval_pipeline_tests.monitoring.served import DAY, EVERYTHING, HOUR, LATER, MONDAY, opened, served
from eval_pipeline_tests.monitoring.test_quality import SUITE

FAILING = range(2 * 60, 4 * 60)
"""Minutes of the day in which every tenth request fails."""


def requests(hours: int = 8) -> list[dict[str, Any]]:
    """One a minute, of which many fail for two hours."""
    return [
        served(number, error="timeout" if number in FAILING and number % 10 == 0 else None)
        for number in range(hours * 60)
    ]


def keep(state: Path, rows: list[dict[str, Any]], name: str = "kept") -> Project:
    project, store = opened(state)
    with store:
        store.keep(event_table(rows), name=name)
    return project


def look(project: Project) -> bool:
    return look_at_production(project, [SUITE], EVERYTHING, LATER)


def incidents(project: Project) -> list[Incident]:
    with Incidents(database_url(project)) as stored:
        return stored.all()


def moment(seconds: float | None) -> datetime.datetime:
    assert seconds is not None
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)


def test_a_planted_incident_raises_its_alert_and_no_other(tmp_path: Path) -> None:
    project = keep(tmp_path, requests())
    assert look(project)
    (found,) = incidents(project)
    assert found.subject == "decomposition production error_rate"
    assert (found.suite, found.severity, found.in_production) == ("decomposition", "critical", True)
    assert moment(found.opened_at) == MONDAY + 3 * HOUR
    assert moment(found.closed_at) == MONDAY + 5 * HOUR
    assert not look(project)


def test_the_simulators_incident_raises_the_right_alerts_and_no_others(tmp_path: Path) -> None:
    plan = Plan("decomposition", ["v1"], MONDAY.date(), 2, 2000, seed=1)
    rows = [
        {name: value for name, value in each.items() if name != "feedback"}
        | {"at": datetime.datetime.fromisoformat(each["at"])}
        for number in range(plan.days)
        for each in simulated_day(plan, plan.first + number * DAY)
    ]
    project = keep(tmp_path, rows)
    look(project)
    found = {each.subject.rpartition(" ")[2]: each for each in incidents(project)}
    assert {name: each.severity for name, each in found.items()} == {
        "error_rate": "critical",
        "latency_p95_ms": "warning",
    }
    for each in found.values():
        assert moment(each.opened_at) == MONDAY + (INCIDENT_HOURS[0] + 1) * HOUR
        assert moment(each.closed_at) == MONDAY + (INCIDENT_HOURS[-1] + 2) * HOUR


def test_watched_hour_by_hour_it_is_the_same_incident(tmp_path: Path) -> None:
    for hour in range(8):
        rows = [each for each in requests() if each["at"] < MONDAY + (hour + 1) * HOUR]
        project = keep(tmp_path, rows, str(hour))
        look(project)
        is_open = bool(open_incidents(project, "decomposition"))
        assert is_open is (hour in (2, 3))
    (found,) = incidents(project)
    assert (moment(found.opened_at), moment(found.closed_at)) == (MONDAY + 3 * HOUR, MONDAY + 5 * HOUR)
    assert found.relapses == 0


def test_hours_of_few_requests_neither_open_nor_close(tmp_path: Path) -> None:
    quiet = [served(number, at=MONDAY + 4 * HOUR + number * HOUR / 20) for number in range(1000, 1010)]
    project = keep(tmp_path, [*requests(4), *quiet])
    look(project)
    (found,) = incidents(project)
    assert found.closed_at is None


def test_made_up_concepts_open_a_critical_incident_and_better_answers_close_it(tmp_path: Path) -> None:
    project, store = opened(tmp_path)
    with store:
        for day in range(16):
            at = MONDAY + day * DAY
            rows = [
                served(day * 100 + number, int(day < 2), at=at + number * HOUR / 10) for number in range(40)
            ]
            store.keep(event_table(rows), name=str(day))
            measure_day(project, store, SUITE, at.date(), EVERYTHING, LATER)
            look(project)
            assert bool(open_incidents(project, "decomposition")) is (day < 8)
    (found,) = incidents(project)
    assert found.subject == f"decomposition production {HALLUCINATION}"
    assert moment(found.opened_at) == MONDAY + DAY
    assert not look(project)


def an_hour(week: int, failed: bool) -> list[dict[str, Any]]:
    """An hour of requests at ten on a Monday, of which half failed, or none."""
    at = MONDAY + 7 * week * DAY + 10 * HOUR
    errors = ("timeout", None) if failed else (None, None)
    return [
        served(number, request_id=f"{week}-{number}", at=at + number * HOUR / 60, error=errors[number % 2])
        for number in range(60)
    ]


def test_good_hours_that_arrive_late_close_no_incident(tmp_path: Path) -> None:
    look(keep(tmp_path, an_hour(1, failed=True), "new"))
    project = keep(tmp_path, an_hour(0, failed=False), "late")
    assert not look(project)
    (found,) = incidents(project)
    assert (moment(found.opened_at), found.closed_at) == (MONDAY + 7 * DAY + 11 * HOUR, None)
    with Incidents(database_url(project)) as stored:
        assert [each.kind for each in stored.undelivered()] == ["opened"]
    assert look(keep(tmp_path, an_hour(2, failed=False), "next"))
    (found,) = incidents(project)
    assert moment(found.closed_at) == MONDAY + 14 * DAY + 11 * HOUR


def test_bad_hours_that_arrive_late_open_none(tmp_path: Path) -> None:
    look(keep(tmp_path, an_hour(1, failed=False), "new"))
    project = keep(tmp_path, an_hour(0, failed=True), "late")
    assert not look(project)
    assert incidents(project) == []


@pytest.mark.parametrize("made_up", [0, 1])
def test_days_that_are_measured_late_neither_open_nor_close(tmp_path: Path, made_up: int) -> None:
    project, store = opened(tmp_path)
    with store:
        for day, wrong in ((20, 1 - made_up), (0, made_up)):
            at = MONDAY + day * DAY
            rows = [served(day * 100 + number, wrong, at=at + number * HOUR / 10) for number in range(40)]
            store.keep(event_table(rows), name=str(day))
            measure_day(project, store, SUITE, at.date(), EVERYTHING, LATER)
            look(project)
    found = [(moment(each.opened_at), each.closed_at) for each in incidents(project)]
    assert found == ([] if made_up else [(MONDAY + 21 * DAY, None)])


def test_a_look_that_another_one_overtook_changes_nothing(tmp_path: Path) -> None:
    subject, finding = "toy production error_rate", Finding("error_rate", "critical", "10 % fail.")
    with Incidents(f"sqlite:///{tmp_path}/journal.sqlite") as stored:
        assert stored.look_at_all(Look("production toy", "2026-03-02T10", "abc"), {subject: [finding]})
        assert not stored.look_at_all(Look("production toy", "2026-03-02T09"), {subject: []})
        assert not stored.look_at_all(Look("production toy rate", "2026-03-09"), {})
        assert stored.look_at_all(Look("production toy", "2026-03-02T10"), {subject: []})


def test_what_is_watched_now(tmp_path: Path) -> None:
    project = keep(tmp_path, requests(4))
    states = {each.alert.name: each.state for each in watched_now(project, SUITE, EVERYTHING)}
    assert states["error_rate"] == "crossed"
    assert states["latency_p95_ms"] == "kept"
    assert states[HALLUCINATION] == "unsure"
    assert list(states) == [each.alert.name for each in watched_now(project, SUITE, EVERYTHING)]
    assert watched_now(Project(REPOSITORY, tmp_path / "other"), SUITE, EVERYTHING) == []


@pytest.mark.parametrize("hour", [0, 10, 23])
def test_windows_of_samples_have_as_many_days_at_every_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hour: int
) -> None:
    project = keep(tmp_path, [served(1, at=MONDAY + 6 * DAY + hour * HOUR)])
    asked = []

    def measured(_: Project, __: str, first: datetime.date, last: datetime.date) -> list[MeasuredDay]:
        asked.append((last - first).days + 1)
        return []

    monkeypatch.setattr(production, "measured_days", measured)
    of_samples = [
        each.alert.window // DAY
        for each in watched_now(project, SUITE, EVERYTHING)
        if not reads_figures(each.alert)
    ]
    assert asked == of_samples
    assert asked


def test_without_a_shared_database_or_events_nobody_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = Project(REPOSITORY, tmp_path / "empty")
    assert not is_production_known(empty)
    assert open_incidents(empty, "decomposition") is None
    assert is_production_known(keep(tmp_path / "full", requests(1)))
    monkeypatch.setenv("EVAL_PIPELINE_JOURNAL", f"sqlite:///{tmp_path}/shared.sqlite")
    assert is_production_known(empty)
    assert open_incidents(empty, "decomposition") == []


def incident(number: int, severity: Any = "critical", closed: float | None = None) -> Incident:
    finding = Finding("error_rate", severity, "10 % fail.")
    return Incident(number, "toy production error_rate", severity, 0.0, closed, 0, (finding,))


def test_open_critical_incidents_pause_deployments() -> None:
    against = paused_by([incident(7), incident(8, "warning"), incident(9, closed=1.0)])
    assert [(each.metrics, each.weight) for each in against] == [(("incident-7",), "blocks")]
    assert against.state == "block"
    assert "deployments are paused while incident-7 is open: 10 % fail." in against[0].text


def test_an_approval_that_names_the_incident_lets_its_fix_through() -> None:
    assert paused_by([incident(7)], [approval("incident-7")]).state == "approved"
    assert paused_by([incident(7)], [approval("incident-8")]).state == "block"
    assert paused_by([incident(7), incident(8)], [approval("incident-7")]).state == "block"


def test_names_that_look_alike_are_other_suites(tmp_path: Path) -> None:
    with Incidents(f"sqlite:///{tmp_path}/journal.sqlite") as stored:
        finding = Finding("error_rate", "critical", "10 % fail.")
        look = Look("look", "2026-03-02T09")
        stored.look_at_all(look, {"toy_2 production error_rate": [finding]})
        assert stored.open_in_production("toy") == []
        assert stored.open_in_production("toyx2") == []
        assert [each.number for each in stored.open_in_production("toy_2")] == [1]
        assert not stored.look_at_all(look, {"toy production error_rate": [finding]})
