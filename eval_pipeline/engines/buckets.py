"""Buckets: how much may be asked per minute, by all processes together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from eval_pipeline.store import Database

if TYPE_CHECKING:
    from sqlalchemy import Connection, CursorResult, Table

CLOCK_SET_BACK = 60.0
LONGEST_PAUSE = 24 * 3600.0
"""A longer pause is cut to this; one that reaches further was kept while a clock was wrong, and is over."""


class Buckets:
    """The buckets of the rate limiter, in the journal's database. Every method is one short transaction."""

    def __init__(self, database: Database, table: Table, clock: Callable[[], float]) -> None:
        self._database = database
        self._table = table
        self._clock = clock

    def take(self, bucket: str, amount: float, per_minute: float, burst: float) -> float:
        """Take from a bucket and return 0, or take nothing and return the seconds until there is enough.

        More than the burst can be taken from a full bucket, which then owes the rest, but never more than
        a minute's: whatever was counted, and whenever, nobody waits much longer than that.
        """
        with self._database.writing(f"bucket {bucket}") as connection:
            now = self._clock()
            level, refilled_at, paused_until = self._bucket(connection, bucket, now)
            if now < refilled_at - CLOCK_SET_BACK:
                refilled_at = now
            level = min(burst, max(level, -per_minute) + max(0.0, now - refilled_at) * per_minute / 60)
            missing = min(amount, burst) - level
            wait = max(missing * 60 / per_minute, 0.0)
            if not wait:
                level -= amount
            self._fill(connection, bucket, level, max(now, refilled_at), paused_until)
        return wait

    def give_back(self, bucket: str, amount: float) -> None:
        """Put back what was taken and not used; a negative amount takes what was used beyond it."""
        with self._database.writing(f"bucket {bucket}") as connection:
            level, refilled_at, paused_until = self._bucket(connection, bucket, self._clock())
            self._fill(connection, bucket, level + amount, refilled_at, paused_until)

    def paused_until(self, bucket: str) -> float:
        """Until when an endpoint wants to be left alone (seconds since 1970); a moment gone by where not."""
        now = self._clock()
        with self._database.reading() as connection:
            return self._believable(self._bucket(connection, bucket, now)[2], now)

    def pause(self, bucket: str, seconds: float) -> None:
        """Keep for everybody that an endpoint wants to be left alone; a longer pause stays."""
        with self._database.writing(f"bucket {bucket}") as connection:
            now = self._clock()
            level, refilled_at, paused_until = self._bucket(connection, bucket, now)
            until = max(self._believable(paused_until, now), now + min(seconds, LONGEST_PAUSE))
            self._fill(connection, bucket, level, refilled_at, until)

    def reset(self) -> int:
        """Forget what was taken and every pause; return how many buckets there were."""
        with self._database.writing("buckets") as connection:
            deleted: CursorResult[Any] = connection.execute(self._table.delete())
            return deleted.rowcount

    @staticmethod
    def _believable(until: float, now: float) -> float:
        return until if until <= now + LONGEST_PAUSE else 0.0

    def _bucket(self, connection: Connection, bucket: str, now: float) -> tuple[float, float, float]:
        row = connection.execute(self._table.select().where(self._table.c.name == bucket)).one_or_none()
        # A bucket nobody took from is full, however large its burst is.
        return (row.level, row.refilled_at, row.paused_until) if row else (math.inf, now, 0.0)

    def _fill(
        self, connection: Connection, bucket: str, level: float, refilled_at: float, paused_until: float
    ) -> None:
        values = {"level": level, "refilled_at": refilled_at, "paused_until": paused_until}
        statement = self._database.insert(self._table).values(name=bucket, **values)
        connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))
