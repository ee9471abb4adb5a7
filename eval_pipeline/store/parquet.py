"""Parquet files of rows: written in groups of equal size, whole or not at all, and read in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from eval_pipeline.files import canonical_json, replacing
from eval_pipeline.store.damage import naming_damage

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS = 1000
FACTS = b"eval_pipeline"
NOTHING_MORE: Mapping[bytes, bytes] = MappingProxyType({})


def read_table(path: Path) -> pa.Table:
    """A whole table."""
    with naming_damage(path), opened(path) as file:
        table = file.read()
        stop_if_missing(file, len(table))
    return table


def write_table(path: Path, table: pa.Table) -> None:
    """Write a whole table atomically."""
    import pyarrow.parquet as pq

    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


class RowWriter:
    """Writes rows in groups of equal size, so that a row's place tells its group."""

    def __init__(self, writer: pq.ParquetWriter, schema: pa.Schema) -> None:
        self._writer = writer
        self._schema = schema
        self._rows: list[dict[str, Any]] = []
        self._table = schema.empty_table()

    def add(self, row: dict[str, Any]) -> None:
        """A row."""
        self._rows.append(row)
        if len(self._rows) == ROWS:
            self._flush()

    def add_table(self, table: pa.Table) -> None:
        """The same for many rows; whoever adds tables adds nothing else."""
        import pyarrow as pa

        waiting = pa.concat_tables([self._table, table.select(self._schema.names)])
        whole = len(waiting) - len(waiting) % ROWS
        if whole:
            self._writer.write_table(waiting.slice(0, whole), row_group_size=ROWS)
        self._table = waiting.slice(whole).combine_chunks()

    def finish(self, facts: msgspec.Struct, more: Mapping[bytes, bytes] = NOTHING_MORE) -> None:
        """The last rows, and what is to be known of all of them."""
        if self._rows:
            self._flush()
        if len(self._table):
            self._writer.write_table(self._table)
        self._writer.add_key_value_metadata({FACTS: canonical_json(facts), **more})

    def _flush(self) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []


@contextmanager
def row_writer(path: Path, schema: pa.Schema) -> Iterator[RowWriter]:
    """Where the rows of a table go; the file is there when all of them are."""
    import pyarrow.parquet as pq

    with (
        replacing(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        yield RowWriter(writer, schema)


def rows_in(
    path: Path, columns: list[str] | None = None, only: Set[str] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of a table, or those of some cases."""
    with naming_damage(path), opened(path) as file:
        rows = 0
        for batch in file.iter_batches(ROWS, columns=columns):
            rows += len(batch)
            yield from (batch if only is None else _of_cases(batch, only)).to_pylist()
        stop_if_missing(file, rows)


def _of_cases(batch: pa.RecordBatch, only: Set[str]) -> pa.RecordBatch:
    import pyarrow as pa

    return batch.filter(pa.array([case_id in only for case_id in batch["case_id"].to_pylist()], pa.bool_()))


def rows_of(path: Path, start: int, stop: int, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows from one place to another of a table; the other groups are not read."""
    with naming_damage(path), opened(path) as file:
        for group in range(start // ROWS, -(-stop // ROWS)):
            table = file.read_row_group(group, columns)
            first, last = max(start - group * ROWS, 0), min(stop - group * ROWS, ROWS)
            if len(table) < last:
                raise ValueError(f"{len(table)} of {last} rows of a group can be read")
            yield from table.slice(first, last - first).to_pylist()


def opened(path: Path) -> pq.ParquetFile:
    """A table whose pages are held against their checksums: bytes that a disk flips change no number."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(path, page_checksum_verification=True)


def stop_if_missing(file: pq.ParquetFile, rows: int) -> None:
    """Pages whose headers say something else are left out without a word."""
    if rows != file.metadata.num_rows:
        raise ValueError(f"{rows} of {file.metadata.num_rows} rows can be read")


def facts_of(path: Path) -> bytes:
    """What was said of all rows of a table."""
    import pyarrow.parquet as pq

    facts: bytes = pq.read_metadata(path).metadata[FACTS]
    return facts
