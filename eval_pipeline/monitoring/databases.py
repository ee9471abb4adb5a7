"""DuckDB as an engine: always in memory, of one thread alone, and fetching nothing from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ALONE = {"threads": 1, "autoinstall_known_extensions": False, "autoload_known_extensions": False}
"""One thread adds up in the same order every time; whoever wants more speed opens several."""


def in_memory(settings: Mapping[str, Any] | None = None) -> DuckDBPyConnection:
    """A database that is gone when it is closed. It reads `memory://` as fsspec does."""
    import duckdb
    import fsspec

    connection = duckdb.connect(":memory:", config={**ALONE, **(settings or {})})
    connection.register_filesystem(fsspec.filesystem("memory"))
    connection.execute("SET TimeZone = 'UTC'")
    return connection
