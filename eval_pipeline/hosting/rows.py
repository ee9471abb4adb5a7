"""Where the rows of an asset are had that its host's IO manager cannot load: files, and functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from eval_pipeline.hosting.names import NAMED, of_module
from eval_pipeline.orchestration import Context
from eval_pipeline.problems import BadInput, Problem, bad_value, shown_path

IO_MANAGER = "io_manager"
SUFFIXES = (".parquet", ".csv")
PARTITION = "{partition}"

Load = Callable[[Context], Any]


def rows_loader(rows: str | Load, folder: Path) -> Load | None:
    """What loads rows: None for the host's IO manager, else a file's path or `module:function(context)`.

    `{partition}` in a path stands for the partition's key; one that would lead elsewhere is refused.
    """
    if callable(rows):
        return rows
    if rows == IO_MANAGER:
        return None
    if NAMED.fullmatch(rows):
        return _function(rows)
    if Path(rows).suffix.lower() in SUFFIXES:
        return lambda context: _read(_file(rows, folder, context))
    remedy = f"Write {IO_MANAGER}, a path that ends in {' or '.join(SUFFIXES)}, or package.module:function."
    raise bad_value("rows", f"{rows!r} does not say where rows are", remedy)


def _function(named: str) -> Load:
    """A function of the host."""
    found = of_module(named, "rows")
    if not callable(found):
        remedy = "Name a function that gets the context and returns rows."
        raise bad_value("rows", f"{named} is no function", remedy)
    return found  # type: ignore[no-any-return]


def _file(template: str, folder: Path, context: Context) -> Path:
    """The file of a run's partition."""
    if PARTITION not in template:
        return folder / template
    key = context.partition_key if context.has_partition_key else ""
    if not key:
        remedy = f"Leave {PARTITION} out, or let `partitions` say how the asset is partitioned."
        raise bad_value("rows", f"{template!r} wants a partition, and the run has none", remedy)
    if Path(key).name != key or key in (".", ".."):
        remedy = "Load them with a function of yours: rows: package.module:function."
        raise bad_value("rows", f"the partition {key!r} cannot be part of a path", remedy)
    return folder / template.replace(PARTITION, key)


def _read(file: Path) -> Any:
    """A table of a file, as Arrow has it."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    remedy = "Materialize the asset first, or correct `rows`."
    if not file.is_file():
        raise BadInput([Problem(shown_path(file), 0, "rows", "is not there", remedy)])
    try:
        if file.suffix.lower() == ".parquet":
            return pyarrow.parquet.read_table(file)
        return pyarrow.csv.read_csv(file, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True))
    except (pa.ArrowException, OSError) as error:
        reason = f"cannot be read: {' '.join(str(error).split())}"
        raise BadInput([Problem(shown_path(file), 0, "rows", reason, remedy)]) from None
