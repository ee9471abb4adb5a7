from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval_pipeline.monitoring import EventStore, FileOutcome, figures_of, open_ingest
from eval_pipeline.project import Project
from eval_pipeline_tests.monitoring.events_of import DAY, MONDAY, drop, lines

OBSERVATION = {
    "id": "o1",
    "trace_id": "t1",
    "project_id": "p",
    "type": "GENERATION",
    "start_time": "2026-03-02 08:00:00.250000",
    "end_time": "2026-03-02 08:00:01.500000",
    "name": "answer",
    "level": "DEFAULT",
    "status_message": None,
    "input": [{"role": "user", "content": "Mail jane@example.com, please"}],
    "output": {"role": "assistant", "content": "yes"},
    "provided_model_name": "small",
    "usage_details": {"input": 10, "output": 5, "total": 15},
    "cost_details": {"input": 0.1, "output": 0.2, "total": 0.3},
    "prompt_name": "answer",
    "prompt_version": 2,
    "user_id": "u1",
    "session_id": "s1",
    "metadata": {"suite": "toy", "topic": "post"},
}
SPAN = {**OBSERVATION, "id": "o2", "type": "SPAN"}
FAILED = {**OBSERVATION, "id": "o3", "level": "ERROR", "status_message": "timeout", "end_time": None}
NAMELESS = {**OBSERVATION, "id": "o4", "metadata": {}, "prompt_name": None}
SCORE = {
    "timestamp": "2026-03-03 08:00:00.000000",
    "trace_id": "t1",
    "observation_id": "o1",
    "string_value": None,
    "data_type": "NUMERIC",
    "source": "API",
    "comment": None,
}
SCORES = [
    {**SCORE, "id": "s1", "name": "user_feedback", "value": 1, "data_type": "BOOLEAN", "comment": "ok"},
    {**SCORE, "id": "s2", "name": "rating", "value": 2, "observation_id": None, "source": "ANNOTATION"},
    {**SCORE, "id": "s3", "name": "rating", "value": 5, "source": "EVAL"},
    {**SCORE, "id": "s4", "name": "relevance", "value": 5},
]
TRACE = {"id": "t1", "timestamp": "2026-03-02 08:00:00.000000", "name": "chat", "session_id": "s1"}


def as_json_lines(rows: list[dict[str, Any]]) -> bytes:
    return lines(rows)


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows whose lists and objects are JSON as text."""
    return [
        {name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in row.items()}
        for row in rows
    ]


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(plain(rows))
    return text.getvalue().encode()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(plain(rows)), file)
    return file.getvalue()


@pytest.mark.parametrize("written", [as_json_lines, as_csv, as_parquet])
def test_generations_are_requests_and_scores_of_people_feedback(toy: Project, written: Any) -> None:
    drop(toy, "observations", written([OBSERVATION, SPAN, FAILED, NAMELESS]))
    drop(toy, "scores", written(SCORES))
    drop(toy, "traces", written([TRACE]))
    with open_ingest(toy) as taking:
        outcomes = {each.name: each for each in taking.files(now=True)}
        assert outcomes["observations"]._replace(reason="") == FileOutcome(
            "observations", "taken", "langfuse", events=2, skipped=1, refused=1
        )
        assert outcomes["scores"] == FileOutcome("scores", "taken", "langfuse", feedback=2, skipped=2)
        assert outcomes["traces"] == FileOutcome("traces", "taken", "langfuse", skipped=1)
        check_events(taking.store)
        (figures,) = figures_of(taking.store, "toy", MONDAY, MONDAY + DAY, 7)
    assert figures.errors == {"timeout": 1}
    # Thumbs up on the request is 5; the rating of 2 is for the last request of the trace.
    assert figures.value("feedback_points") == 3.5


def check_events(store: EventStore) -> None:
    first, failed = store.events("toy", MONDAY, MONDAY + DAY).to_pylist()
    if first["error"]:
        first, failed = failed, first
    expected = {
        "request_id": "o1",
        "trace_id": "t1",
        "version": "answer-v2",
        "model": "small",
        "latency_ms": 1250.0,
        "input_tokens": 10,
        "output_tokens": 5,
        "cost_usd": 0.3,
        "cost_estimated": False,
        "topic": "post",
        "input": "Mail [e-mail], please",
    }
    assert {name: first[name] for name in expected} == expected
    assert first["user"] not in (None, "u1")
    assert failed["latency_ms"] is None


def test_camel_case_is_the_same(toy: Project) -> None:
    def camel(name: str) -> str:
        first, *rest = name.split("_")
        return first + "".join(map(str.title, rest))

    drop(toy, "api", [{camel(name): value for name, value in OBSERVATION.items()}])
    with open_ingest(toy) as taking:
        (outcome,) = taking.files(now=True)
    assert outcome == FileOutcome("api", "taken", "langfuse", events=1)
