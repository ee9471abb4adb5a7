"""Dagster's event log in SQLite with its files kept open.

Dagster opens and closes a file for every event, and SQLite tidies up after the last one who closes it. An
evaluation has some 160 events: where nothing is asked, that takes half of the time of a run.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from dagster._core.events.log import EventLogEntry
    from dagster._serdes import ConfigurableClassData
    from sqlalchemy import Connection, Engine

FOLDER = Path("history", "runs")
"""Where Dagster keeps its event log by default."""
MOST_OPEN = 8


class KeptEventLog(SqliteEventLogStorage):
    """Dagster's own event log, to the byte. It is meant for a process that runs one evaluation and ends."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._open: OrderedDict[str, Engine] = OrderedDict()
        self._tables: set[str] = set()
        super().__init__(base_dir, inst_data)

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> Self:
        """The log in the folder that the configuration names."""
        return cls(inst_data=inst_data, **config_value)

    def store_event(self, event: EventLogEntry) -> None:
        """Store an event, and let who watches the file know: what is new stands beside it for a while."""
        super().store_event(event)
        with suppress(FileNotFoundError):
            os.utime(self.path_for_shard(event.run_id))

    def has_table(self, table_name: str) -> bool:
        """Whether there is a table. One that is there stays."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def wipe(self) -> None:
        """Remove all events."""
        self._close()
        super().wipe()

    def dispose(self) -> None:
        """Close the files."""
        self._close()
        super().dispose()

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        if shard not in self._initialized_dbs:
            with super()._connect(shard):
                pass  # its tables are there now
        with self._db_lock, self._kept(shard).begin() as connection:
            yield connection

    def _kept(self, shard: str) -> Engine:
        from sqlalchemy import StaticPool, create_engine

        if shard not in self._open:
            # One thread at a time uses it, since the lock is held for as long.
            arguments = {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False}
            url = self.conn_string_for_shard(shard)
            self._open[shard] = create_engine(url, poolclass=StaticPool, connect_args=arguments)
        self._open.move_to_end(shard)
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)[1].dispose()
        return self._open[shard]

    def _close(self) -> None:
        with self._db_lock:
            while self._open:
                self._open.popitem()[1].dispose()
