from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval_pipeline.monitoring import EventStore, FileOutcome, figures_of, open_ingest
from eval_pipeline.monitoring.batches import Context
from eval_pipeline.monitoring.databases import in_memory
from eval_pipeline.monitoring.langfuse import read_records
from eval_pipeline.monitoring.sources import LONGEST_LINE
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


def test_rows_of_csv_that_are_none_are_refused_and_the_others_count(toy: Project) -> None:
    header, first, second = as_csv([OBSERVATION, FAILED]).splitlines(keepends=True)
    bad = b"a,b\r\n", b'o8,"open,\r\n', second.replace(b"timeout", b"\xff"), b"\r\n"
    drop(toy, "rows.csv", b"".join([header, first, *bad, second.replace(b"o3", b"o5")]))
    with open_ingest(toy) as taking:
        (outcome,) = taking.files(now=True)
        kept = [(each.line, each.reason, each.whole) for each in taking.store.ledger.quarantined()]
        assert taking.retry().events == 0
    assert (outcome.events, outcome.refused) == (2, 2)
    columns = header.count(b",") + 1
    assert kept[0] == (3, f"has 2 values for {columns} columns", False)
    assert kept[1][0] == 4  # a quote that nobody closes takes what follows
    assert not kept[1][2]


def test_bytes_of_another_encoding_and_endless_values_are_refused(toy: Project) -> None:
    header, first, second = as_csv([OBSERVATION, FAILED]).splitlines(keepends=True)
    endless = second.replace(b"timeout", b"x" * (LONGEST_LINE + 1))
    drop(toy, "rows.csv", b"".join([header, second.replace(b"timeout", b"\xff"), b"\r\n", endless, first]))
    with open_ingest(toy) as taking:
        (outcome,) = taking.files(now=True)
        kept = [(each.line, each.reason) for each in taking.store.ledger.quarantined()]
    columns = header.count(b",") + 1
    assert kept == [(2, "is not in UTF-8"), (4, f"has 0 values for {columns} columns")]
    assert outcome.events == 1


FAR = 2**63 - 1
SOON = 1772438400_000_000


@pytest.mark.parametrize(
    ("at", "events"),
    [
        (pa.array([SOON * 1000 + 5] * 2, pa.timestamp("ns", "UTC")), 2),
        (pa.array([SOON * 1000 + 5] * 2, pa.timestamp("ns")), 2),
        (pa.array([SOON, FAR], pa.timestamp("us", "UTC")), 1),
        (pa.array([SOON, -FAR], pa.timestamp("us")), 1),
        (pa.array([SOON // 10**6, 2**50], pa.timestamp("s", "Europe/Amsterdam")), 1),
        (pa.array([SOON] * 2, pa.timestamp("us", "Mars/Base")), 2),
        (pa.array([20_000] * 2, pa.date32()), 2),
        (pa.array(["2026-03-02T08:00:00Z", "infinity"]), 1),
    ],
    ids=str,
)
def test_moments_of_every_kind_in_parquet(toy: Project, at: pa.Array, events: int) -> None:
    """Those of Langfuse's exports, and of our own format; what is left aside may be of any kind."""
    aside = pa.array([FAR] * 2, pa.timestamp("us")), pa.array([5] * 2, pa.duration("ns"))
    ids = pa.array(["a", "b"])
    langfuse = {"id": ids, "trace_id": ids, "type": ["GENERATION"] * 2, "start_time": at, "took": aside[1]}
    ours = {"request_id": ids, "at": at, "suite": ["toy"] * 2, "latency_ms": [1, -1], "other": aside[0]}
    for name, columns in {
        "langfuse": {**langfuse, "metadata": ['{"suite": "toy"}'] * 2},
        "ours": ours,
    }.items():
        file = io.BytesIO()
        pq.write_table(pa.table(columns), file)
        drop(toy, name, file.getvalue())
    with open_ingest(toy) as taking:
        outcomes = {each.name: (each.events, each.refused) for each in taking.files(now=True)}
    assert outcomes == {"langfuse": (events, 2 - events), "ours": (1, 1)}


def test_maps_columns_twice_and_texts_that_are_none_in_parquet(toy: Project) -> None:
    usage = pa.array([[("input", 10)]], pa.map_(pa.string(), pa.int64()))
    about = pa.array([[("suite", "toy")]], pa.map_(pa.string(), pa.string()))
    names = ["id", "trace_id", "type", "start_time", "usage_details", "metadata", "id"]
    columns = [["o1"], ["t1"], ["GENERATION"], ["2026-03-02T08:00:00Z"], usage, about, ["other"]]
    broken = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff"))
    ours = pa.table({"request_id": broken, "at": ["2026-03-02T08:00:00Z"], "suite": ["toy"]})
    for name, table in {"maps": pa.table(columns, names=names), "bytes": ours}.items():
        file = io.BytesIO()
        pq.write_table(table, file)
        drop(toy, name, file.getvalue())
    with open_ingest(toy) as taking:
        outcomes = {each.name: each.outcome for each in taking.files(now=True)}
        (row,) = taking.store.events("toy", MONDAY, MONDAY + DAY).to_pylist()
    assert outcomes == {"bytes": "unreadable", "maps": "taken"}
    assert (row["request_id"], row["input_tokens"]) == ("o1", 10)


def test_a_value_of_a_table_depends_on_no_neighbour(toy: Project) -> None:
    at = pa.array([SOON, SOON], pa.int64())
    columns = {"request_id": pa.array([b"x1", b"x2"]), "at": at, "topic": [1.0, 2.5], "feedback": ["5", "up"]}
    taken = []
    for suite in ("toy", "nothing"):
        file = io.BytesIO()
        pq.write_table(pa.table({**columns, "suite": ["toy", suite]}), file)
        path = drop(toy, f"{suite}.parquet", file.getvalue())
        with open_ingest(toy) as taking:
            list(taking.files(now=True))
            taken.append(
                taking.store.events("toy", MONDAY, MONDAY + DAY, ["request_id", "topic"]).to_pylist()
            )
        path.unlink()
    assert taken[0] == [{"request_id": "x1", "topic": "1"}, {"request_id": "x2", "topic": "2.5"}]
    assert taken[1] == taken[0]  # what the second file brings is known


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"prompt_version": 2.0}, "version", "answer-v2"),
        ({"cost_details": {"input": 0.2, "output": 0.3}}, "cost_usd", 0.5),
        ({"cost_details": {"total": None}, "total_cost": 0.5}, "cost_usd", 0.5),
        ({"id": 5}, "request_id", "5"),
        ({"trace_id": 7}, "trace_id", "7"),
        ({"metadata": {"suite": "toy", "topic": 5}}, "topic", "5"),
        ({"level": "ERROR", "status_message": {"code": 5}}, "error", '{"code":5}'),
    ],
)
def test_numbers_and_names_as_exports_have_them(fields: dict[str, Any], name: str, value: Any) -> None:
    context = Context(frozenset({"toy"}), in_memory())
    batch = read_records([(1, json.dumps({**OBSERVATION, **fields}).encode())], context)
    assert batch.refusals == ()
    assert batch.events[name].to_pylist() == [value]


def test_scores_whose_ids_are_numbers(toy: Project) -> None:
    drop(toy, "scores", as_json_lines([{**SCORES[0], "trace_id": 5, "observation_id": 7}]))
    with open_ingest(toy) as taking:
        assert [each.feedback for each in taking.files(now=True)] == [1]


def test_camel_case_is_the_same(toy: Project) -> None:
    def camel(name: str) -> str:
        first, *rest = name.split("_")
        return first + "".join(map(str.title, rest))

    drop(toy, "api", [{camel(name): value for name, value in OBSERVATION.items()}])
    with open_ingest(toy) as taking:
        (outcome,) = taking.files(now=True)
    assert outcome == FileOutcome("api", "taken", "langfuse", events=1)
