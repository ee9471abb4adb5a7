"""Briefs of every suite, and what they say of a week, a month and a quarter that are known."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from eval_pipeline.loading import find_suite, shipped_names
from eval_pipeline.project import Project
from eval_pipeline.reports.reviewing import RHYTHMS, Rhythm, write_review
from eval_pipeline_tests.conftest import copy_project
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import NOON, event, keep, thumbs

MIDNIGHT = NOON.replace(hour=0) + datetime.timedelta(days=1)
HOSTILE = "</table><img src=x onerror=alert(1)>|`*_"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return copy_project(tmp_path_factory.mktemp("shared") / "project")


@pytest.mark.parametrize("name", shipped_names())
@pytest.mark.parametrize("rhythm", RHYTHMS)
def test_every_suite_has_every_brief(shared: Project, name: str, rhythm: Rhythm) -> None:
    written = write_review(shared, find_suite(shared, name), rhythm, MIDNIGHT)
    assert " in production: the " in written.markdown.read_text().splitlines()[0]
    assert "<script>" in written.page.read_text()


@pytest.fixture
def served(tmp_path: Path) -> Project:
    """Forty answers: a quarter of them say nothing, and their users dislike exactly these."""
    project = declare(tmp_path, CLASSIFIER)
    (project.golden(NAME) / "gates.yaml").write_text('metrics: {accuracy: {fail: "< 0.5", pass: ">= 0.7"}}\n')
    events, feedback = [], []
    for number in range(40):
        bad = number % 4 == 0
        given = {"text": f"Ticket {number} of {HOSTILE}"}
        answer, topic = ("…", "refunds") if bad else ("bug", "bugs")
        events.append(event(number, NAME, given, answer, topic=topic))
        feedback.append(thumbs(number, 1.0 if bad else 5.0, HOSTILE if bad else None))
    events.append(event(90, NAME, {"text": "late"}, None, error="timeout", latency_ms=9000.0))
    keep(project, events, feedback)
    (project.root / "production.yaml").write_text(
        "sampling: {rate: 1.0}\nsuites: {tickets: {targets: {error_rate: {below: 0.01}}}}\n"
    )
    return project


def test_the_week_says_what_to_look_at(served: Project) -> None:
    text = write_review(served, find_suite(served, NAME), "weekly", MIDNIGHT).markdown.read_text()
    assert "error rate" in text
    assert "missed" in text
    assert "1 × timeout" in text
    assert "refunds" in text
    assert "Lowest sampled answers" in text
    assert len(text.splitlines()) < 75  # one page


def test_text_of_others_acts_nowhere(served: Project) -> None:
    written = write_review(served, find_suite(served, NAME), "weekly", MIDNIGHT)
    assert "<img" not in written.page.read_text()
    assert "<img" not in written.markdown.read_text()


def test_the_month_finds_the_measure_that_users_care_about(served: Project) -> None:
    text = write_review(served, find_suite(served, NAME), "monthly", MIDNIGHT).markdown.read_text()
    assert "cases suggest tickets" in text
    usable = next(line for line in text.splitlines() if line.startswith("| usable"))
    assert "clear" in usable
    assert "+1.00" in usable


def contents(project: Project) -> dict[Path, bytes]:
    """All files of a project but its state."""
    files = (path for path in project.root.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if not path.is_relative_to(project.state)}


def test_nothing_is_applied(served: Project) -> None:
    before = contents(served)
    for rhythm in RHYTHMS:
        write_review(served, find_suite(served, NAME), rhythm, MIDNIGHT)
    assert contents(served) == before
