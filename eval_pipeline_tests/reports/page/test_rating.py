"""The page on which people rate, in a real browser: by keyboard, blind, inert, and its file taken back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from eval_pipeline.improvement import Sheet, answers_to_rate, make_queue, ratings_of, take
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import EventStore, Production
from eval_pipeline.project import Project
from eval_pipeline.reports.page.rating import rating_page
from eval_pipeline_tests.browsing import NEEDS_CHROMIUM, Watched, browser, nodes_of
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import NOON, event, keep

HOSTILE = "</script><img src=http://127.0.0.1:9/x onerror=alert(1)><b>bold</b>\u202e{{ 7*7 }}"
EVERYTHING = Production.model_validate({"sampling": {"rate": 1.0}})
pytestmark = pytest.mark.browser


class Written:
    """A sheet as a page, and the project that it belongs to."""

    def __init__(self, project: Project, sheet: Sheet, file: Path) -> None:
        self.project, self.sheet, self.file = project, sheet, file


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("rating")
    project = declare(folder / "project", CLASSIFIER)
    answers = [
        {"concepts": [{"label": "battery", "quote": "the battery swells"}], "reply": "Replace it."},
        HOSTILE,
        "bug",
        "A longer answer. " * 60,
    ]
    events = [
        event(
            n,
            NAME,
            {"text": f"Ticket {n}: {HOSTILE}", HOSTILE: ["x"]},
            answer,
            version="sort-v9.9",
            model="secret-model",
            retrieved=[{"id": "p1", "text": f"A passage. {HOSTILE}"}],
        )
        for n, answer in enumerate(answers)
    ]
    keep(project, events)
    with EventStore.of(project) as store:
        rows = list(answers_to_rate(project, store, NAME, EVERYTHING, [NOON.date()]))
    (sheet,) = make_queue(project, NAME, rows, 1, 50)
    file = folder / "rate.html"
    file.write_text(rating_page(find_suite(project, NAME), sheet))
    return Written(project, sheet, file)


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def page(opened: Browser) -> Iterator[Page]:
    context = opened.new_context(accept_downloads=True)
    yield context.new_page()
    context.close()


def test_the_page_knows_no_version_and_no_model(written: Written) -> None:
    html = written.file.read_text()
    everything = html + json.dumps(nodes_of(html))
    for secret in ("sort-v9.9", "secret-model", "points"):
        assert secret not in everything


@NEEDS_CHROMIUM
def test_a_sheet_is_rated_by_keyboard_and_its_file_is_taken(
    written: Written, page: Page, tmp_path: Path
) -> None:
    watched = Watched(page)
    watched.show(written.file)
    page.keyboard.press("w")  # without a name nothing is saved, and the name is asked for
    assert page.evaluate("document.activeElement.id") == "rater"
    page.keyboard.type("Ada u. s.")  # keys that rule are letters while somebody writes
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    page.keyboard.press("u")
    page.keyboard.press("n")
    page.keyboard.type("says nothing")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.keyboard.press("k")
    page.keyboard.press("j")
    page.keyboard.press("a")
    assert "All are rated" in page.inner_text("#progress")
    assert page.get_attribute("[data-ruling=acceptable]", "aria-pressed") == "true"
    with page.expect_download() as caught:
        page.keyboard.press("w")
    file = tmp_path / caught.value.suggested_filename
    caught.value.save_as(file)
    assert file.name.endswith("-Ada-u-s-.jsonl")
    head, *rulings = map(json.loads, file.read_text().splitlines())
    assert head == {"queue": written.sheet.queue.queue, "rater": "Ada u. s."}
    items = [each.item for each in written.sheet.items]
    assert [(each["item"], each["ruling"]) for each in rulings] == list(
        zip(items, ["acceptable", "unacceptable", "unsure", "acceptable"], strict=True)
    )
    assert rulings[2]["note"] == "says nothing"
    (taken,) = take(written.project, file)
    assert (taken.rater, taken.rulings, taken.blank) == ("Ada u. s.", 4, 0)
    assert len(ratings_of(written.project, NAME).said) == 4
    assert watched.elsewhere == []
    assert [each for each in watched.complaints if "blob" not in each] == []


@NEEDS_CHROMIUM
def test_hostile_text_is_text(written: Written, page: Page) -> None:
    watched = Watched(page)
    watched.show(written.file)
    for _ in written.sheet.items:
        assert page.locator("#sheet img, #sheet b, #sheet script").count() == 0
        assert "<b>bold</b>" in page.inner_text("#sheet")
        page.keyboard.press("j")
    assert page.locator(".unseen").count()
    assert watched.elsewhere == []
    assert watched.complaints == []


@NEEDS_CHROMIUM
def test_rulings_survive_closing_the_page(written: Written, page: Page) -> None:
    watched = Watched(page)
    watched.show(written.file)
    page.keyboard.press("u")
    watched.show(written.file)
    assert "1 rated" in page.inner_text("#progress")
    page.keyboard.press("k")
    assert page.get_attribute("[data-ruling=unacceptable]", "aria-pressed") == "true"


@NEEDS_CHROMIUM
def test_a_checker_of_accessibility_finds_nothing_serious(written: Written, page: Page, axe: str) -> None:
    watched = Watched(page)
    for scheme in ("light", "dark"):
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            watched.show(written.file)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.evaluate(axe)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
