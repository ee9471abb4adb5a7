"""Which feedback counts for a request."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from eval_pipeline.improvement import requests_of, suggest
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import EventStore, figures_of
from eval_pipeline.project import Project
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import END, NOON, START, event, keep

DAY, HOUR = datetime.timedelta(days=1), datetime.timedelta(hours=1)
MIDNIGHT = NOON.replace(hour=0)


def said(number: int, points: float, after: datetime.timedelta, **fields: Any) -> dict[str, Any]:
    """Feedback so long after the day of the requests began."""
    about = {"name": "user_feedback", "request_id": "r1", "comment": f"said {number}"}
    return {"feedback_id": f"f{number}", "at": MIDNIGHT + after, "points": points, **about, **fields}


def served(tmp_path: Path) -> Project:
    """Three requests of a day, with feedback that counts and feedback that does not."""
    project = declare(tmp_path, CLASSIFIER)
    events = [event(n, NAME, {"text": f"Ticket {n}"}, "bug", trace_id="t") for n in range(1, 4)]
    feedback = [
        said(1, 1.0, 13 * HOUR),
        said(2, 5.0, 14 * HOUR),  # who changed the mind
        said(3, 3.0, 14 * HOUR, name="rating"),
        said(4, 1.0, 8 * DAY),  # after the day was closed
        said(5, 2.0, 3 * DAY - HOUR, request_id="r2"),
        said(6, 1.0, -HOUR, request_id="r2", name="rating"),  # before the day began
        said(7, 4.0, 8 * DAY - HOUR, request_id=None, trace_id="t"),
        said(8, 1.0, 13 * HOUR, request_id="of another suite"),
    ]
    keep(project, events, feedback)
    return project


def test_feedback_on_a_request_is_what_figures_count(tmp_path: Path) -> None:
    with EventStore.of(served(tmp_path)) as store:
        requests = {each.id: each for each in requests_of(store, NAME, START, END, 7)}
        (figures,) = figures_of(store, NAME, MIDNIGHT, MIDNIGHT + DAY, 7)
        sooner = {each.id: each.points for each in requests_of(store, NAME, START, END, 2)}
    assert {each.id: each.points for each in requests.values()} == {"r1": 4.0, "r2": 2.0, "r3": 4.0}
    assert requests["r1"].comments == ("said 2", "said 3")
    assert (figures.value("feedback_count"), figures.value("feedback_points")) == (4, (5 + 3 + 2 + 4) / 4)
    assert sooner == {"r1": 4.0, "r2": 2.0, "r3": None}


def test_cases_are_suggested_by_feedback_that_counts(tmp_path: Path) -> None:
    project = served(tmp_path)
    suite = find_suite(project, NAME)
    by_days = {
        days: [each.requests for _, each in suggest(project, suite, START, END, days).cases]
        for days in (1, 2)
    }
    assert by_days == {1: [], 2: [["r2"]]}
