"""Our own flat format: JSON Lines or Parquet, a line or row for each request or piece of feedback.

DuckDB reads a file at once where nothing about it is out of the ordinary. Where anything is, and where a file
is compressed or lies elsewhere, it reads pieces into columns; a piece with such a line is halved until only a
few lines are left, and these are read one by one: so one bad line costs little, and is found.
"""

from __future__ import annotations

import datetime
import functools
import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from eval_pipeline.monitoring.batches import (
    AHEAD,
    DERIVED,
    EARLIEST,
    LARGEST,
    LONGEST_NAME,
    LONGEST_TEXT,
    ODD,
    Batch,
    Context,
    Event,
    GivenFeedback,
    Name,
    Unusable,
    as_text,
    batch_of,
    encoded,
    event_row,
    feedback_row,
    raw_schema,
    reason_of,
    refusal_of,
    rows_of,
)
from eval_pipeline.monitoring.databases import in_memory
from eval_pipeline.monitoring.events import EVENT_FIELDS, distinct, feedback_table
from eval_pipeline.monitoring.ledger import Refusal
from eval_pipeline.monitoring.sources import LONGEST_LINE, Lines

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

FEW = 64 * 2**10
"""Bytes of lines that are read one by one."""
_WAITING = "8MB"
"""What DuckDB reads ahead of whoever takes its rows."""
PARTS = 4
"""In so many parts DuckDB hands over the rows of a table."""
_TYPES = {
    "text": "VARCHAR", "moment": "TIMESTAMPTZ", "number": "DOUBLE", "count": "BIGINT", "flag": "BOOLEAN",
    "numbers": "DOUBLE[]", "passages": 'STRUCT(id VARCHAR, "text" VARCHAR)[]',
}  # fmt: skip
MORE = "has_more_fields"
_REAL = ("latency_ms", "cost_usd")
"""Numbers that may be none at all: neither the least nor the greatest of a column tells."""
_LIMITED = ("latency_ms", "input_tokens", "output_tokens", "cost_usd", "concepts", "relationships")
_NAMES = (
    "request_id", "trace_id", "suite", "version", "model", "error", "topic", "user", "session", "experiment",
)  # fmt: skip


class Unordinary(Exception):
    """Something in a file needs a closer look: it is read piece by piece instead."""


class MoreFields(Unordinary):
    """A line has fields that nobody expected: with all of them the file can be read."""


class FlatEvent(Event, frozen=True, kw_only=True):
    """A line that is a request, perhaps with feedback."""

    feedback: GivenFeedback | None = None


class FlatFeedback(msgspec.Struct, frozen=True, kw_only=True):
    """A line that is feedback alone."""

    at: datetime.datetime
    feedback: GivenFeedback
    request_id: Name | None = None
    trace_id: Name | None = None
    simulated: bool = False


class _Glance(msgspec.Struct):
    suite: Any = None
    feedback: Any = None


def read_lines(lines: Lines, context: Context) -> Iterator[Batch]:
    """What a piece of a file holds."""
    if lines.too_long:
        yield batch_of([], [], [refusal_of(lines.first, lines.data, "the line is longer than any event")])
        return
    if len(lines.data) <= FEW:
        yield read_one_by_one(lines, context)
        return
    if (batch := _read_columns(lines.data, context)) is not None:
        yield batch
        return
    middle = lines.data.rfind(b"\n", 0, len(lines.data) // 2) + 1
    middle = middle or lines.data.find(b"\n") + 1
    if middle in (0, len(lines.data)):
        yield read_one_by_one(lines, context)
        return
    first, second = lines.data[:middle], lines.data[middle:]
    yield from read_lines(Lines(lines.first, first), context)
    yield from read_lines(Lines(lines.first + first.count(b"\n"), second), context)


def _read_columns(data: bytes, context: Context) -> Batch | None:
    """The lines as columns; None where anything about them is out of the ordinary."""
    import duckdb

    from eval_pipeline.monitoring.held import HELD

    with HELD.holding(data) as url:
        try:
            table = context.connection.sql(_columns_of(url)).to_arrow_table()
        except duckdb.Error:
            return None
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return batch_of_table(table, context) if table.num_rows == lines else None


def _columns_of(url: str, fields: Collection[str] | None = None) -> str:
    """A query for all lines of a file: for some fields, and whether a line has any other; or for all."""
    chosen = [name for name in column_types() if fields is None or name in fields]
    rest = [name for name in column_types() if name not in chosen]
    types = column_types() | dict.fromkeys(rest, "JSON")
    columns = ", ".join(f"\"{name}\": '{kind}'" for name, kind in types.items())
    quoted = url.replace("'", "''")
    wanted = [*(f'"{name}"' for name in chosen), "feedback"]
    if rest:
        others = ", ".join(f'"{name}"' for name in rest)
        wanted.append(f"coalesce({others}) IS NOT NULL AS {MORE}")
    return (
        f"SELECT {', '.join(wanted)} "
        f"FROM read_json('{quoted}', format='newline_delimited', compression='none', "
        f"hive_partitioning=false, maximum_object_size={LONGEST_LINE}, "
        f"columns={{{columns}, feedback: 'JSON'}})"
    )


def read_at_once(
    path: str, rows: int, threads: int, fields: Collection[str] | None = None
) -> Iterator[pa.Table]:
    """All lines of a file in tables of about so many rows, read by as many threads.

    DuckDB hands them over in smaller parts, for which it has the same memory again and again. It raises
    `Unordinary` where a line cannot be read so: nobody knows which one. A field that is not read saves time;
    where a line has one that is not among `fields`, it raises `MoreFields`.
    """
    import duckdb
    import pyarrow as pa

    with in_memory({"threads": threads}) as connection:
        connection.execute(f"SET streaming_buffer_size = '{_WAITING}'")
        try:
            reader = connection.sql(_columns_of(path, fields)).to_arrow_reader(max(rows // PARTS, 1))
            while batches := list(itertools.islice(reader, PARTS)):
                yield _with_all_fields(pa.Table.from_batches(batches))
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            raise Unordinary(str(error)) from None


def _with_all_fields(table: pa.Table) -> pa.Table:
    """A table with the fields that were not read, which are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if MORE in table.column_names and pc.any(table[MORE]).as_py():
        raise MoreFields("a line has fields that the first ones do not have")
    for field in raw_schema():
        if field.name not in table.column_names:
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    return table


def read_ordinary(table: pa.Table, context: Context) -> Iterator[Batch]:
    """A table of a file that is read at once; it raises `Unordinary` where anything is."""
    batch = batch_of_table(table, context)
    if batch is None:
        raise Unordinary("a row is out of the ordinary")
    yield batch


def batch_of_table(table: pa.Table, context: Context) -> Batch | None:
    """A table of events, with the feedback that some of them brought along; None unless all is ordinary."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_ordinary(table, context):
        return None
    rated = table.filter(pc.is_valid(table["feedback"]))
    try:
        feedback = [
            feedback_row(
                msgspec.json.decode(_feedback_in_json(row["feedback"]), type=GivenFeedback),
                row["request_id"],
                row["trace_id"],
                row["at"],
                simulated=bool(row["simulated"]),
            )
            for row in rated.select(["request_id", "trace_id", "at", "simulated", "feedback"]).to_pylist()
        ]
    except ODD:
        return None
    schema = raw_schema()
    events = pa.Table.from_arrays([table[name] for name in schema.names], schema=schema)
    return Batch(events, feedback_table(feedback))


def read_table(table: pa.Table, first: int, context: Context) -> Iterator[Batch]:
    """The same for rows of a Parquet file; `first` is the number of the first one."""
    import pyarrow as pa

    types = {each.name: each.type for each in raw_schema()} | {"feedback": pa.string()}
    columns = {name: _as(kind, table[name]) for name, kind in types.items() if name in table.column_names}
    whole = {name: columns.get(name, pa.nulls(table.num_rows, kind)) for name, kind in types.items()}
    if all(whole[name].type == kind for name, kind in types.items()):
        batch = batch_of_table(pa.table(whole), context)
        if batch is not None:
            yield batch
            return
    rows = rows_of(pa.table(columns))
    for row in rows:
        if "feedback" in row:
            row["feedback"] = msgspec.Raw(_feedback_in_json(row["feedback"]))
    yield read_one_by_one(Lines(first, b"\n".join(map(encoded, rows))), context)


def _as(kind: pa.DataType, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of the type that it should have; as it is, where any of its values has none of it."""
    import pyarrow as pa

    try:
        return column.cast(kind)
    except pa.ArrowException:
        return column


def _feedback_in_json(value: Any) -> bytes:
    """Feedback of a table: a text may be JSON, or a thumb."""
    if isinstance(value, str):
        try:
            msgspec.json.decode(value)
        except ODD:
            return msgspec.json.encode(value)
        return value.encode()
    return encoded(value)


@functools.cache
def column_types() -> dict[str, str]:
    """The columns of our own format, as DuckDB names their types."""
    return {each.name: _TYPES[each.kind] for each in EVENT_FIELDS if each.name not in DERIVED}


def is_ordinary(table: pa.Table, context: Context) -> bool:
    """Whether all rows of a table are events of known suites, with values that can be true."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if any(table[name].null_count for name in ("request_id", "at", "suite")):
        return False
    if not set(distinct(table["suite"])) <= context.suites:
        return False
    span = pc.min_max(table["at"].cast(pa.int64())).as_py()  # in numbers: there are moments beyond all dates
    if span["min"] is not None and not _in_microseconds(EARLIEST) <= span["min"] <= span["max"] <= (
        _in_microseconds(datetime.datetime.now(datetime.UTC) + AHEAD)
    ):
        return False
    if any(pc.any(pc.is_nan(table[name])).as_py() for name in _REAL):
        return False
    for name in _LIMITED:
        ends = pc.min_max(table[name]).as_py()
        if ends["min"] is not None and not 0 <= ends["min"] <= ends["max"] <= LARGEST:
            return False
    given = pc.list_flatten(table["confidences"])
    confidences = pc.min_max(given).as_py()
    if given.null_count or pc.any(pc.is_nan(given)).as_py():
        return False
    if confidences["min"] is not None and not 0 <= confidences["min"] <= confidences["max"] <= 1:
        return False
    lengths = [(name, LONGEST_NAME) for name in _NAMES] + [("input", LONGEST_TEXT), ("output", LONGEST_TEXT)]
    for name, longest in lengths:
        if table[name].null_count == table.num_rows:
            continue
        size = pc.min_max(pc.binary_length(table[name])).as_py()
        if (size["max"] or 0) > longest or (name in _NAMES and size["min"] == 0):
            return False
    passages = pc.list_flatten(table["retrieved"])
    longest_passage = pc.max(pc.binary_length(pc.struct_field(passages, "text"))).as_py() or 0
    return bool(not passages.null_count and longest_passage <= LONGEST_TEXT)


def _in_microseconds(moment: datetime.datetime) -> int:
    return int(moment.timestamp()) * 10**6


def read_one_by_one(lines: Lines, context: Context) -> Batch:
    """The same, line by line: what is wrong with one is said of that one."""
    events: list[dict[str, Any]] = []
    feedback: list[dict[str, Any]] = []
    refusals: list[Refusal] = []
    for number, line in enumerate(lines.data.split(b"\n"), lines.first):
        if not line.strip():
            continue
        try:
            event, given = read_line(line, context)
        except ODD as error:
            refusals.append(refusal_of(number, line, reason_of(error)))
            continue
        events += [event] if event else []
        feedback += [given] if given else []
    return batch_of(events, feedback, refusals)


def read_line(line: bytes, context: Context) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The event and the feedback of a line; either may be None."""
    glance = msgspec.json.decode(line, type=_Glance)
    if glance.suite is None and glance.feedback is not None:
        alone = _decoded(line, FlatFeedback)
        if alone.request_id is None and alone.trace_id is None:
            raise Unusable("request_id: is missing, so nobody knows what the feedback is about")
        return None, feedback_row(
            alone.feedback, alone.request_id, alone.trace_id, alone.at, simulated=alone.simulated
        )
    event = _decoded(line, FlatEvent)
    row = event_row(event, context)
    if row.pop("feedback") is None:
        return row, None
    return row, feedback_row(
        event.feedback, event.request_id, event.trace_id, event.at, simulated=event.simulated
    )


def _decoded(line: bytes, kind: type[T]) -> T:
    """A line of a kind; its values may be of other types."""
    try:
        return msgspec.json.decode(line, type=kind, strict=False)
    except msgspec.ValidationError as error:
        return msgspec.convert(_as_columns_have_it(line, error), kind, strict=False)


def _as_columns_have_it(line: bytes, error: msgspec.ValidationError) -> dict[str, Any]:
    """The fields of a line, with values of other types as DuckDB takes them where it does."""
    try:
        fields = {name: value for name, value in msgspec.json.decode(line).items() if value is not None}
    except msgspec.MsgspecError:
        raise error from None
    converted = {each.name: _CONVERTED[each.kind] for each in EVENT_FIELDS if each.name in fields}
    given = {"feedback": _feedback(fields["feedback"])} if "feedback" in fields else {}
    return fields | {name: convert(fields[name]) for name, convert in converted.items()} | given


def _feedback(value: Any) -> Any:
    """Feedback with more than a thumb."""
    if not isinstance(value, dict):
        return value
    texts = {name: as_text(value[name]) for name in ("name", "comment", "id") if value.get(name) is not None}
    return {**value, **texts, **({"at": _moment(value["at"])} if "at" in value else {})}


def _moment(value: Any) -> Any:
    """A date alone, a time without seconds and a zone of hours are moments, too."""
    try:
        return datetime.datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
    except ValueError:
        return value


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, bool) else value


def _count(value: Any) -> Any:
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value, 16) if "x" in value.lower() else int(value)
    return round(value) if isinstance(value, bool | float) and math.isfinite(value) else value


def _flag(value: Any) -> Any:
    if isinstance(value, str) and value.lower() in _SAID:
        return _SAID[value.lower()]
    return value != 0 if isinstance(value, int | float) else value


def _numbers(value: Any) -> Any:
    return [_number(each) for each in value] if isinstance(value, list) else value


def _passages(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [
        {name: as_text(part) for name, part in each.items() if name in _PARTS}
        if isinstance(each, dict)
        else each
        for each in value
    ]


_WHOLE = re.compile(r"\s*[+-]?\d+\s*|0[xX][0-9a-fA-F]+", re.ASCII)
_SAID = {"true": True, "t": True, "yes": True, "y": True, "1": True} | dict.fromkeys(
    ("false", "f", "no", "n", "0"), False
)
_PARTS = ("id", "text")
_CONVERTED: dict[str, Callable[[Any], Any]] = {
    "text": as_text, "moment": _moment, "number": _number, "count": _count, "flag": _flag,
    "numbers": _numbers, "passages": _passages,
}  # fmt: skip
