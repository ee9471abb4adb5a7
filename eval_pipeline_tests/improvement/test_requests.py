"""Which feedback counts for a request."""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.improvement import requests_of, suggest
from eval_pipeline.improvement.requests import feedback_on
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import EventStore, event_table, feedback_table, figures_of
from eval_pipeline.monitoring.sampling import points_of_day
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


AROUND = [-1440.0, -90, -10, -1 / 60, 0, 30, 60 - 1 / 60, 60, 61, 700, 1440, 1450, 1530]
"""Minutes from a midnight on at which a trace may go on, and feedback may come."""


TRACES = st.lists(st.sampled_from(["A", "B", None]), min_size=5, max_size=5)


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from(AROUND), min_size=5, max_size=5),
    TRACES,
    TRACES,
    st.lists(
        st.tuples(st.sampled_from(["A", "B", "r0", "r1"]), st.sampled_from([*AROUND, 3000.0])), max_size=5
    ),
)
def test_feedback_counts_for_the_same_requests_in_figures_samples_and_here(
    made: list[float], once: list[str | None], again: list[str | None], told: list[tuple[str, float]]
) -> None:
    """Also where requests are delivered twice, and each delivery names another trace."""
    midnight, minute = MIDNIGHT + DAY, DAY / 1440
    feedback = [
        {
            "feedback_id": f"f{number}",
            "at": midnight + minutes * minute,
            "name": f"name {number}",
            "points": 1.0 + number,
            ("request_id" if about.startswith("r") else "trace_id"): about,
        }
        for number, (about, minutes) in enumerate(told)
    ]
    with tempfile.TemporaryDirectory() as folder, EventStore(Path(folder), f"sqlite:///{folder}/j") as store:
        for delivery, traces in (("once", once), ("again", again)):
            rows = [
                {"request_id": f"r{number}", "trace_id": trace, "at": midnight + minutes * minute}
                for number, (trace, minutes) in enumerate(zip(traces, made, strict=True))
            ]
            store.keep(event_table([{"suite": NAME, **row} for row in rows]), name=delivery)
        store.keep(event_table([]), feedback_table(feedback), name="said")
        for day in range(-1, 3):
            start = MIDNIGHT + day * DAY
            counted = figures_of(store, NAME, start, start + DAY, 7)
            figures = sum(int(each.value("feedback_count") or 0) for each in counted)
            tables = [table for _, table in store.hours(NAME, start, start + DAY, ["request_id"])]
            requests = {id_ for table in tables for id_ in table["request_id"].to_pylist()}
            samples = points_of_day(store, NAME, start.date(), 7)
            here = feedback_on(store, NAME, start, start + DAY, 7).points
            assert {id_: sorted(points) for id_, points in here.items()} == {
                id_: points for id_, points in samples.items() if id_ in requests
            }
            assert sum(map(len, here.values())) == figures
