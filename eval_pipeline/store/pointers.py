"""Names that move: each leads to one small text, and two who move it at once never lose what the other wrote.

They lie in the database that several machines share, or in an object storage that can create an object only
where there is none.
"""

from __future__ import annotations

import functools
import random
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from eval_pipeline.problems import bad_value
from eval_pipeline.store.database import Database, Stored, text_type

if TYPE_CHECKING:
    from sqlalchemy import Table

    from eval_pipeline.store.objects import ObjectStorage

MOST_ATTEMPTS = 30
LONGEST_PAUSE = 1.0
KEPT_MOVES = 32
"""So many of the last places of a pointer stay for those who are just reading one.

While somebody rests between a move and a look at those after it, others must not move as often: it would be
taken for one that came too late, and made again.
"""
FOLDER = "pointers"
_MOVE = re.compile(r"(?P<number>\d{12})\.json")


class Pointer(NamedTuple):
    """Where a name leads, and how often it was moved."""

    number: int
    text: str


class Pointers(Protocol):
    """Names that move."""

    def get(self, name: str) -> Pointer | None:
        """Where a name leads now; None for nowhere."""

    def move(self, name: str, seen: int, text: str) -> bool:
        """Let a name lead elsewhere, unless it was moved since it was seen; 0 is one that led nowhere."""

    def names(self, prefix: str) -> list[str]:
        """The names that begin so, in order."""

    def drop(self, name: str) -> None:
        """Let a name lead nowhere."""


def change(pointers: Pointers, name: str, new: Callable[[str], str]) -> None:
    """Let a name lead to what follows from where it leads now, blank for nowhere, whoever else moves it."""
    for attempt in range(MOST_ATTEMPTS):
        known = pointers.get(name)
        text = new(known.text if known else "")
        if known and text == known.text:
            return
        if pointers.move(name, known.number if known else 0, text):
            return
        time.sleep(random.uniform(0, min(LONGEST_PAUSE, 0.01 * 2**attempt)))
    raise bad_value("store", f"{name} is moved by others all the time", "Run again.")


class DatabasePointers(Stored):
    """Pointers in a database."""

    def __init__(self, url: str) -> None:
        self._table = pointer_table()
        super().__init__(Database(url, self._table.metadata))

    def get(self, name: str) -> Pointer | None:
        """Where a name leads now; None for nowhere."""
        from sqlalchemy import select

        columns = self._table.c
        with self._database.reading() as connection:
            found = select(columns.number, columns.text).where(columns.name == name)
            row = connection.execute(found).first()
        return Pointer(*row) if row else None

    def move(self, name: str, seen: int, text: str) -> bool:
        """Let a name lead elsewhere, unless it was moved since it was seen; 0 is one that led nowhere."""
        columns, new = self._table.c, {"number": seen + 1, "text": text}
        if seen:
            moved = self._table.update().where(columns.name == name, columns.number == seen).values(**new)
        with self._database.writing("pointers") as connection:
            if seen:
                return bool(connection.execute(moved).rowcount)
            made = self._database.insert(self._table).values(name=name, **new)
            once = made.on_conflict_do_nothing(index_elements=["name"]).returning(columns.name)
            return connection.execute(once).first() is not None

    def names(self, prefix: str) -> list[str]:
        """The names that begin so, in order."""
        from sqlalchemy import select

        name = self._table.c.name
        with self._database.reading() as connection:
            found = select(name).where(name.startswith(prefix, autoescape=True)).order_by(name)
            return list(connection.scalars(found))

    def drop(self, name: str) -> None:
        """Let a name lead nowhere."""
        with self._database.writing("pointers") as connection:
            connection.execute(self._table.delete().where(self._table.c.name == name))


class ObjectPointers:
    """Pointers in an object storage: a folder each, with a numbered object for every move.

    Who moves creates the next number, and only one can.
    """

    def __init__(self, storage: ObjectStorage) -> None:
        self._storage = storage

    def get(self, name: str) -> Pointer | None:
        """Where a name leads now; None for nowhere."""
        for _ in range(MOST_ATTEMPTS):
            numbers = self._moves(name)
            if not numbers:
                return None
            text = self._storage.read(_place(name, numbers[-1]))
            if text is not None:  # else it was moved many times meanwhile
                return Pointer(numbers[-1], text.decode())
        raise bad_value("store", f"{name} is moved by others all the time", "Run again.")

    def move(self, name: str, seen: int, text: str) -> bool:
        """Let a name lead elsewhere, unless it was moved since it was seen; 0 is one that led nowhere."""
        if not self._storage.create(_place(name, seen + 1), text.encode()):
            return False
        moves = self._moves(name)
        if moves and moves[-1] > seen + KEPT_MOVES:  # this number was there before, and deleted since
            self._storage.delete(_place(name, seen + 1))
            return False
        for number in moves:
            if number <= seen + 1 - KEPT_MOVES:
                self._storage.delete(_place(name, number))
        return True

    def names(self, prefix: str) -> list[str]:
        """The names that begin so, in order."""
        above = prefix.rpartition("/")[0]
        found = self._storage.below(f"{FOLDER}/{above}" if above else FOLDER)
        names = {place.rpartition("/")[0].removeprefix(f"{FOLDER}/") for place in found}
        return sorted(name for name in names if name.startswith(prefix))

    def drop(self, name: str) -> None:
        """Let a name lead nowhere."""
        for number in self._moves(name):
            self._storage.delete(_place(name, number))

    def _moves(self, name: str) -> list[int]:
        found = map(_MOVE.fullmatch, self._storage.inside(f"{FOLDER}/{name}"))
        return sorted(int(each["number"]) for each in found if each)


def _place(name: str, number: int) -> str:
    return f"{FOLDER}/{name}/{number:012d}.json"


@functools.cache
def pointer_table() -> Table:
    """The table of pointers, described for SQLAlchemy."""
    from sqlalchemy import BigInteger, Column, MetaData, Table

    text = text_type()
    return Table(
        "store_pointers",
        MetaData(),
        Column("name", text, primary_key=True),
        Column("number", BigInteger, nullable=False),
        Column("text", text, nullable=False),
    )
