"""Slots: how many calls each process may have under way at once, shared fairly between all."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from eval_pipeline.store import Database

if TYPE_CHECKING:
    from sqlalchemy import Table

TURN_SECONDS = 10.0


class Slots:
    """The slots of all scopes, in the journal's database. Every method is one short transaction."""

    def __init__(self, database: Database, table: Table, clock: Callable[[], float]) -> None:
        self._database = database
        self._table = table
        self._clock = clock

    def share(
        self,
        scope: str,
        owner: str,
        slots: int,
        *,
        wanted: int,
        held: int,
        idle: bool = False,
        seconds: float,
        is_gone: Callable[[str], bool] = lambda _: False,
    ) -> int:
        """How many of a scope's slots this owner may use from now on, beside all others who want some.

        What this owner holds is not given to others until a later call says that it holds less. An idle
        owner gets what nobody else wants. A share is held for that many seconds.
        """
        holders = self._table.c
        with self._database.writing(f"slots {scope}") as connection:
            now = self._clock()
            rows = connection.execute(self._table.select().where(holders.scope == scope)).all()
            gone = [row.owner for row in rows if row.leased_until <= now or is_gone(row.owner)]
            others = [row for row in rows if row.owner != owner and row.owner not in gone]
            if gone:
                connection.execute(
                    self._table.delete().where(holders.scope == scope, holders.owner.in_(gone))
                )
            wishes = {row.owner: row.wanted for row in others} | {owner: 0 if idle else wanted}
            fair = _fair_shares(slots, wishes, int(now // TURN_SECONDS))
            mine = min(wanted, slots - sum(fair.values())) if idle else fair[owner]
            may_use = int(max(0, min(mine, slots - sum(row.granted for row in others))))
            values = {
                "wanted": wishes[owner],
                "granted": max(held, may_use),
                "leased_until": now + seconds,
            }
            statement = self._database.insert(self._table).values(scope=scope, owner=owner, **values)
            connection.execute(
                statement.on_conflict_do_update(index_elements=["scope", "owner"], set_=values)
            )
        return may_use

    def leave(self, owner: str) -> None:
        """Give up every slot of an owner."""
        with self._database.writing("leave") as connection:
            connection.execute(self._table.delete().where(self._table.c.owner == owner))


def _fair_shares(slots: int, wanted: Mapping[str, int], turn: int) -> dict[str, int]:
    """The same share for each, as far as it is wanted; the turn decides who gets a remainder."""
    shares: dict[str, int] = {}

    def place(owner: str) -> tuple[int, int, str]:
        return wanted[owner], zlib.crc32(f"{turn} {owner}".encode()), owner

    for left, owner in enumerate(sorted(wanted, key=place)):
        shares[owner] = min(wanted[owner], slots // (len(wanted) - left))
        slots -= shares[owner]
    return shares
