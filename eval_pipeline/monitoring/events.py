"""What is kept of a request in production and of feedback on it, field by field."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

FieldKind = Literal["text", "moment", "number", "count", "flag", "numbers", "passages"]


class Field(NamedTuple):
    """A column of a table that is kept: `docs/production.md` has the same words."""

    name: str
    kind: FieldKind
    about: str
    needed: bool = False


EVENT_FIELDS = (
    Field("request_id", "text", "Identifies the request; the same id within an hour is one event.", True),
    Field("trace_id", "text", "The trace that the request is part of; feedback may name it."),
    Field("at", "moment", "When the request began, in UTC, to the microsecond.", True),
    Field("suite", "text", "The suite of the project that the request belongs to.", True),
    Field("version", "text", "The prompt version, such as decompose-concepts-v1.1."),
    Field("model", "text", "The model that answered, else the one that was asked for."),
    Field("latency_ms", "number", "From request to response, in milliseconds."),
    Field("input_tokens", "count", "Tokens of the request."),
    Field("output_tokens", "count", "Tokens of the response."),
    Field("cost_usd", "number", "Dollars; null where neither the event nor the prices say."),
    Field("cost_estimated", "flag", "Whether the cost follows from prices in engines.yaml.", True),
    Field("error", "text", "The kind of error; null where there was an answer."),
    Field("topic", "text", "What the request is about; a stratum of samples."),
    Field("input", "text", "What was asked, masked; text, or JSON as text."),
    Field("output", "text", "What was answered, masked; text, or JSON as text."),
    Field("retrieved", "passages", "The passages that the answer could rest on, masked: id and text each."),
    Field("confidences", "numbers", "Confidence of each concept or of the answer, from 0 to 1."),
    Field("concepts", "count", "Concepts in the output, for suites whose answers have them."),
    Field("relationships", "count", "Relationships in the output, for suites whose answers have them."),
    Field("user", "text", "A pseudonym of the user: a keyed hash, never the name itself."),
    Field("session", "text", "A pseudonym of the session."),
    Field("experiment", "text", "The experiment that chose the version at random; null where none did."),
    Field("simulated", "flag", "Whether the event comes from the simulator.", True),
    Field("completeness", "count", "Fields with a value, texts aside: of two with an id, more count.", True),
)  # fmt: skip
"""An event as it is kept, in this order."""

FEEDBACK_FIELDS = (
    Field("feedback_id", "text", "Identifies the feedback; the same id is counted once.", True),
    Field("request_id", "text", "The request that it is about."),
    Field("trace_id", "text", "The trace that it is about, where it names no request: its last request."),
    Field("at", "moment", "When it was given, in UTC.", True),
    Field("name", "text", "What was rated, such as user_feedback.", True),
    Field("points", "number", "From 1 to 5; thumbs down is 1 and up is 5.", True),
    Field("comment", "text", "What was said, masked."),
    Field("simulated", "flag", "Whether it comes from the simulator.", True),
)
"""Feedback as it is kept: it comes later than its event, and is joined by id when figures are made."""

TEXTS = ("input", "output", "retrieved")
"""Columns of an event that may hold long text: figures need none of them."""
COMMENTS = ("comment",)
"""The same for feedback."""

TIES = (
    "completeness", "at", "latency_ms", "input_tokens", "output_tokens", "cost_usd", "error", "version",
    "model", "concepts", "relationships", "confidences", "topic", "user", "session", "experiment", "trace_id",
    "cost_estimated", "simulated",
)  # fmt: skip
"""What decides, in this order, which of several events with an id counts; after it, their texts do."""
FEEDBACK_TIES = ("at", "points", "name", "request_id", "trace_id", "simulated")
"""The same for feedback with an id."""


def first_of_each(keys: str, ties: Iterable[str]) -> str:
    """A condition in SQL that leaves one row for some keys: that with the largest values, null being least.

    Together the values are all that a row has, so that no order of files and rows matters.
    """
    order = ", ".join(f'"{name}" DESC NULLS LAST' for name in ties)
    return f"QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY {order}) = 1"


@functools.cache
def event_schema() -> pa.Schema:
    """The columns of an event."""
    return _schema(EVENT_FIELDS)


@functools.cache
def feedback_schema() -> pa.Schema:
    """The columns of feedback."""
    return _schema(FEEDBACK_FIELDS)


def event_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Events from plain values, for what comes line by line and for tests; absent fields are null."""
    import pyarrow as pa

    whole = [{"cost_estimated": False, "simulated": False, **row} for row in rows]
    for row in whole:
        row.setdefault("completeness", completeness_of(row))
    return pa.Table.from_pylist(whole, event_schema())


def feedback_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Feedback from plain values; absent fields are null."""
    import pyarrow as pa

    return pa.Table.from_pylist([{"simulated": False, **row} for row in rows], feedback_schema())


def distinct(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column. Where all are the same, as suites mostly are, half of the time is saved."""
    import pyarrow.compute as pc

    if len(column) and not column.null_count and pc.all(pc.equal(column, column[0])).as_py():
        return [column[0].as_py()]
    return list(pc.unique(column).to_pylist())


_COUNTED = ("concepts", "relationships")
MEASURED = tuple(
    each.name for each in EVENT_FIELDS if not each.needed and each.name not in (*_COUNTED, *TEXTS)
)
"""The fields that make an event more complete. Texts do not: what figures are made of counts."""


def completeness_of(row: Mapping[str, Any]) -> int:
    """How many fields of an event have a value, texts aside."""
    return sum(row.get(name) is not None for name in MEASURED)


def _schema(fields: Iterable[Field]) -> pa.Schema:
    import pyarrow as pa

    text = pa.string()
    types = {
        "text": text,
        "moment": pa.timestamp("us", tz="UTC"),
        "number": pa.float64(),
        "count": pa.int64(),
        "flag": pa.bool_(),
        "numbers": pa.list_(pa.float64()),
        "passages": pa.list_(pa.struct([("id", text), ("text", text)])),
    }
    return pa.schema([pa.field(each.name, types[each.kind], nullable=not each.needed) for each in fields])
