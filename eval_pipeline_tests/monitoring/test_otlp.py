"""Files that the real OpenTelemetry SDK for Python wrote, in the Collector's JSON."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode, Tracer

from eval_pipeline.monitoring.batches import Batch, Context
from eval_pipeline.monitoring.databases import in_memory
from eval_pipeline.monitoring.otlp import read_lines
from eval_pipeline.monitoring.sources import Lines

IDS = {"traceId", "spanId", "parentSpanId"}
CHAT = {"gen_ai.operation.name": "chat"}
RATED = {"gen_ai.evaluation.name": "user_feedback", "gen_ai.evaluation.score.label": "up"}


def hexadecimal(value: Any) -> Any:
    """Protobuf's JSON with ids as OTLP writes them."""
    if isinstance(value, dict):
        return {
            name: base64.b64decode(each).hex() if name in IDS else hexadecimal(each)
            for name, each in value.items()
        }
    return [hexadecimal(each) for each in value] if isinstance(value, list) else value


def attributes_of(values: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


class Written:
    """What a program traced, as a line of a file."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self._provider = TracerProvider(resource=Resource.create({"eval_pipeline.suite": "decomposition"}))
        self._provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    @property
    def tracer(self) -> Tracer:
        return self._provider.get_tracer("a program")

    @property
    def line(self) -> bytes:
        message = MessageToDict(encode_spans(self._exporter.get_finished_spans()))
        return json.dumps(hexadecimal(message)).encode()

    def read(self) -> Batch:
        return read(self.line)


def read(*lines: bytes) -> Batch:
    context = Context(
        frozenset({"decomposition", "toy"}),
        in_memory(),
        {"decompose-concepts": "decomposition"},
        scales={"user_feedback": (0.0, 1.0)},
    )
    (batch,) = read_lines(Lines(1, b"\n".join(lines)), context)
    return batch


@pytest.fixture
def written() -> Written:
    return Written()


def test_a_request_is_counted_once_whatever_is_around_it(written: Written) -> None:
    with (
        written.tracer.start_as_current_span("agent", attributes={"gen_ai.operation.name": "invoke_agent"}),
        written.tracer.start_as_current_span("chat gpt", attributes=CHAT),
    ):
        tool = {"gen_ai.operation.name": "execute_tool"}
        written.tracer.start_span("tool", attributes=tool).end()
    written.tracer.start_span("embeddings", attributes={"gen_ai.operation.name": "embeddings"}).end()
    written.tracer.start_span("GET /").end()
    batch = written.read()
    assert (batch.events.num_rows, batch.skipped, batch.refusals) == (1, 4, ())


def test_names_of_opentelemetry(written: Written) -> None:
    messages = [{"role": "user", "parts": [{"type": "text", "content": "Why?"}]}]
    answer = [
        {"role": "assistant", "parts": [{"type": "text", "content": "Because."}], "finish_reason": "stop"}
    ]
    span = written.tracer.start_span(
        "chat",
        attributes={
            **CHAT,
            "gen_ai.prompt.name": "decompose-concepts",
            "gen_ai.prompt.version": "1.1",
            "gen_ai.request.model": "asked",
            "gen_ai.response.model": "answered",
            "gen_ai.usage.input_tokens": 12,
            "gen_ai.usage.output_tokens": 3,
            "gen_ai.input.messages": json.dumps(messages),
            "gen_ai.output.messages": json.dumps(answer),
            "gen_ai.retrieval.documents": json.dumps([{"id": "d1", "content": "a passage"}, "another"]),
            "gen_ai.conversation.id": "c1",
            "user.id": "u1",
        },
        start_time=1_772_409_600_000_000_000,
    )
    span.end(end_time=1_772_409_601_500_000_000)
    (row,) = written.read().events.to_pylist()
    context = span.get_span_context()
    expected = {
        "request_id": f"{context.trace_id:032x}-{context.span_id:016x}",
        "trace_id": f"{context.trace_id:032x}",
        "suite": "decomposition",
        "version": "decompose-concepts-v1.1",
        "model": "answered",
        "latency_ms": 1500.0,
        "input_tokens": 12,
        "output_tokens": 3,
        "cost_usd": None,
        "error": None,
        "input": "Why?",
        "output": "Because.",
        "retrieved": [{"id": "d1", "text": "a passage"}, {"id": None, "text": "another"}],
        "user": "u1",
        "session": "c1",
    }
    assert {name: row[name] for name in expected} == expected
    assert row["at"].isoformat() == "2026-03-02T00:00:00+00:00"


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        # Ours, then Langfuse's, then OpenTelemetry's, then OpenInference's, then what is older.
        ({"eval_pipeline.model": "a", "langfuse.observation.model.name": "b"}, {"model": "a"}),
        ({"langfuse.observation.model.name": "b", "gen_ai.response.model": "c"}, {"model": "b"}),
        ({"gen_ai.request.model": "d", "llm.model_name": "e"}, {"model": "d"}),
        ({"llm.model_name": "e", "llm.request.model": "f"}, {"model": "e"}),
        ({"gen_ai.usage.prompt_tokens": 7}, {"input_tokens": 7}),
        ({"llm.token_count.prompt": 5, "gen_ai.usage.prompt_tokens": 7}, {"input_tokens": 5}),
        ({"langfuse.observation.usage_details": '{"input": 3, "output": 4}'}, {"input_tokens": 3}),
        ({"langfuse.observation.cost_details": '{"input": 0.5, "output": 0.25}'}, {"cost_usd": 0.75}),
        ({"langfuse.observation.cost_details": '{"input": 0.5, "total": 2}'}, {"cost_usd": 2.0}),
        ({"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi"}, {"input": "Hi"}),
        (
            {"llm.output_messages.0.message.role": "x", "llm.output_messages.0.message.content": "Yes"},
            {"output": "Yes"},
        ),
        (
            {"retrieval.documents.0.document.id": "x", "retrieval.documents.0.document.content": "text"},
            {"retrieved": [{"id": "x", "text": "text"}]},
        ),
        ({"traceloop.prompt.key": "decompose-concepts", "traceloop.prompt.version": "v2.0"},
         {"version": "decompose-concepts-v2.0"}),
        ({"error.type": "timeout"}, {"error": "timeout"}),
        ({"eval_pipeline.suite": "toy"}, {"suite": "toy"}),
        ({"eval_pipeline.request_id": "mine"}, {"request_id": "mine"}),
    ],
)  # fmt: skip
def test_names_by_precedence(written: Written, attributes: dict[str, Any], expected: dict[str, Any]) -> None:
    written.tracer.start_span("chat", attributes={**CHAT, **attributes}).end()
    (row,) = written.read().events.to_pylist()
    assert {name: row[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("attributes", "counts"),
    [
        ({"openinference.span.kind": "LLM"}, True),
        ({"openinference.span.kind": "CHAIN"}, False),
        ({"langfuse.observation.type": "generation"}, True),
        ({"langfuse.observation.type": "span", "gen_ai.operation.name": "chat"}, False),
        ({"gen_ai.operation.name": "text_completion"}, True),
        ({"gen_ai.operation.name": "generate_content"}, True),
        ({"llm.request.type": "chat"}, True),
        ({"traceloop.span.kind": "workflow"}, False),
    ],
)
def test_what_a_request_is(written: Written, attributes: dict[str, Any], counts: bool) -> None:
    written.tracer.start_span("any", attributes=attributes).end()
    assert written.read().events.num_rows == counts


def test_a_span_that_failed_is_an_error_of_its_exceptions_kind(written: Written) -> None:
    with pytest.raises(ConnectionError), written.tracer.start_as_current_span("chat", attributes=CHAT):
        raise ConnectionError
    span = written.tracer.start_span("chat", attributes=CHAT)
    span.set_status(Status(StatusCode.ERROR, "went wrong"))
    span.end()
    assert written.read().events["error"].to_pylist() == ["ConnectionError", "error"]


def test_feedback_on_a_span_joins_its_request(written: Written) -> None:
    with written.tracer.start_as_current_span("chat", attributes=CHAT) as span:
        said: dict[str, Any] = {
            "gen_ai.evaluation.name": "user_feedback",
            "gen_ai.evaluation.score.value": 0.75,
        }
        span.add_event("gen_ai.evaluation.result", {**said, "gen_ai.evaluation.explanation": "fine"})
        span.add_event("gen_ai.evaluation.result", {**said, "gen_ai.evaluation.name": "relevance"})
    batch = written.read()
    (row,) = batch.feedback.to_pylist()
    assert row["points"] == 4.0  # three quarters of the way from 1 to 5
    assert row["comment"] == "fine"
    assert row["request_id"] == batch.events["request_id"].to_pylist()[0]


def test_feedback_in_a_log_record_joins_by_its_span() -> None:
    attributes = [
        {"key": "gen_ai.evaluation.name", "value": {"stringValue": "user_feedback"}},
        {"key": "gen_ai.evaluation.score.label", "value": {"stringValue": "down"}},
    ]
    record = {
        "timeUnixNano": "1772409600000000000",
        "eventName": "gen_ai.evaluation.result",
        "traceId": "aa",
        "spanId": "bb",
        "attributes": attributes,
    }
    line = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record, {"body": {}}]}]}]}).encode()
    batch = read(line)
    (row,) = batch.feedback.to_pylist()
    assert (row["request_id"], row["points"]) == ("aa-bb", 1.0)
    assert batch.skipped == 1


def test_ids_in_capitals_are_the_same_ids(written: Written) -> None:
    written.tracer.start_span("chat", attributes=CHAT).end()
    line = json.loads(written.line)
    (span,) = line["resourceSpans"][0]["scopeSpans"][0]["spans"]
    ids = {name: span[name].upper() for name in ("traceId", "spanId")}
    record = {"eventName": "gen_ai.evaluation.result", "attributes": attributes_of(RATED), **ids}
    line["resourceLogs"] = [{"scopeLogs": [{"logRecords": [{**record, "timeUnixNano": 1772409600 * 10**9}]}]}]
    batch = read(json.dumps(line).encode())
    for name in ("request_id", "trace_id"):
        assert batch.feedback[name].to_pylist() == batch.events[name].to_pylist()


def test_bad_lines_are_refused_by_number(written: Written) -> None:
    unknown = {**CHAT, "eval_pipeline.suite": "nothing"}
    written.tracer.start_span("chat", attributes=unknown).end()
    batch = read(b"", b'{"resourceSpans": 3}', b"{", written.line)
    assert [(each.line, each.reason) for each in batch.refusals] == [
        (2, "resourceSpans: Expected 'array', got 'int'"),
        (3, "is not JSON: Input data was truncated"),
        (4, "suite: 'nothing' is not a suite of this project"),
    ]


def test_of_a_line_with_bad_spans_only_these_are_refused_and_can_be_fed_again(written: Written) -> None:
    unknown = {**CHAT, "eval_pipeline.suite": "nothing"}
    for attributes in (CHAT, unknown, {}, CHAT):
        written.tracer.start_span("chat", attributes=attributes).end()
    line = json.loads(written.line)
    spans = line["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans += [spans[1], {**spans[0], "spanId": 5}, {**spans[0], "spanId": "cc", "startTimeUnixNano": "?"}]
    record = {"eventName": "gen_ai.evaluation.result", "attributes": attributes_of(RATED)}
    good = {**record, "traceId": "aa", "spanId": "bb", "timeUnixNano": "1772409600000000000"}
    line["resourceLogs"] = [{"scopeLogs": [{"logRecords": [good, record]}]}]
    batch = read(b"", json.dumps(line).encode())
    assert (batch.events.num_rows, batch.feedback.num_rows, batch.skipped) == (2, 1, 1)
    assert [(each.line, each.whole, each.reason.partition(":")[0]) for each in batch.refusals] == [
        (2, True, "suite"),
        (2, True, "resourceSpans[0].scopeSpans[0].spans[0].spanId"),
        (2, True, "is not made up as it should be"),
        (2, True, "feedback names neither a span nor a trace"),
    ]
    again = read(*(each.text.encode() for each in batch.refusals))
    assert again.events.num_rows == 0
    assert [each.reason for each in again.refusals] == [each.reason for each in batch.refusals]
    mended = batch.refusals[0].text.replace('"nothing"', '"toy"')
    (event,) = read(mended.encode()).events.to_pylist()
    assert (event["suite"], event["request_id"].partition("-")[0]) == ("toy", spans[1]["traceId"])


def test_a_line_whose_spans_would_be_too_much_apart_is_refused_as_a_whole(written: Written) -> None:
    for number in range(10):
        written.tracer.start_span(
            f"chat {number}", attributes={**CHAT, "eval_pipeline.suite": "nothing"}
        ).end()
    line = json.loads(written.line)
    assert len(written.read().refusals) == 10
    line["resourceSpans"][0]["resource"]["attributes"] += attributes_of({"large": "x" * 10**5})
    (refusal,) = read(json.dumps(line).encode()).refusals
    assert json.loads(refusal.text) == line


@pytest.mark.parametrize("broken", [3, "ab", [3], [None], {"a": 1}])
@pytest.mark.parametrize("where", ["resourceLogs", "scopeSpans", "spans"])
def test_what_cannot_be_taken_apart_is_refused_and_nothing_of_it_is_lost(
    written: Written, where: str, broken: Any
) -> None:
    written.tracer.start_span("chat", attributes=CHAT).end()
    line = json.loads(written.line)
    if where == "resourceLogs":
        line["resourceLogs"] = broken
    else:
        held = {"scopeSpans": broken} if where == "scopeSpans" else {"scopeSpans": [{"spans": broken}]}
        line["resourceSpans"].append(held)
    batch = read(json.dumps(line).encode())
    (refusal,) = batch.refusals
    if where == "spans" and isinstance(broken, list):
        assert batch.events.num_rows == 1
        assert json.loads(refusal.text) == {"resourceSpans": [held]}
    else:
        assert batch.events.num_rows == 0
        assert json.loads(refusal.text) == line


def test_a_good_span_counts_whatever_lies_beside_it(written: Written) -> None:
    written.tracer.start_span("chat", attributes=CHAT).end()
    line = json.loads(written.line)
    line["resourceSpans"].append({"resource": 5, "scopeSpans": [{"spans": [{"spanId": 3}]}]})
    batch = read(json.dumps(line).encode())
    assert (batch.events.num_rows, len(batch.refusals)) == (1, 1)


ODD = """
{"arrayValue": null} | {"arrayValue": {"values": null}} | {"arrayValue": [1]}
{"arrayValue": {"values": ["x"]}}
{"intValue": null} | {"intValue": {}} | {"kvlistValue": null} | {"kvlistValue": {"values": [{"value": {}}]}}
{"kvlistValue": {"values": [{"key": "a", "value": null}]}} | {"kvlistValue": {"values": "ab"}}
{"kvlistValue": {"values": [{"key": {}, "value": {}}]}} | {} | null | {"stringValue": null}
"""


@pytest.mark.parametrize("value", [json.loads(each) for each in re.split(r"\n| \| ", ODD.strip())], ids=str)
def test_an_attribute_of_odd_shape_that_nobody_reads_spoils_nothing(written: Written, value: Any) -> None:
    written.tracer.start_span("chat", attributes=CHAT).end()
    line = json.loads(written.line)
    (span,) = line["resourceSpans"][0]["scopeSpans"][0]["spans"]
    span["attributes"].append({"key": "x.unrelated", "value": value})
    batch = read(json.dumps(line).encode())
    assert (batch.events.num_rows, batch.refusals) == (1, ())


def test_null_is_as_good_as_nothing(written: Written) -> None:
    written.tracer.start_span("chat", attributes=CHAT).end()
    line = json.loads(written.line)
    (span,) = line["resourceSpans"][0]["scopeSpans"][0]["spans"]
    span |= {"events": None, "status": {"message": None}, "endTimeUnixNano": None}
    batch = read(json.dumps(line).encode())
    assert (batch.events.num_rows, batch.refusals) == (1, ())


def test_ids_and_names_of_other_types_are_their_text(written: Written) -> None:
    numbers = {"user.id": 42, "session.id": 7, "eval_pipeline.topic": 5, "eval_pipeline.request_id": 9}
    with written.tracer.start_as_current_span("chat", attributes={**CHAT, **numbers}) as span:
        span.add_event(
            "gen_ai.evaluation.result",
            {"gen_ai.evaluation.name": "user_feedback", "gen_ai.evaluation.score.value": 1},
        )
    batch = written.read()
    (row,) = batch.events.to_pylist()
    assert [row[name] for name in ("user", "session", "topic", "request_id")] == ["42", "7", "5", "9"]
    assert batch.feedback["request_id"].to_pylist() == ["9"]


@pytest.mark.parametrize("content", [[None], [1], [["x"]], [{"text": 5}]])
def test_parts_of_messages_that_are_no_text_are_left_out(written: Written, content: Any) -> None:
    messages = json.dumps([{"role": "assistant", "content": [*content, "said"]}])
    written.tracer.start_span("chat", attributes={**CHAT, "gen_ai.output.messages": messages}).end()
    assert written.read().events["output"].to_pylist() == ["said"]


@pytest.mark.parametrize(
    "line", ["{}", '{"resource_spans": []}', '{"request_id": "r1"}', "[" * 3000 + "]" * 3000]
)
def test_a_line_that_is_no_export_is_refused(line: str) -> None:
    batch = read(line.encode())
    assert [each.line for each in batch.refusals] == [1]
