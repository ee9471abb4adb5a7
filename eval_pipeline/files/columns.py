"""Results as typed columns for other programs: CSV, JSON and Parquet files, and pandas data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from eval_pipeline.files.writing import replacing
from eval_pipeline.problems import bad_value

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Kind = Literal["text", "text?", "int", "int?", "float", "float?", "flag", "time"]
"""What a column holds; a question mark says that it may be null."""

ENDINGS = (".csv", ".json", ".parquet")
ACTING = r"^[=+\-@\t\r]"
"""Text that a spreadsheet would take for a formula."""
ROWS_AT_ONCE = 1000


def typed_table(kinds: Mapping[str, Kind], rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows as an Arrow table of these columns; where a row lacks one that may be null, it is."""
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "int": pa.int64(),
        "float": pa.float64(),
        "flag": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"),
    }
    fields = [
        pa.field(name, types[kind.rstrip("?")], nullable=kind.endswith("?")) for name, kind in kinds.items()
    ]
    every = list(rows)
    columns = [
        [row.get(field.name) if field.nullable else row[field.name] for row in every] for field in fields
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def data_frame(table: pa.Table) -> pd.DataFrame:
    """A table as a data frame.

    Columns that may be null get pandas' nullable types (`Int64`, `Float64`, `boolean`), the others NumPy's
    (`int64`, `float64`, `bool`). Text is always `string`; times know their time zone.
    """
    import pandas as pd
    import pyarrow as pa

    nullable = {
        pa.string(): pd.StringDtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    plain = {pa.int64(): "int64", pa.float64(): "float64", pa.bool_(): "bool"}
    frame: pd.DataFrame = table.to_pandas(types_mapper=nullable.get)
    never_null = [field for field in table.schema if not field.nullable and field.type in plain]
    return frame.astype({field.name: plain[field.type] for field in never_null})


def export_ending(path: Path) -> str:
    """The ending that says how a file is to be written; one that says nothing is bad input."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        remedy = f"Endings: {', '.join(ENDINGS)}."
        raise bad_value("--export", f"{path.name!r} does not say by its ending how to write it", remedy)
    return ending


def export_table(path: Path, table: pa.Table) -> None:
    """Write a table atomically, as the file's ending says."""
    writers = {".csv": _write_csv, ".json": _write_json, ".parquet": _write_parquet}
    write = writers[export_ending(path)]
    with replacing(path) as temporary:
        write(temporary, table)


def _write_csv(path: Path, table: pa.Table) -> None:
    """Text that would act in a spreadsheet gets an apostrophe before it; numbers stay as they are."""
    import pyarrow as pa
    import pyarrow.csv as pc

    names = _inert(pa.chunked_array([table.column_names], pa.string())).to_pylist()
    pc.write_csv(pa.table([_written(column) for column in table.columns], names=names), path)


def _written(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        return pa.array([value and value.isoformat() for value in column.to_pylist()], pa.string())
    return _inert(column) if pa.types.is_string(column.type) else column


def _inert(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    acts = pc.match_substring_regex(column, ACTING)
    return pc.if_else(acts, pc.binary_join_element_wise("'", column, ""), column)


def _write_json(path: Path, table: pa.Table) -> None:
    """A list with a row on each line."""
    with path.open("wb") as file:
        before = b"["
        for batch in table.to_batches(ROWS_AT_ONCE):
            for row in batch.to_pylist():
                file.write(before + b"\n" + msgspec.json.encode(row))
                before = b","
        file.write((b"" if before == b"," else before) + b"\n]\n")


def _write_parquet(path: Path, table: pa.Table) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, path, compression="zstd", write_page_checksum=True)
