"""The formats of events, told apart by content."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any, TypeVar

import msgspec

from eval_pipeline.monitoring import flat, langfuse, otlp
from eval_pipeline.monitoring.batches import (
    Batch,
    Context,
    Unreadable,
    Unusable,
    encoded,
    refusal_of,
    rows_of,
)
from eval_pipeline.monitoring.sources import (
    BYTE_ORDER_MARK,
    GZIP,
    LONGEST_EXPORT,
    LONGEST_LINE,
    PIECE,
    ZSTD,
    Damaged,
    Lines,
    Source,
    pieces,
    unpacked,
)
from eval_pipeline.numbers import counted

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

Piece = Callable[[Context], Iterable[Batch]]
"""A piece of a file, which somebody reads."""
Reader = Callable[[Lines, Context], Iterable[Batch]]

FORMATS: Mapping[str, Reader] = {
    "flat": flat.read_lines,
    "otlp": otlp.read_lines,
    "langfuse": langfuse.read_lines,
}
"""How lines of each format are read, also those that are fed again."""
UNREADABLE = "unreadable"
PARQUET = b"PAR1"
HEAD = 2**20
"""Bytes from the beginning of a file that tell its format."""
EXPORT = re.compile(rb'\s*\{\s*"resource(?:Spans|Logs|Metrics)"')
AT_ONCE = 2 * PIECE
"""Bytes for each table of a file that is read at once: only one of them is worked on at a time."""
RARE = {"error"}
"""Fields that a file may well have, though its beginning does not."""
ROWS = 10_000
BLANK = ("", "null")
"""What stands for nothing in CSV."""
PATTERN = re.compile(r"[*?\[\]{}\\]")
"""What DuckDB would take for a pattern in a path."""


@contextmanager
def open_pieces(source: Source) -> Iterator[tuple[str, Iterator[Piece]]]:
    """The format of a file, and its pieces."""
    with source.open() as file, unpacked(file) as stream:
        try:
            head = head_of(stream)
        except (Damaged, OSError) as error:
            raise Unreadable(f"cannot be unpacked: {error}") from None
    with source.open() as file, unpacked(file) as stream:
        if head.startswith(PARQUET):
            yield from _tables(readable(_parquet(stream)))
            return
        format_ = recognised(head)
        if format_ is None:
            header = _header(head)
            if header is None or not langfuse.is_langfuse(header):
                raise Unreadable(
                    "is neither our own format, nor OpenTelemetry's, nor an export of Langfuse's. "
                    "Look at its first lines, and at docs/production.md"
                )
            yield "langfuse", readable(_csv(stream))
            return
        longest = LONGEST_EXPORT if format_ == "otlp" else LONGEST_LINE
        yield format_, readable(partial(FORMATS[format_], lines) for lines in pieces(stream, longest))


def at_once(source: Source, threads: int, *, whole: bool) -> Iterator[Piece] | None:
    """The tables of a plain file of our own format that lies on this machine; None of any other.

    Where they are not to be `whole`, they have the fields that the beginning of the file has.
    """
    if source.local is None or not source.size or PATTERN.search(source.local):
        return None
    with source.open() as file:
        head = head_of(file)
    if head.startswith((PARQUET, GZIP, ZSTD)) or recognised(head) != "flat":
        return None
    rows = max(AT_ONCE * head.count(b"\n") // max(len(head), 1), 1)
    fields = None if whole else {name for name in flat.column_types() if f'"{name}"'.encode() in head} | RARE
    tables = flat.read_at_once(source.local, rows, threads, fields)
    return (partial(flat.read_ordinary, table) for table in tables)


def head_of(stream: IO[bytes]) -> bytes:
    """The beginning of a file, with all of its first line."""
    head = stream.read(HEAD)
    rest = b"" if b"\n" in head else stream.readline(LONGEST_LINE)
    return (head + rest).removeprefix(BYTE_ORDER_MARK)


def recognised(head: bytes) -> str | None:
    """The format that the first lines of a file show; None where they are no JSON that we know."""
    lines = [line for line in head.split(b"\n") if line.strip()]
    if not lines:
        return "flat"
    for line in lines:
        try:
            fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if fields.keys() & {"resourceSpans", "resourceLogs", "resourceMetrics"}:
            return "otlp"
        if fields.keys() & {"request_id", "feedback"}:
            return "flat"
        if langfuse.is_langfuse(fields):
            return "langfuse"
    # One line of JSON that is longer than any event is an export of very many spans.
    return "otlp" if EXPORT.match(lines[0]) else None


def readable(parts: Iterator[T]) -> Iterator[T]:
    """The parts of a file, up to where its bytes are damaged."""
    import pyarrow as pa

    try:
        yield from parts
    except Damaged as error:
        raise Unreadable(f"cannot be unpacked: {error}") from None
    except (pa.ArrowException, OSError) as error:
        raise Unreadable(f"is damaged: {error}") from None


def _header(head: bytes) -> list[str] | None:
    """The names of columns, where a file is CSV."""
    first = head.split(b"\n", 1)[0].decode(errors="replace")
    try:
        names = next(csv.reader([first]), [])
    except csv.Error:
        return None
    return names if len(names) > 1 else None


def _csv(stream: IO[bytes]) -> Iterator[Piece]:
    """The rows of a CSV file, some at a time."""
    csv.field_size_limit(LONGEST_LINE)
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    try:
        reader = csv.reader(text)
        names, rows, size = next(reader), [], 0
        for line, row in _csv_rows(reader):
            rows.append((line, row))
            size += sum(map(len, row))
            if size >= PIECE or len(rows) == ROWS:
                yield partial(_read_csv, names, rows)
                rows, size = [], 0
        if rows:
            yield partial(_read_csv, names, rows)
    finally:
        with suppress(ValueError):  # it is closed
            text.detach()


def _csv_rows(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line that it begins in; one of which nothing can be read has no values."""
    line = reader.line_num + 1
    while True:
        try:
            row = next(reader) or None
        except csv.Error:
            row = []
        except StopIteration:
            return
        if row is not None:  # a blank line
            yield line, row
        line = reader.line_num + 1


def _read_csv(
    names: Sequence[str], rows: Iterable[tuple[int, list[str]]], context: Context
) -> Iterator[Batch]:
    """Rows as records; those that are none are refused. Blank is null."""
    records, refusals = [], []
    for line, row in rows:
        given = {name: value for name, value in zip(names, row, strict=False) if value not in BLANK}
        try:
            if len(row) != len(names):
                raise Unusable(f"has {counted(len(row), 'value')} for {counted(len(names), 'column')}")
            records.append((line, encoded(given)))
        except (Unusable, UnicodeEncodeError) as error:
            reason = str(error) if isinstance(error, Unusable) else "is not in UTF-8"
            content = ",".join(row).encode(errors="surrogateescape")
            refusals.append(msgspec.structs.replace(refusal_of(line, content, reason), whole=False))
    batch = langfuse.read_records(records, context)
    yield batch._replace(refusals=tuple(sorted((*batch.refusals, *refusals))))


def _parquet(stream: IO[bytes]) -> Iterator[pa.Table]:
    """Some rows at a time; of columns with the same name the first, and texts in UTF-8 alone."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(pa.PythonFile(stream, "r")).iter_batches(ROWS):
        batch.validate(full=True)
        names = batch.schema.names
        yield pa.Table.from_batches([batch.select([names.index(name) for name in dict.fromkeys(names)])])


def _tables(tables: Iterator[pa.Table]) -> Iterator[tuple[str, Iterator[Piece]]]:
    """Parquet files, told apart by their columns."""
    first = next(tables, None)
    names = set(first.column_names) if first is not None else {"request_id"}
    rest = () if first is None else (each for part in ((first,), tables) for each in part)
    if "request_id" in names:
        yield "flat", _flat_tables(iter(rest))
    elif langfuse.is_langfuse(names):
        yield "langfuse", _records(iter(rest))
    else:
        raise Unreadable("is a Parquet file without the columns of a format that we know")


def _flat_tables(tables: Iterator[pa.Table]) -> Iterator[Piece]:
    """Rows of our own format: as columns where all is ordinary, else one by one."""
    first = 1
    for table in tables:
        yield partial(flat.read_table, table, first)
        first += table.num_rows


def _records(tables: Iterator[pa.Table]) -> Iterator[Piece]:
    """Rows as records in JSON, which is what quarantine keeps of those that are refused."""
    first = 1
    for table in tables:
        yield partial(_read_records, table, first)
        first += table.num_rows


def _read_records(table: pa.Table, first: int, context: Context) -> Iterator[Batch]:
    rows = enumerate(rows_of(table), first)
    yield langfuse.read_records(((number, encoded(row)) for number, row in rows), context)
