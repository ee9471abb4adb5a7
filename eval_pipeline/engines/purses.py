"""Purses: what the processes of one run spent together, and have set aside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from eval_pipeline.engines.journal_tables import AMOUNTS
from eval_pipeline.store import Database

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row, Table

LEASE_SECONDS = 60.0
NOBODY = ""
"""Who holds what processes that are gone leave behind."""


class Purses:
    """The purses of all runs, in the journal's database. Every method is one short transaction."""

    def __init__(self, database: Database, table: Table, clock: Callable[[], float]) -> None:
        self._database = database
        self._table = table
        self._clock = clock

    def set_aside(
        self,
        purse: str,
        owner: str,
        estimate: Mapping[str, float],
        may: Callable[[Mapping[str, float]], bool],
        is_gone: Callable[[str], bool] = lambda _: False,
    ) -> bool:
        """Set an estimate aside where `may` says so of the sums over all processes; whether it did."""
        with self._database.writing(f"purse {purse}") as connection:
            rows = self._without_gone(connection, purse, owner, is_gone)
            allowed = may({name: sum(getattr(row, name) for row in rows) for name in AMOUNTS})
            if allowed:
                self._add(
                    connection, purse, owner, {f"aside_{what}": each for what, each in estimate.items()}
                )
            return allowed

    def change(self, purse: str, owner: str, change: Mapping[str, float]) -> None:
        """Count what became of a call."""
        with self._database.writing(f"purse {purse}") as connection:
            self._add(connection, purse, owner, change)

    def keep(self, purse: str, owner: str) -> None:
        """Let what an owner set aside count for it for a while longer."""
        with self._database.writing(f"purse {purse}") as connection:
            self._add(connection, purse, owner, {})

    def leave(self, purse: str, owner: str) -> None:
        """Let what an owner spent be counted without it."""
        with self._database.writing(f"purse {purse}") as connection:
            rows = connection.execute(self._of(purse)).all()
            self._settle(connection, purse, [row for row in rows if row.owner == owner])

    def forget(self, before: float) -> None:
        """Drop the purses that nobody touched since a moment."""
        with self._database.writing("purses") as connection:
            connection.execute(self._table.delete().where(self._table.c.leased_until < before))

    def _without_gone(
        self, connection: Connection, purse: str, owner: str, is_gone: Callable[[str], bool]
    ) -> list[Row[Any]]:
        now = self._clock()
        rows = connection.execute(self._of(purse)).all()
        gone = [
            row
            for row in rows
            if row.owner not in (owner, NOBODY) and (row.leased_until <= now or is_gone(row.owner))
        ]
        if gone:
            self._settle(connection, purse, gone)
            rows = connection.execute(self._of(purse)).all()
        return list(rows)

    def _settle(self, connection: Connection, purse: str, rows: list[Row[Any]]) -> None:
        """Add what owners spent to what nobody holds; what they have aside came to what it was taken for."""
        for row in rows:
            change = {name: getattr(row, name) for name in AMOUNTS if not name.startswith("aside_")}
            for name in change:
                change[name] += max(0.0, getattr(row, f"aside_{name.partition('_')[2]}"))
            self._add(connection, purse, NOBODY, change)
            connection.execute(
                self._table.delete().where(self._table.c.purse == purse, self._table.c.owner == row.owner)
            )

    def _of(self, purse: str) -> Any:
        return self._table.select().where(self._table.c.purse == purse)

    def _add(self, connection: Connection, purse: str, owner: str, change: Mapping[str, float]) -> None:
        columns = self._table.c
        leased = self._clock() + LEASE_SECONDS
        first = {**dict.fromkeys(AMOUNTS, 0.0), **change}
        statement = self._database.insert(self._table).values(
            purse=purse, owner=owner, leased_until=leased, **first
        )
        sums = {name: columns[name] + each for name, each in change.items()}
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["purse", "owner"], set_={**sums, "leased_until": leased}
            )
        )
