"""OpenTelemetry: spans of requests to models in JSON Lines, as the Collector's exporters to files write them.

Feedback comes as the event `gen_ai.evaluation.result`, on the span or as a log record that names it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from eval_pipeline.monitoring.attributes import (
    details,
    field_of,
    is_inference,
    passages_of,
    text_of_messages,
    total_cost,
    version_of,
)
from eval_pipeline.monitoring.batches import (
    ODD,
    Batch,
    Context,
    Event,
    Given,
    Unusable,
    batch_of,
    encoded,
    event_row,
    feedback_row,
    named_by,
    points_of,
    reason_of,
    refusal_of,
)
from eval_pipeline.monitoring.ledger import Refusal
from eval_pipeline.monitoring.sources import Lines

EVALUATION = "gen_ai.evaluation.result"
FAILED = (2, "2", "STATUS_CODE_ERROR")
MOST_APART = 4
"""So many times the bytes of a line its spans may have, each as a line of its own."""
_HEXADECIMAL = re.compile("[0-9A-Fa-f]+")
_NESTED = (("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords"))
"""Where spans and log records lie within a line."""


class Rows(NamedTuple):
    """What a line or a part of it holds."""

    events: Sequence[dict[str, Any]] = ()
    feedback: Sequence[dict[str, Any]] = ()
    skipped: int = 0
    refusals: Sequence[Refusal] = ()


class KeyValue(msgspec.Struct, frozen=True):
    """An attribute."""

    key: str
    value: dict[str, Any] = {}


class SpanEvent(msgspec.Struct, frozen=True, rename="camel"):
    """Something that happened during a span."""

    name: str = ""
    time_unix_nano: str | int = 0
    attributes: list[KeyValue] = []


class Status(msgspec.Struct, frozen=True):
    """How a span ended."""

    code: str | int = 0
    message: str = ""


class Span(msgspec.Struct, frozen=True, rename="camel"):
    """A span."""

    trace_id: str
    span_id: str
    start_time_unix_nano: str | int
    end_time_unix_nano: str | int = 0
    attributes: list[KeyValue] = []
    events: list[SpanEvent] = []
    status: Status = Status()


class LogRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A log record, which may be an event."""

    time_unix_nano: str | int = 0
    observed_time_unix_nano: str | int = 0
    event_name: str = ""
    trace_id: str = ""
    span_id: str = ""
    attributes: list[KeyValue] = []


class Resource(msgspec.Struct, frozen=True):
    """What all spans of a process have in common."""

    attributes: list[KeyValue] = []


class ScopeSpans(msgspec.Struct, frozen=True):
    """Spans of a library."""

    spans: list[Span] = []


class ScopeLogs(msgspec.Struct, frozen=True, rename="camel"):
    """Log records of a library."""

    log_records: list[LogRecord] = []


class ResourceSpans(msgspec.Struct, frozen=True, rename="camel"):
    """Spans of a process."""

    resource: Resource = Resource()
    scope_spans: list[ScopeSpans] = []


class ResourceLogs(msgspec.Struct, frozen=True, rename="camel"):
    """Log records of a process."""

    resource: Resource = Resource()
    scope_logs: list[ScopeLogs] = []


class Export(msgspec.Struct, frozen=True, rename="camel"):
    """A line: what was exported at once."""

    resource_spans: list[ResourceSpans] | msgspec.UnsetType = msgspec.UNSET
    resource_logs: list[ResourceLogs] | msgspec.UnsetType = msgspec.UNSET
    resource_metrics: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def read_lines(lines: Lines, context: Context) -> Iterator[Batch]:
    """What a piece of a file holds. Of a line with bad spans only these are refused, and can be fed again."""
    if lines.too_long:
        yield batch_of([], [], [refusal_of(lines.first, lines.data, "the line is longer than any export")])
        return
    decoder = msgspec.json.Decoder(Export)
    numbered = enumerate(lines.data.split(b"\n"), lines.first)
    read = [
        rows for number, line in numbered if line.strip() for rows in _of_line(number, line, decoder, context)
    ]
    yield batch_of(
        [event for rows in read for event in rows.events],
        [given for rows in read for given in rows.feedback],
        [refusal for rows in read for refusal in rows.refusals],
        sum(rows.skipped for rows in read),
    )


def _of_line(
    number: int, line: bytes, decoder: msgspec.json.Decoder[Export], context: Context, *, apart: bool = False
) -> Iterator[Rows]:
    """What a line holds; where anything about it is odd, span by span."""
    try:
        yield _of_export(_export(line, decoder), context)
    except ODD as error:
        parts = [] if apart else _single_exports(line)
        for part in parts:
            yield from _of_line(number, part, decoder, context, apart=True)
        if not parts:
            yield Rows(refusals=(refusal_of(number, line, reason_of(error)),))


def _single_exports(line: bytes) -> list[bytes]:
    """A line as lines of one span or log record each, all different.

    None where it is made up otherwise, or where they would be too much: each has all of its resource.
    """
    parts: dict[bytes, None] = {}
    size = 0
    try:
        for single in _singly(msgspec.json.decode(line)):
            part = encoded(single)
            size += len(part)
            if size > MOST_APART * len(line):
                return []
            parts[part] = None
    except ODD:
        return []
    return list(parts)


def _singly(export: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for of, scopes, items in _NESTED:
        for resource in _listed(export, of):
            for scope in _listed(resource, scopes):
                for item in _listed(scope, items):
                    yield {of: [{**resource, scopes: [{**scope, items: [item]}]}]}


def _listed(holder: Mapping[str, Any], name: str) -> list[Any]:
    held = holder.get(name)
    if not isinstance(held, list | None):
        raise Unusable(f"{name}: is no list")
    return held or []


def _export(line: bytes, decoder: msgspec.json.Decoder[Export]) -> Export:
    """What a line says; null is as good as nothing, as in all of Protobuf's JSON."""
    try:
        return decoder.decode(line)
    except msgspec.ValidationError:
        return msgspec.convert(_without_nulls(msgspec.json.decode(line)), Export)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _of_export(export: Export, context: Context) -> Rows:
    events: list[dict[str, Any]] = []
    feedback: list[dict[str, Any]] = []
    skipped = 0
    if export == Export():
        raise Unusable("is no export of OpenTelemetry's: it has neither spans nor log records nor metrics")
    for resource in export.resource_spans or ():
        shared = attributes_of(resource.resource.attributes)
        for span in (span for scope in resource.scope_spans for span in scope.spans):
            attributes = {**shared, **attributes_of(span.attributes)}
            given = list(_span_feedback(span, attributes, context))
            feedback += given
            if is_inference(attributes):
                events.append(_event(span, attributes, context))
            elif not given:
                skipped += 1
    for logs in export.resource_logs or ():
        for record in (record for scope in logs.scope_logs for record in scope.log_records):
            row = _record_feedback(record, context)
            feedback += [row] if row else []
            skipped += row is None
    return Rows(events, feedback, skipped)


def _event(span: Span, attributes: Mapping[str, Any], context: Context) -> dict[str, Any]:
    start, end = int(span.start_time_unix_nano), int(span.end_time_unix_nano)
    prompt, version = version_of(attributes)
    named = {name: field_of(attributes, name) for name in ("confidences", "simulated")} | {
        name: named_by(field_of(attributes, name))
        for name in ("model", "topic", "user", "session", "experiment")
    }
    usage = details(attributes, "langfuse.observation.usage_details")
    retrieved = passages_of(field_of(attributes, "retrieved"))
    row = {
        **{name: value for name, value in named.items() if value is not None},
        "request_id": named_by(field_of(attributes, "request_id")) or _request_id(span),
        "trace_id": _trace_id(span),
        "at": _moment(start),
        "suite": context.suite_of(field_of(attributes, "suite"), prompt),
        "version": version,
        "latency_ms": (end - start) / 1e6 if end >= start else None,
        "input_tokens": _number(usage.get("input"), field_of(attributes, "input_tokens")),
        "output_tokens": _number(usage.get("output"), field_of(attributes, "output_tokens")),
        "cost_usd": _cost(attributes),
        "error": _error(span, attributes),
        "input": text_of_messages(field_of(attributes, "input"), answer=False),
        "output": text_of_messages(field_of(attributes, "output"), answer=True),
        "retrieved": retrieved,
    }
    return event_row(msgspec.convert(row, Event, strict=False), context)


def _request_id(of: Span | LogRecord) -> str:
    return f"{_identifier(of.trace_id)}-{_identifier(of.span_id)}".strip("-")


def _trace_id(of: Span | LogRecord) -> str | None:
    return _identifier(of.trace_id) or None


def _identifier(written: str) -> str:
    """An id in small letters where it is a hexadecimal number, which may be written in either."""
    return written.lower() if _HEXADECIMAL.fullmatch(written) else written


def _moment(nanoseconds: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(0, datetime.UTC) + datetime.timedelta(
        microseconds=nanoseconds // 1000
    )


def _number(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _cost(attributes: Mapping[str, Any]) -> Any:
    ours = attributes.get("eval_pipeline.cost_usd")
    costs = details(attributes, "langfuse.observation.cost_details")
    return ours if ours is not None else total_cost(costs, field_of(attributes, "cost_usd"))


def _error(span: Span, attributes: Mapping[str, Any]) -> str | None:
    """The kind of error, where the span failed."""
    if kind := field_of(attributes, "error"):
        return str(kind)
    failed = (
        span.status.code in FAILED or str(attributes.get("langfuse.observation.level")).upper() == "ERROR"
    )
    if not failed:
        return None
    raised = (attributes_of(each.attributes).get("exception.type") for each in span.events)
    return next((str(each) for each in raised if each), None) or "error"


def _span_feedback(span: Span, attributes: Mapping[str, Any], context: Context) -> Iterator[dict[str, Any]]:
    for event in span.events:
        if event.name == EVALUATION:
            request = named_by(field_of(attributes, "request_id")) or _request_id(span)
            given = _given(attributes_of(event.attributes), context)
            if given is not None:
                at = _moment(int(event.time_unix_nano) or int(span.start_time_unix_nano))
                yield feedback_row(given, request, _trace_id(span), at)


def _record_feedback(record: LogRecord, context: Context) -> dict[str, Any] | None:
    attributes = attributes_of(record.attributes)
    if EVALUATION not in (record.event_name, attributes.get("event.name")):
        return None
    given = _given(attributes, context)
    if given is None:
        return None
    named = named_by(field_of(attributes, "request_id"))
    request = named or (_request_id(record) if record.span_id else None)
    if request is None and not record.trace_id:
        raise Unusable("feedback names neither a span nor a trace")
    at = _moment(int(record.time_unix_nano) or int(record.observed_time_unix_nano))
    return feedback_row(given, request, _trace_id(record), at)


def _given(attributes: Mapping[str, Any], context: Context) -> Given | None:
    """What an evaluation says, where its name is that of people's feedback."""
    name = str(attributes.get("gen_ai.evaluation.name", ""))
    if name not in context.scales:
        return None
    value = attributes.get("gen_ai.evaluation.score.value")
    label = attributes.get("gen_ai.evaluation.score.label")
    points = points_of(label) if isinstance(label, str) and value is None else None
    if points is None:
        if not isinstance(value, int | float):
            raise Unusable("feedback has neither a value nor a label")
        points = points_of(value, *context.scales[name])
    comment = attributes.get("gen_ai.evaluation.explanation")
    return Given(points=points, name=name, comment=None if comment is None else str(comment))


def attributes_of(pairs: Sequence[KeyValue]) -> dict[str, Any]:
    """Attributes as plain values by name."""
    return {pair.key: _plain(pair.value) for pair in pairs}


def _plain(value: Any) -> Any:
    """A typed value as a plain one; whole numbers come as texts, since JSON has none so large.

    One that is made up otherwise is none: it may be of an attribute that nobody reads.
    """
    kind, content = next(iter(value.items()), ("", None)) if isinstance(value, dict) else ("", None)
    held = content.get("values") if isinstance(content, dict) else None
    several = held if isinstance(held, list) else []
    match kind:
        case "intValue":
            return int(content) if isinstance(content, int | str) else None
        case "arrayValue":
            return [_plain(each) for each in several]
        case "kvlistValue":
            pairs = [each for each in several if isinstance(each, dict) and isinstance(each.get("key"), str)]
            return {each["key"]: _plain(each.get("value")) for each in pairs}
    return content
