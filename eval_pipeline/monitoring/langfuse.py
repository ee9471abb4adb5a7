"""Langfuse's export to blob storage: observations and scores, as JSON Lines, CSV or Parquet.

Of observations, generations are requests. Scores whose names are those of people's feedback are feedback;
traces and everything else are left aside.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from eval_pipeline.monitoring.attributes import joined_version, parsed, text_of_messages, total_cost
from eval_pipeline.monitoring.batches import (
    ODD,
    Batch,
    Context,
    Event,
    Given,
    Unusable,
    as_text,
    batch_of,
    event_row,
    feedback_row,
    moment,
    named_by,
    points_of,
    reason_of,
    refusal_of,
)
from eval_pipeline.monitoring.sources import Lines

OBSERVATION = frozenset({"id", "trace_id", "type", "start_time"})
SCORE = frozenset({"id", "trace_id", "name", "value", "data_type"})
TRACE = frozenset({"id", "timestamp", "name"})


def is_langfuse(names: Iterable[str]) -> bool:
    """Whether fields are those of an observation, a score or a trace."""
    known = {_snake(name) for name in names}
    return known >= OBSERVATION or known >= SCORE or (known >= TRACE and "session_id" in known)


def read_lines(lines: Lines, context: Context) -> Iterator[Batch]:
    """What a piece of a file of JSON Lines holds."""
    if lines.too_long:
        yield batch_of([], [], [refusal_of(lines.first, lines.data, "the line is longer than any record")])
        return
    numbered = ((number, line) for number, line in enumerate(lines.data.split(b"\n"), lines.first))
    yield read_records(((number, line) for number, line in numbered if line.strip()), context)


def read_records(records: Iterable[tuple[int, bytes]], context: Context) -> Batch:
    """Records as JSON, each with its line or row."""
    events: list[dict[str, Any]] = []
    feedback: list[dict[str, Any]] = []
    refusals, skipped = [], 0
    decoder = msgspec.json.Decoder(dict[str, Any])
    for number, content in records:
        try:
            event, given = _of_record(
                {_snake(name): value for name, value in decoder.decode(content).items()}, context
            )
        except ODD as error:
            refusals.append(refusal_of(number, content, reason_of(error)))
            continue
        events += [event] if event else []
        feedback += [given] if given else []
        skipped += event is None and given is None
    return batch_of(events, feedback, refusals, skipped)


def _of_record(
    record: Mapping[str, Any], context: Context
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    if record.keys() >= SCORE:
        return None, _feedback(record, context)
    if record.keys() >= OBSERVATION:
        return (_event(record, context) if str(record["type"]).upper() == "GENERATION" else None), None
    if "timestamp" in record or not record.keys() & {"type", "start_time"}:
        return None, None
    raise Unusable(f"is not an observation: {', '.join(sorted(OBSERVATION - record.keys()))} missing")


def _event(record: Mapping[str, Any], context: Context) -> dict[str, Any]:
    metadata, usage, costs = (
        value if isinstance(value := parsed(record.get(name)), dict) else {}
        for name in ("metadata", "usage_details", "cost_details")
    )
    prompt, version = joined_version(record.get("prompt_name"), _whole(record.get("prompt_version")))
    start = _moment(record["start_time"])
    end = _moment(record["end_time"]) if record.get("end_time") else None
    failed = str(record.get("level", "")).upper() == "ERROR"
    row = {
        "request_id": named_by(record["id"]),
        "trace_id": named_by(record.get("trace_id")),
        "at": start,
        "suite": context.suite_of(metadata.get("suite"), prompt),
        "version": version,
        "model": named_by(record.get("provided_model_name") or record.get("model")),
        "latency_ms": (end - start).total_seconds() * 1e3 if end and end >= start else None,
        "input_tokens": usage.get("input"),
        "output_tokens": usage.get("output"),
        "cost_usd": total_cost(costs, _given_number(record.get("total_cost"))),
        "error": as_text(metadata.get("error_type") or record.get("status_message") or "error")
        if failed
        else None,
        "topic": named_by(metadata.get("topic")),
        "input": text_of_messages(record.get("input"), answer=False),
        "output": text_of_messages(record.get("output"), answer=True),
        "user": named_by(record.get("user_id")),
        "session": named_by(record.get("session_id")),
        "experiment": named_by(metadata.get("experiment")),
    }
    return event_row(msgspec.convert(row, Event, strict=False), context)


def _feedback(record: Mapping[str, Any], context: Context) -> dict[str, Any] | None:
    """A score as feedback, where people gave it."""
    name = str(record["name"])
    if name not in context.scales or str(record.get("source", "")).upper() == "EVAL":
        return None
    kind, value = str(record["data_type"]).upper(), record["value"]
    if kind == "BOOLEAN":
        points = points_of(bool(float(value)))
    elif kind == "CATEGORICAL":
        points = points_of(str(record.get("string_value") or value))
    else:
        points = points_of(float(value), *context.scales[name])
    comment = record.get("comment")
    given = Given(points=points, name=name, comment=str(comment) if comment else None, id=str(record["id"]))
    at = _moment(record.get("timestamp") or record.get("created_at"))
    request, trace = (named_by(record.get(name)) for name in ("observation_id", "trace_id"))
    return feedback_row(given, request, trace, at)


def _moment(value: Any) -> datetime.datetime:
    return moment(msgspec.convert(value, type=datetime.datetime, strict=False))


def _whole(version: Any) -> Any:
    """The number of a version, which a column with gaps has as 3.0."""
    return int(version) if isinstance(version, float) and version.is_integer() else version


def _given_number(value: Any) -> Any:
    return None if value == "" else value


def _snake(name: str) -> str:
    """`startTime` as `start_time`."""
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name).lstrip("_")
