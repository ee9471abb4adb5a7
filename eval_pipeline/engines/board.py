"""The board of a run that several processes work on: each says there how far its shard is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from eval_pipeline.store import Database

if TYPE_CHECKING:
    from sqlalchemy import Table

HEAD = ""
"""The note that makes a run known."""


class Board:
    """The notes of all runs, in the journal's database. Every method is one short transaction."""

    def __init__(self, database: Database, table: Table, clock: Callable[[], float]) -> None:
        self._database = database
        self._table = table
        self._clock = clock

    def open(self, run: str) -> None:
        """Make a run known to its workers."""
        self.post(run, HEAD, b"")

    def is_open(self, run: str) -> bool:
        """Whether a run is known: who does not see it looks at another database than its driver."""
        columns = self._table.c
        known = self._table.select().where(columns.run == run, columns.shard == HEAD)
        with self._database.reading() as connection:
            return connection.execute(known).first() is not None

    def post(self, run: str, shard: str, news: bytes) -> None:
        """Say how far a shard is, in place of what was said before."""
        values = {"news": news, "told_at": self._clock()}
        statement = self._database.insert(self._table).values(run=run, shard=shard, **values)
        with self._database.writing("board") as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["run", "shard"], set_=values))

    def news(self, run: str) -> dict[str, bytes]:
        """The latest of every shard that said anything."""
        columns = self._table.c
        with self._database.reading() as connection:
            rows = connection.execute(self._table.select().where(columns.run == run, columns.shard != HEAD))
            return {row.shard: row.news for row in rows}

    def close(self, run: str) -> None:
        """Take down the notes of a run."""
        with self._database.writing("board") as connection:
            connection.execute(self._table.delete().where(self._table.c.run == run))

    def forget(self, before: float) -> None:
        """Take down what nobody touched since a moment: its driver is gone."""
        with self._database.writing("board") as connection:
            connection.execute(self._table.delete().where(self._table.c.told_at < before))
