"""Production for tests: requests with feedback, kept as ingest keeps them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import Any

from eval_pipeline.monitoring import EventStore, event_table, feedback_table
from eval_pipeline.project import Project

NOON = datetime.datetime(2026, 3, 2, 12, tzinfo=datetime.UTC)
START, END = NOON - datetime.timedelta(days=2), NOON + datetime.timedelta(days=2)
CLOSES = 7
"""After so many days feedback no longer counts."""
SECOND = datetime.timedelta(seconds=1)


def event(number: int, suite: str, given: Any, answer: Any, **fields: Any) -> dict[str, Any]:
    """A request; what is not text is written as JSON."""
    return {
        "request_id": f"r{number}",
        "at": NOON + number * SECOND,
        "suite": suite,
        "version": "answer-v1.0",
        "latency_ms": 100.0,
        "input": given if isinstance(given, str | None) else json.dumps(given),
        "output": answer if isinstance(answer, str | None) else json.dumps(answer),
        **fields,
    }


def thumbs(number: int, points: float, comment: str | None = None) -> dict[str, Any]:
    """Feedback on a request."""
    return {
        "feedback_id": f"f{number}",
        "request_id": f"r{number}",
        "at": NOON + number * SECOND,
        "name": "user_feedback",
        "points": points,
        "comment": comment,
    }


def keep(project: Project, events: Sequence[dict[str, Any]], feedback: Sequence[dict[str, Any]] = ()) -> None:
    """Let events and feedback be part of the project's production."""
    with EventStore.of(project) as store:
        store.keep(event_table(events), feedback_table(feedback) if feedback else None)
