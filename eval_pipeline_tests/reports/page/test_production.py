"""Production on the dashboard: the numbers of the command, names as text, and a bounded page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from eval_pipeline.decisions import Finding, Incident, Survey, look_at_production, survey_of
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import FIGURES, EventStore, Production, event_table, measure_day, open_ingest
from eval_pipeline.numbers import number
from eval_pipeline.project import Project
from eval_pipeline.reports.page.dashboard import dashboard
from eval_pipeline.reports.page.production import LATELY, production
from eval_pipeline.reports.page.verdicts import Links
from eval_pipeline.reports.panels import incidents_of, panels
from eval_pipeline_tests.browsing import browser
from eval_pipeline_tests.conftest import TOY, copy_toy
from eval_pipeline_tests.monitoring.events_of import HOUR, MONDAY, drop, flat
from eval_pipeline_tests.reports.page.test_dashboard import HOSTILE, in_browser
from eval_pipeline_tests.running import invoke

VERSIONS = ("guess-v1.0", HOSTILE)


def events() -> Iterator[dict[str, Any]]:
    """Two days, a request each minute; in two hours of the second one in four fails, and all take long."""
    for number_ in range(2 * 24 * 60):
        unwell = 34 <= number_ // 60 < 36
        failed = unwell and number_ % 4 == 0
        yield flat(
            number_,
            version=VERSIONS[number_ % 2],
            model=HOSTILE if number_ % 3 else "gpt",
            latency_ms=(9000.0 if unwell else 800.0) + number_ % 100,
            input_tokens=100,
            output_tokens=10 + number_ % 7,
            cost_usd=0.01,
            concepts=20,
            relationships=40,
            confidences=[0.8, 0.9],
            simulated=True,
            **({"error": HOSTILE} if failed else {"output": "4", "feedback": "up"}),
        )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A toy with two simulated days, whose incident was looked at and whose samples were measured."""
    made = copy_toy(TOY, tmp_path_factory.mktemp("production") / "project")
    drop(made, "two-days.jsonl", events())
    suite = find_suite(made, "toy")
    with open_ingest(made) as taking:
        list(taking.files(now=True))
        look_at_production(made, [suite], taking.production)
    with EventStore.of(made) as store:
        for day in store.days("toy"):
            measure_day(made, store, suite, day, Production())
    return made


@pytest.fixture(scope="module")
def survey(project: Project) -> Survey:
    return survey_of(project)


@pytest.fixture(scope="module")
def written(project: Project, survey: Survey) -> Path:
    path = project.state / "dashboard.html"
    path.write_text(dashboard(survey, Links(project.state, project.state)))
    return path


def asked(project: Project, *words: str) -> Any:
    """What a command says, as data."""
    return json.loads(invoke(project, *words, "--json").stdout)


def test_numbers_are_those_of_the_command(project: Project, survey: Survey, written: Path) -> None:
    (served,) = survey.served
    by_hour = asked(project, "production", "toy", "--days", "7", "--by", "hour")
    (week,) = asked(project, "production", "toy", "--days", "7")
    hours, days = panels(served, ())
    drawn = {panel.figure: panel for panel in (*hours, *days) if panel.figure}
    for name in ("requests_per_minute", "latency_p95_ms", "error_rate", "mean_confidence"):
        assert [mark.value for mark in drawn[name].lines[0].marks] == [
            row["figures"][name] for row in by_hour
        ]
        assert drawn[name].value == week["figures"][name]
    text = written.read_text()
    for name in LATELY:
        assert f'<span class="value">{number(week["figures"][name], FIGURES[name].unit)}</span>' in text
    groups = asked(project, "production", "toy", "--days", "7", "--by", "version", "--by", "model")
    assert {(each["version"], each["model"]): each["figures"] for each in groups} == {
        (each.version, each.model): each.values for each in served.groups
    }
    assert sum(each.requests for each in served.groups) == 2 * 24 * 60


def test_lines_of_versions_and_models_add_up(survey: Survey) -> None:
    (served,) = survey.served
    for step, whole in enumerate(served.hours.every):
        assert sum(of[step].requests for of in served.hours.groups.values()) == whole.requests == 60


def test_quality_is_that_of_the_command(project: Project, survey: Survey) -> None:
    (served,) = survey.served
    assert served.sampled is not None
    found = asked(project, "quality", "toy", "--days", "7")["estimates"]
    assert {name: each["value"] for name, each in found.items()} == {
        name: each.value for name, each in served.sampled.together.estimates.items()
    }


def test_incidents_stand_on_the_time_axis(survey: Survey) -> None:
    """The first bad hour ends at 11:00 of the second day, the first good one after it at 13:00."""
    (served,) = survey.served
    found = incidents_of("toy", survey.incidents, served.hours)
    assert {each.subject.split(" ")[2] for each in found} == {"error_rate", "latency_p95_ms"}
    assert incidents_of("capitals", survey.incidents, served.hours) == []
    hours, _ = panels(served, found)
    second = 24 * 6
    assert {(span.start, span.end) for span in hours[0].axes.spans} == {(second + 11, second + 13)}


def test_what_is_simulated_says_so(written: Path) -> None:
    text = written.read_text()
    assert "From the simulator: 2,880 events. They never happened." in text
    assert ">simulated</span>" in text


def test_names_of_anybody_are_text(written: Path) -> None:
    body = written.read_text().partition("<body>")[2]
    assert "<img" not in body
    assert "&lt;img" in body
    assert "\u202e" not in body
    assert "\x1b" not in body
    assert body.count("<script") == 2


def test_without_events_it_says_so(toy: Project) -> None:
    text = production(survey_of(toy))
    assert "Without events: toy." in text
    assert "eval-pipeline events ingest" in text
    assert "<svg" not in text


def test_settings_that_cannot_be_read_are_said(toy: Project) -> None:
    (toy.root / "production.yaml").write_text("drop: [1]\n")
    text = production(survey_of(toy))
    assert "What users get cannot be said." in text
    assert "production.yaml" in text


def test_a_gap_is_not_joined_and_many_names_are_bounded(toy: Project) -> None:
    """Forty hours with another version, model and kind of error each, and a gap of an hour."""
    rows = [
        {
            "request_id": f"r{hour}",
            "at": MONDAY + hour * HOUR,
            "suite": "toy",
            "version": f"v{hour} {HOSTILE * 50}",
            "model": f"m{hour}",
            "error": f"e{hour}",
        }
        for hour in range(41)
        if hour != 20
    ]
    with EventStore.of(toy) as store:
        store.keep(event_table(rows))
    survey = survey_of(toy)
    (served,) = survey.served
    hours, _ = panels(served, ())
    assert [len(piece) for piece in hours[0].lines[0].pieces] == [20, 20]
    assert len(hours[0].lines) == 5
    incident = Incident(
        1, "toy production x", "warning", MONDAY.timestamp(), None, 0, (Finding("x", "warning", HOSTILE),)
    )
    many = [incident] * 300
    served_section = production(Survey(survey.at, survey.suites, (), tuple(many), (), survey.served))
    assert "20 others with fewer requests are left out." in served_section
    assert len(served_section) < 250_000


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    with browser() as launched:
        yield launched


@pytest.fixture
def page(opened: Browser, written: Path) -> Iterator[Page]:
    """The page; whatever it says to the console or asks for fails the test."""
    context = opened.new_context(viewport={"width": 1600, "height": 1000})
    shown, said = context.new_page(), []
    shown.on("console", lambda message: said.append(message.text))
    shown.on("pageerror", lambda error: said.append(str(error)))
    shown.on("dialog", lambda dialog: said.append(dialog.message))
    shown.goto(written.as_uri())
    yield shown
    context.close()
    assert said == []


@in_browser
def test_it_is_reached_from_the_first_screen_and_fits_every_screen(page: Page) -> None:
    page.get_by_role("link", name="Production (1 suite with events)").click()
    expect(page.get_by_role("heading", name="Production")).to_be_in_viewport()
    expect(page.locator(".served svg[role=img]").first).to_be_visible()
    for width in (360, 1600):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@in_browser
def test_a_checker_of_accessibility_finds_nothing_serious(page: Page, axe: str) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.reload()
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        serious = [
            (each["id"], [node["html"][:200] for node in each["nodes"][:3]])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == [], scheme
