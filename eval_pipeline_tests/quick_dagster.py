"""Dagster's storage in SQLite, quicker: the same statements on the same files.

For every connection it makes an engine, and with it forgets how statements are compiled; for every run it
reads all of its migrations again; and it waits for the disk, which matters when the power fails. None of
this is under test. Processes that tests start do without it, but for the simulated month.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from alembic.config import Config
from alembic.script import ScriptDirectory
from dagster._core.storage import sql
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage
from sqlalchemy import NullPool, event

STORAGES: tuple[ModuleType, ...] = (sqlite_event_log, sqlite_run_storage, sqlite_schedule_storage)
MOST_ENGINES = 100


def hurry() -> None:
    """Make Dagster's storages quicker in this process."""
    for storage in STORAGES:
        storage.__dict__["create_engine"] = _kept(storage.__dict__["create_engine"])
    sql.__dict__["ScriptDirectory"] = _Migrations


def _kept(create: Callable[..., Any]) -> Callable[..., Any]:
    """Engines without a pool hold no connection and no file: one per address does the same."""
    engines: dict[str, Any] = {}

    def create_engine(url: str, **options: Any) -> Any:
        if options.get("poolclass") is not NullPool:
            return create(url, **options)
        address = repr((url, sorted(options.items(), key=repr)))
        if address not in engines:
            if len(engines) >= MOST_ENGINES:
                engines.clear()
            engines[address] = create(url, **options)
            event.listen(engines[address], "connect", _without_waiting)
        return engines[address]

    return create_engine


def _without_waiting(connection: Any, _: object) -> None:
    connection.execute("PRAGMA synchronous=OFF")


class _Migrations(ScriptDirectory):
    """Migrations that are read once."""

    known: dict[str, ScriptDirectory] = {}  # noqa: RUF012

    @classmethod
    def from_config(cls, config: Config) -> ScriptDirectory:
        place = str(config.get_main_option("script_location"))
        if place not in cls.known:
            cls.known[place] = ScriptDirectory.from_config(config)
        return cls.known[place]
