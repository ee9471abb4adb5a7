"""The dashboard in a real browser: it filters, asks nobody for anything, and whatever names say is text."""

from __future__ import annotations

import datetime
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, Page, expect

from eval_pipeline.decisions import Finding, Incident, survey_of
from eval_pipeline.files import write_text
from eval_pipeline.project import Project
from eval_pipeline.reports.page.dashboard import dashboard
from eval_pipeline.reports.page.verdicts import Links
from eval_pipeline.reports.publishing import publish
from eval_pipeline.suites import suite_names
from eval_pipeline_tests.browsing import NEEDS_CHROMIUM, browser
from eval_pipeline_tests.conftest import TEXT_TOY, TOY, copy_toy
from eval_pipeline_tests.surveying import evaluate, point

HOSTILE = "</script><img src=http://127.0.0.1:9/x onerror=alert(1)>\u202e\x1b[31m"
NOW = datetime.datetime(2026, 2, 1, 12, tzinfo=datetime.UTC)
SMALL = 60_000
"""Characters of a page over two toys."""


def in_browser(test: Any) -> Any:
    """A test that needs a browser."""
    return pytest.mark.browser(NEEDS_CHROMIUM(test))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Over two toys: one on two engines, with an incident and hostile names, one never evaluated."""
    root = tmp_path_factory.mktemp("dashboard") / "project"
    project = copy_toy(TOY, root)
    for part in ("suites", "golden", "prompts"):
        shutil.copytree(TEXT_TOY / part, root / part, dirs_exist_ok=True)
    evaluate(project)
    published = publish(project, weekly=["toy"], now=NOW)
    capitals, toy = published.survey.suites
    points = [
        point(place, 0.7 + place / 100, engine=HOSTILE if place % 2 else "gpt", model=HOSTILE)
        for place in range(6)
    ]
    incident = Incident(
        1, f"toy {HOSTILE}", "critical", 0.0, None, 0, (Finding("trend", "critical", HOSTILE),)
    )
    suites = (capitals, replace(toy, points=(*points, *toy.points)))
    survey = replace(published.survey, suites=suites, incidents=(incident,), gone=(HOSTILE,))
    write_text(published.dashboard, dashboard(survey, Links(project.state, project.state)))
    return published.dashboard


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    with browser() as launched:
        yield launched


@pytest.fixture
def page(opened: Browser, written: Path) -> Iterator[Page]:
    """The page, opened from its file; whatever it says to the console or asks for fails the test."""
    context = opened.new_context(viewport={"width": 1600, "height": 1000})
    shown, said = context.new_page(), []
    shown.on("console", lambda message: said.append(message.text))
    shown.on("pageerror", lambda error: said.append(str(error)))
    shown.on("dialog", lambda dialog: said.append(dialog.message))
    shown.on(
        "request", lambda request: said.append(request.url) if not request.url.startswith("file:") else None
    )
    shown.goto(written.as_uri())
    yield shown
    context.close()
    assert [text for text in said if text != "data:,"] == []


def test_every_shipped_suite_appears_and_was_never_evaluated(whole_project: Project) -> None:
    text = dashboard(survey_of(whole_project), Links(whole_project.state, whole_project.state))
    for name in suite_names(whole_project):
        assert f'id="suite-{name}"' in text
        assert f"eval-pipeline run {name} --prompt" in text
    assert text.count("✗ was never evaluated") >= len(suite_names(whole_project))


def test_it_can_be_read_without_scripts_and_says_what_is_left_out(written: Path) -> None:
    text = written.read_text()
    for said in (
        "accuracy 75.0",
        "⚠ passes with warnings",
        "✗ was never evaluated",
        "95 % CI",
        "no baseline",
    ):
        assert said in text
    assert len(text) < SMALL


def test_names_of_anybody_are_text(written: Path) -> None:
    text = written.read_text()
    body = text.partition("<body>")[2]
    assert "<img" not in body
    assert "&lt;img" in body
    assert "\u202e" not in body
    assert "\x1b" not in body
    assert body.count("<script") == 2  # its own


def test_links_lead_to_what_is_there(written: Path) -> None:
    addresses = re.findall(r'href="([^"#:]+)"', written.read_text())
    assert {Path(each).suffix for each in addresses} == {".md", ".html"}
    assert all((written.parent / each).is_file() for each in addresses)


@in_browser
def test_filters_narrow_suites_and_rows(page: Page) -> None:
    count = page.locator("#shown")
    expect(count).to_have_text("2 of 2 suites")
    page.locator("[data-filter=suite]").select_option("toy")
    expect(count).to_have_text("1 of 2 suites")
    expect(page.locator("#suite-capitals")).to_be_hidden()
    expect(page.locator("table.stands tbody tr:visible")).to_have_count(1)
    page.locator("[data-filter=suite]").select_option("")
    page.locator("[data-filter=status]").select_option("unknown")
    expect(page.locator("#suite-toy")).to_be_hidden()
    expect(page.locator("#suite-capitals")).to_be_visible()
    page.locator("[data-filter=status]").select_option("")
    page.locator("[data-filter=engine]").select_option("gpt")
    expect(count).to_have_text("1 of 2 suites")
    page.locator("[data-filter=engine]").select_option("")
    page.locator("[data-filter=text]").fill("CAPITAL OF A COUNTRY")
    expect(page.locator("#suite-toy")).to_be_hidden()
    page.locator("[data-filter=text]").fill("no such text")
    expect(count).to_have_text("0 of 2 suites")
    page.locator("[data-filter=text]").fill("")
    expect(count).to_have_text("2 of 2 suites")


@in_browser
def test_ages_are_those_of_today(page: Page) -> None:
    age = page.locator("table.stands time.age").first
    expect(age).to_have_text(re.compile(r"just now|\d+ (min|h|days)"))
    moment = datetime.datetime.fromisoformat(str(age.get_attribute("datetime")))
    days = (datetime.datetime.now(datetime.UTC) - moment).days
    assert days < 2 or age.inner_text() == f"{days} days"
    oldest = page.locator(".card", has_text="oldest answers").locator("time.age")
    expect(oldest).to_have_text(re.compile(r"just now|\d+ (min|h|days)"))


@in_browser
def test_it_fits_every_screen_in_light_and_dark(page: Page) -> None:
    backgrounds = set()
    for width in (360, 1280, 1600):
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if width >= 1280:
                around = page.locator(".scroll:has(.stands)")
                hidden = around.evaluate("element => element.scrollWidth - element.clientWidth")
                assert hidden == 0, "the last column is to be read without scrolling"
            backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(backgrounds) == 2


@in_browser
def test_charts_have_names_and_lines_of_one_engine(page: Page) -> None:
    charts = page.locator("#suite-toy ~ .trends svg[role=img]")
    expect(charts.first).to_be_visible()
    assert "accuracy" in str(charts.first.get_attribute("aria-label"))


@in_browser
def test_a_link_leads_to_the_weekly_page_and_back(page: Page) -> None:
    page.get_by_role("link", name="The latest weekly page").click()
    expect(page.get_by_role("heading", name="toy: the week to 2026-02-01")).to_be_visible()
    page.get_by_role("link", name="all suites").click()
    expect(page.get_by_role("heading", name="Evaluations")).to_be_visible()


@in_browser
def test_in_print_there_are_no_controls(page: Page) -> None:
    page.emulate_media(media="print")
    expect(page.locator("#filters")).to_be_hidden()


@in_browser
def test_a_script_that_somebody_slips_in_does_not_run(opened: Browser, written: Path, tmp_path: Path) -> None:
    slipped = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
    file = tmp_path / "slipped.html"
    file.write_text(written.read_text().replace("</main>", f"{slipped}</main>"))
    shown = opened.new_page()
    shown.goto(file.as_uri())
    expect(shown).to_have_title("Evaluations")


@in_browser
def test_a_checker_of_accessibility_finds_nothing_serious(page: Page, written: Path, axe: str) -> None:
    (weekly,) = (written.parent / "weekly" / "toy").iterdir()
    for file in (written, weekly):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(file.as_uri())
            page.evaluate(axe)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            serious = [
                (each["id"], [node["html"][:200] for node in each["nodes"][:3]])
                for each in found
                if each["impact"] in ("serious", "critical")
            ]
            assert serious == [], (file.name, scheme)


def test_copies_for_another_server_find_each_other(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_PIPELINE_REPORTS", f"{tmp_path}=https://reports.example")
    publish(Project(written.parent.parent, written.parent), weekly=["toy"], now=NOW)
    copies = {path.relative_to(tmp_path).parts[0]: path for path in tmp_path.rglob("*.*")}
    assert set(copies) == {"dashboard.html", "weekly", "evaluations"}
    for page in copies.values():
        links = re.findall(r'href="([^"#:]+)"', page.read_text())
        assert all((page.parent / unquote(link)).is_file() for link in links)
        assert links or page.name == "report.md"
