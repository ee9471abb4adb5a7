"""DuckDB as an engine: always in memory, of one thread alone, and fetching nothing from anywhere."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

THREADS = 2
"""How many threads work at a time, on pieces of a file or on days."""
ALONE = {"threads": 1, "autoinstall_known_extensions": False, "autoload_known_extensions": False}
"""One thread adds up in the same order every time; whoever wants more speed opens several."""


def in_memory(settings: Mapping[str, Any] | None = None) -> DuckDBPyConnection:
    """A database that is gone when it is closed. It reads what is held in memory."""
    import duckdb

    from eval_pipeline.monitoring.held import HELD

    connection = duckdb.connect(":memory:", config={**ALONE, **(settings or {})})
    connection.register_filesystem(HELD)
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    return connection


def in_passing(**settings: Any) -> DuckDBPyConnection:
    """A cursor of a database that a process keeps, for queries that leave nothing behind.

    Opening a database takes as long as reading thousands of lines.
    """
    return _kept[-1](tuple(sorted(settings.items()))).cursor()


def _keeping() -> Callable[[tuple[tuple[str, Any], ...]], DuckDBPyConnection]:
    return functools.lru_cache(maxsize=2)(lambda settings: in_memory(dict(settings)))


_kept = [_keeping()]
"""Those of this process last; a process that is forked neither uses nor closes what its parents have open."""
os.register_at_fork(after_in_child=lambda: _kept.append(_keeping()))


def aside(folder: Path, process: int) -> str:
    """Where a process puts aside what does not fit. Another one is made where somebody swept it away."""
    known = _ASIDE.get((folder, process))
    if known is None or not known.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        # Processes on different machines may have the same number.
        known = _ASIDE[folder, process] = Path(tempfile.mkdtemp(prefix=".", suffix=".tmp", dir=folder))
        atexit.register(_remove, known, process)
    return str(known)


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # one that was forked ends earlier
        shutil.rmtree(folder, ignore_errors=True)


_ASIDE: dict[tuple[Path, int], Path] = {}
