"""The formats of events, told apart by content."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import IO, TYPE_CHECKING, Any

import msgspec

from eval_pipeline.monitoring import flat, langfuse, otlp
from eval_pipeline.monitoring.batches import Batch, Context
from eval_pipeline.monitoring.sources import GZIP, PIECE, ZSTD, Damaged, Lines, Source, pieces, unpacked

if TYPE_CHECKING:
    import pyarrow as pa

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
MOST_LOOKED_AT = 20
"""Lines of the beginning that are looked at: the first ones may be damaged."""
AT_ONCE = 2 * PIECE
"""Bytes for each table of a file that is read at once: only one of them is worked on at a time."""
RARE = {"error"}
"""Fields that a file may well have, though its beginning does not."""
ROWS = 10_000
PATTERN = re.compile(r"[*?\[\]{}\\]")
"""What DuckDB would take for a pattern in a path."""


class Unreadable(Exception):
    """Why nothing of a file can be read."""


@contextmanager
def open_pieces(source: Source) -> Iterator[tuple[str, Iterator[Piece]]]:
    """The format of a file, and its pieces."""
    with source.open() as file, unpacked(file) as stream:
        try:
            head = stream.read(HEAD)
        except (Damaged, OSError) as error:
            raise Unreadable(f"cannot be unpacked: {error}") from None
    with source.open() as file, unpacked(file) as stream:
        if head.startswith(PARQUET):
            yield from _tables(_parquet(stream))
            return
        format_ = recognised(head)
        if format_ is None:
            header = _header(head)
            if header is None or not langfuse.is_langfuse(header):
                raise Unreadable(
                    "is neither our own format, nor OpenTelemetry's, nor an export of Langfuse's. "
                    "Look at its first lines, and at docs/production.md"
                )
            yield "langfuse", _records(_csv(stream, head))
            return
        yield format_, _pieces(stream, FORMATS[format_])


def at_once(source: Source, threads: int, *, whole: bool) -> Iterator[Piece] | None:
    """The tables of a plain file of our own format that lies on this machine; None of any other.

    Where they are not to be `whole`, they have the fields that the beginning of the file has.
    """
    if source.local is None or not source.size or PATTERN.search(source.local):
        return None
    with source.open() as file:
        head = file.read(HEAD)
    if head.startswith((PARQUET, GZIP, ZSTD)) or recognised(head) != "flat":
        return None
    rows = max(AT_ONCE * head.count(b"\n") // len(head), 1)
    fields = None if whole else {name for name in flat.column_types() if f'"{name}"'.encode() in head} | RARE
    tables = flat.read_at_once(source.local, rows, threads, fields)
    return (partial(flat.read_ordinary, table) for table in tables)


def recognised(head: bytes) -> str | None:
    """The format that the first lines of a file show; None where they are no JSON that we know."""
    lines = [line for line in head.split(b"\n", MOST_LOOKED_AT)[:MOST_LOOKED_AT] if line.strip()]
    if not lines:
        return "flat"
    for line in lines:
        try:
            fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        except msgspec.MsgspecError:
            continue
        if fields.keys() & {"resourceSpans", "resourceLogs", "resourceMetrics"}:
            return "otlp"
        if fields.keys() & {"request_id", "feedback"}:
            return "flat"
        if langfuse.is_langfuse(fields):
            return "langfuse"
    # One line of JSON that is longer than the beginning is an export of very many spans.
    return "otlp" if lines[0].lstrip().startswith((b'{"resourceSpans"', b'{"resourceLogs"')) else None


def _pieces(stream: IO[bytes], reader: Reader) -> Iterator[Piece]:
    try:
        for lines in pieces(stream):
            yield partial(reader, lines)
    except (Damaged, OSError) as error:
        raise Unreadable(f"cannot be unpacked: {error}") from None


def _header(head: bytes) -> list[str] | None:
    """The names of columns, where a file is CSV."""
    first = head.split(b"\n", 1)[0].decode(errors="replace")
    names = next(csv.reader([first]), [])
    return names if len(names) > 1 else None


def _csv(stream: IO[bytes], head: bytes) -> Iterator[pa.Table]:
    """The rows of a CSV file as texts, some at a time; blank is null."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    names = _header(head) or []
    reader = arrow_csv.open_csv(
        pa.PythonFile(stream, "r"),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
            null_values=["", "null"],
        ),
    )
    return (pa.Table.from_batches([batch]) for batch in reader)


def _parquet(stream: IO[bytes]) -> Iterator[pa.Table]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.PythonFile(stream, "r"))
    except (pa.ArrowInvalid, OSError) as error:
        raise Unreadable(f"is a damaged Parquet file: {error}") from None
    return (pa.Table.from_batches([batch]) for batch in file.iter_batches(ROWS))


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
    rows = enumerate(table.to_pylist(), first)
    yield langfuse.read_records(((number, _encoded(row)) for number, row in rows), context)


def _encoded(row: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode({name: value for name, value in row.items() if value is not None})
