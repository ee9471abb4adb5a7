"""The one door to Dagster's private parts; importing it fails when Dagster moved one of them.

Three parts save time where nothing is asked. Dagster's event log opens and closes a file for each of the
some 160 events of an evaluation, which is half of a run; here its files stay open. For each database that it
opens, Dagster reads the hundred files of its migrations; here they are read once. To keep what steps print,
Dagster starts four processes; here it goes to the caller. And of a run that is deleted Dagster keeps what its
checks said; here that is deleted, too. And to a run in this process Dagster gives no code location, so that
neither the home page nor the timeline nor the job's page would show it; here it gets the one that the UI
loads. Without them Dagster's own way serves.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dagster import DagsterEventType
from dagster._core.remote_origin import (
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.storage.event_log import SqlEventLogStorage, SqliteEventLogStorage
from dagster._core.storage.noop_compute_log_manager import NoOpComputeLogManager
from dagster._core.storage.sql import ScriptDirectory  # type: ignore[attr-defined]
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

if TYPE_CHECKING:
    from dagster import AssetKey, AssetRecordsFilter, DagsterInstance, EventLogEntry, EventRecordsResult
    from dagster._serdes import ConfigurableClassData
    from sqlalchemy import Connection, Engine

FOLDER = Path("history", "runs")
"""Where Dagster keeps its event log by default."""
CHECKS = "asset_check_executions"
"""The table of what checks said."""
REPOSITORY = "__repository__"
"""What Dagster calls that which a code location holds."""
AT_ONCE = 500
MOST_OPEN = 8
BUSY_SECONDS = 60.0
INHERITED = ("_connect", "conn_string_for_shard", "path_for_shard")
"""Methods of Dagster's event log that are replaced or called below."""

for _name in INHERITED:
    if not hasattr(SqliteEventLogStorage, _name):
        raise ImportError(f"Dagster's SqliteEventLogStorage has no {_name}")

# By the configuration, of which Dagster itself keeps one for each kind of database.
ScriptDirectory.from_config = cache(ScriptDirectory.from_config)  # type: ignore[method-assign]


def settings_of_a_run(configured: Mapping[str, Any], state: Path) -> dict[str, Any]:
    """The instance settings that suit a run in this process, where nothing else is configured."""
    settings: dict[str, Any] = {}
    if not {"storage", "event_log_storage"} & configured.keys():
        settings["event_log_storage"] = {
            "module": KeptEventLog.__module__,
            "class": KeptEventLog.__name__,
            "config": {"base_dir": str(state / FOLDER)},
        }
    if "compute_logs" not in configured:
        settings["compute_logs"] = {
            "module": NoOpComputeLogManager.__module__,
            "class": NoOpComputeLogManager.__name__,
        }
    return settings


def show_runs_of(instance: DagsterInstance, job: str, *, module: str, location: str) -> None:
    """Let runs that this process makes of a job be known as runs of the code location that the UI loads."""
    loaded = LoadableTargetOrigin(module_name=module)
    origin = RemoteJobOrigin(
        RemoteRepositoryOrigin(ManagedGrpcPythonEnvCodeLocationOrigin(loaded, location), REPOSITORY), job
    )
    create = partial(instance.create_run_for_job, remote_job_origin=origin)
    instance.create_run_for_job = create  # type: ignore[method-assign]


def forget_checks(instance: DagsterInstance) -> None:
    """Delete what checks said in runs that are not there any more."""
    from sqlalchemy import String, column, delete, select, table

    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage) or not storage.has_table(CHECKS):
        return
    run = column("run_id", String)
    checks = table(CHECKS, run)
    with storage.index_connection() as connection:
        known = {"", *instance.get_run_ids()}  # after the lock: who began since is among them
        gone = sorted(set(connection.scalars(select(run).select_from(checks).distinct())) - known)
        for first in range(0, len(gone), AT_ONCE):
            connection.execute(delete(checks).where(run.in_(gone[first : first + AT_ONCE])))


class KeptEventLog(SqliteEventLogStorage):
    """Dagster's own event log, to the byte. It is meant for a process that runs one evaluation and ends."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._open: OrderedDict[str, Engine] = OrderedDict()
        self._tables: set[str] = set()
        self._shards: set[str] = set()
        self._lock = threading.Lock()
        self._fetched: tuple[Any, EventRecordsResult] | None = None
        self._changes = 0
        super().__init__(base_dir, inst_data)

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> Self:
        """The log in the folder that the configuration names."""
        return cls(inst_data=inst_data, **config_value)

    def store_event(self, event: EventLogEntry) -> None:
        """Store an event, and let who watches the file know: what is new stands beside it for a while."""
        materialized = event.dagster_event_type == DagsterEventType.ASSET_MATERIALIZATION
        with self._changing() if materialized else nullcontext():
            super().store_event(event)
        with suppress(FileNotFoundError):
            os.utime(self.path_for_shard(event.run_id))

    def fetch_materializations(
        self,
        records_filter: AssetKey | AssetRecordsFilter,
        limit: int,
        cursor: str | None = None,
        ascending: bool = False,
    ) -> EventRecordsResult:
        """What was materialized. Every check asks twice, and is told again until there is something new."""
        with self.index_connection() as connection:
            by_others = connection.exec_driver_sql("PRAGMA data_version").scalar()
        asked = (records_filter, limit, cursor, ascending, by_others, self._changes)
        fetched = self._fetched
        if fetched is None or fetched[0] != asked:
            fetched = asked, super().fetch_materializations(records_filter, limit, cursor, ascending)
            self._fetched = fetched
        return fetched[1]

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """What another thread fetches meanwhile is told to nobody later."""
        try:
            yield
        finally:
            self._changes += 1

    def has_table(self, table_name: str) -> bool:
        """Whether there is a table. One that is there stays."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def delete_events(self, run_id: str) -> None:
        """Remove the events of a run."""
        with self._changing():
            super().delete_events(run_id)

    def wipe_asset(self, asset_key: AssetKey) -> None:
        """Forget what was materialized of an asset."""
        with self._changing():
            super().wipe_asset(asset_key)

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
        if shard not in self._shards:
            with super()._connect(shard):
                self._shards.add(shard)  # its tables are there now
        with self._lock, self._kept(shard).begin() as connection:
            yield connection

    def _kept(self, shard: str) -> Engine:
        from sqlalchemy import StaticPool, create_engine

        if shard not in self._open:
            # One thread at a time uses it, since the lock is held for as long.
            arguments = {"timeout": BUSY_SECONDS, "check_same_thread": False}
            url = self.conn_string_for_shard(shard)
            self._open[shard] = create_engine(url, poolclass=StaticPool, connect_args=arguments)
        self._open.move_to_end(shard)
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)[1].dispose()
            self._fetched = None  # what another connection says of changes by others cannot be compared
        return self._open[shard]

    def _close(self) -> None:
        with self._lock:
            self._shards.clear()
            self._fetched = None
            while self._open:
                self._open.popitem()[1].dispose()
