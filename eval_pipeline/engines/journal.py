"""The journal of metered calls: no process asks again for what was answered once.

It also holds the slots and buckets of the rate limiter: processes that share answers share limits, too; and
what the processes of one run share besides, its budget, the state of its endpoints and how far they are.
SQLite by default, PostgreSQL by URL. There is no column for keys, headers or addresses.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import msgspec

from eval_pipeline.engines.board import Board
from eval_pipeline.engines.buckets import Buckets
from eval_pipeline.engines.health import HealthTable
from eval_pipeline.engines.journal_tables import journal_tables
from eval_pipeline.engines.purses import Purses
from eval_pipeline.engines.slots import Slots
from eval_pipeline.store import Database, Stored

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, CursorResult, Delete, Update
    from sqlalchemy.engine import RowMapping

JUDGE = "judge"
"""The version and the sample under which a judge's calls are kept."""

FORGOTTEN_AFTER = 7 * 24 * 3600.0
"""So many seconds after its last sign, what the processes of a run shared is of no use to anybody."""

_KEYS_PER_STATEMENT = 500
"""Below every limit on a statement's variables: older builds of SQLite allow 999."""

_VALUES_PER_STATEMENT = 32_000 if sqlite3.sqlite_version_info >= (3, 32) else 999
"""PostgreSQL allows more."""


class Call(msgspec.Struct, frozen=True):
    """One metered call, and whose it is."""

    key: str
    """The hash of the exact request with case id, trial and sample."""
    engine: str
    model: str
    suite: str
    version: str
    case_id: str
    trial: int
    sample: str


class Record(msgspec.Struct, frozen=True):
    """A call that was answered."""

    call: Call
    text: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    latency_ms: float
    cost_usd: float | None
    attempts: int
    answered_at: str
    """ISO 8601, in UTC."""
    estimated_tokens: int | None = None
    """How many tokens the prompt was taken to have before anybody counted."""


class Usage(msgspec.Struct, frozen=True):
    """The calls that an engine answered for one version on one day (UTC), and how often they were reused."""

    suite: str
    version: str
    day: str
    engine: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None
    """Null where what one of them cost is unknown."""
    hits: int


class Experience(msgspec.Struct, frozen=True):
    """What the answers of one model to the questions of one suite took."""

    model: str
    suite: str
    prompt_tokens: int
    estimated_tokens: int
    """Of the same prompts, before anybody counted."""
    completion_tokens: int
    answers: int
    """Those whose tokens were counted."""


class Journal(Stored):
    """The journal at a URL. Every method is one short transaction."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        super().__init__(database)
        self._clock = clock
        self._mark = "%s" if database.is_postgres else "?"
        tables = journal_tables()
        self._calls = tables.calls
        self.slots = Slots(database, tables.holders, clock)
        self.buckets = Buckets(database, tables.buckets, clock)
        self.purses = Purses(database, tables.purses, clock)
        self.health = HealthTable(database, tables.health, clock)
        self.board = Board(database, tables.board, clock)

    @classmethod
    def open(cls, url: str, *, clock: Callable[[], float] = time.time) -> Self:
        """Open a journal; create what is not there yet. Any number of processes may do so at once."""
        return cls(Database(url, journal_tables().calls.metadata), clock)

    def begin_run(self, run: str) -> None:
        """Make a run known that several processes work on, and forget those that ended long ago."""
        long_ago = self._clock() - FORGOTTEN_AFTER
        for each in (self.purses, self.health, self.board):
            each.forget(long_ago)
        self.board.open(run)

    def claim(
        self,
        calls: Iterable[Call],
        owner: str,
        seconds: float,
        is_gone: Callable[[str], bool] = lambda _: False,
    ) -> dict[str, Record | bool]:
        """By key: the answer if there is one, else whether this owner may ask now.

        Who may ask holds the call for that many seconds; until then, nobody else may, unless
        `is_gone` knows that the holder will never answer. An answer counts as used once more.
        """
        wanted = {call.key: call for call in calls}
        result: dict[str, Record | bool] = {}
        known: list[str] = []
        taken_over: list[str] = []
        with self._database.writing("calls") as connection:
            now = self._clock()
            for row in self._rows(connection, list(wanted)):
                if row["answered_at"] is not None:
                    result[row["key"]] = _record(row)
                    known.append(row["key"])
                elif row["owner"] == owner or row["leased_until"] <= now or is_gone(row["owner"]):
                    taken_over.append(row["key"])
                else:
                    result[row["key"]] = False
            lease = {"owner": owner, "leased_until": now + seconds}
            self._change(connection, taken_over, self._calls.update().values(**lease))
            result.update(dict.fromkeys(taken_over, True))
            self._change(connection, known, self._calls.update().values(hits=self._calls.c.hits + 1))
            fresh = [call for key, call in wanted.items() if key not in result]
            columns = (*Call.__struct_fields__, *lease, "hits")
            rows = [(*msgspec.structs.astuple(call), *lease.values(), 0) for call in fresh]
            self._add(connection, columns, rows)
            result.update({call.key: True for call in fresh})
        return result

    def record(self, records: Iterable[Record]) -> None:
        """Keep answers. The first answer to a call wins, whoever held it; a repetition changes nothing."""
        rows = [_row(record) for record in records]
        if not rows:
            return
        new = ", ".join(f"{name} = excluded.{name}" for name in _ROW if name not in ("key", "hits"))
        first = f"ON CONFLICT (key) DO UPDATE SET {new} WHERE {self._calls.name}.answered_at IS NULL"
        with self._database.writing("calls") as connection:
            self._add(connection, _ROW, list({row[0]: row for row in reversed(rows)}.values()), first)

    def _add(
        self,
        connection: Connection,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        conflict: str = "",
    ) -> None:
        """Insert rows, many with one statement: each statement waits for the thread that asks."""
        row_marks = f"({', '.join([self._mark] * len(columns))})"
        most = _VALUES_PER_STATEMENT // len(columns)
        for start in range(0, len(rows), most):
            part = rows[start : start + most]
            values = ", ".join([row_marks] * len(part))
            insert = f"INSERT INTO {self._calls.name} ({', '.join(columns)}) VALUES {values} {conflict}"  # noqa: S608
            connection.exec_driver_sql(insert, tuple(value for row in part for value in row))

    def extend(self, keys: Iterable[str], owner: str, seconds: float) -> None:
        """Hold calls that this owner holds for that many seconds from now."""
        with self._database.writing("calls") as connection:
            held = self._calls.update().where(*self._held_by(owner))
            self._change(connection, keys, held.values(leased_until=self._clock() + seconds))

    def release(self, keys: Iterable[str], owner: str) -> None:
        """Give up calls that this owner holds and that brought no answer: the next run asks them again."""
        if not (keys := list(keys)):
            return
        with self._database.writing("calls") as connection:
            self._change(connection, keys, self._calls.delete().where(*self._held_by(owner)))

    def answered(self, keys: Iterable[str]) -> set[str]:
        """Those of the calls that have an answer."""
        from sqlalchemy import select

        answered: set[str] = set()
        with self._database.reading() as connection:
            for chunk in _chunks(keys):
                statement = select(self._calls.c.key).where(
                    self._calls.c.key.in_(chunk), self._calls.c.answered_at.is_not(None)
                )
                answered.update(connection.scalars(statement))
        return answered

    def stats(self) -> list[Usage]:
        """What was asked and what it cost, sorted by suite, version, day and engine."""
        from sqlalchemy import func, select

        calls = self._calls.c
        group = (calls.suite, calls.version, func.substr(calls.answered_at, 1, 10), calls.engine)
        numbers = (calls.prompt_tokens, calls.completion_tokens, calls.cost_usd, calls.hits)
        counts = (func.count(), func.count(calls.cost_usd))
        statement = (
            select(*group, *counts, *(func.sum(number) for number in numbers))
            .where(calls.answered_at.is_not(None))
            .group_by(*group)
            .order_by(*group)
        )
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return [
            Usage(
                suite,
                version,
                day,
                engine,
                count,
                int(prompt or 0),
                int(completion or 0),
                float(dollars) if priced == count else None,
                int(hits),
            )
            for suite, version, day, engine, count, priced, prompt, completion, dollars, hits in rows
        ]

    def experience(self, engine: str) -> list[Experience]:
        """What an engine's answers took, by model and suite; what a judge was asked is left out."""
        from sqlalchemy import and_, case, func, select

        calls = self._calls.c
        both = and_(calls.prompt_tokens.is_not(None), calls.estimated_tokens.is_not(None))
        sums = (
            *(func.sum(case((both, number))) for number in (calls.prompt_tokens, calls.estimated_tokens)),
            func.sum(calls.completion_tokens),
            func.count(calls.completion_tokens),
        )
        statement = (
            select(calls.model, calls.suite, *sums)
            .where(calls.engine == engine, calls.version != JUDGE, calls.answered_at.is_not(None))
            .group_by(calls.model, calls.suite)
            .order_by(calls.model, calls.suite)
        )
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return [Experience(model, suite, *(int(each or 0) for each in rest)) for model, suite, *rest in rows]

    def purge(self, *, suite: str | None, before: str | None) -> int:
        """Delete the answers of a suite, before a moment (ISO 8601, in UTC), or both; return how many."""
        if suite is None and before is None:
            raise ValueError("a purge needs a suite, a moment, or both")
        statement = self._calls.delete().where(self._calls.c.answered_at.is_not(None))
        if suite is not None:
            statement = statement.where(self._calls.c.suite == suite)
        if before is not None:
            statement = statement.where(self._calls.c.answered_at < before)
        with self._database.writing("calls") as connection:
            deleted: CursorResult[Any] = connection.execute(statement)
            return deleted.rowcount

    def _rows(self, connection: Connection, keys: Sequence[str]) -> Iterator[RowMapping]:
        for chunk in _chunks(keys):
            marks = ", ".join([self._mark] * len(chunk))
            statement = f"SELECT * FROM {self._calls.name} WHERE key IN ({marks})"  # noqa: S608
            yield from connection.exec_driver_sql(statement, tuple(chunk)).mappings()

    def _change(self, connection: Connection, keys: Iterable[str], statement: Update | Delete) -> None:
        for chunk in _chunks(keys):
            connection.execute(statement.where(self._calls.c.key.in_(chunk)))

    def _held_by(self, owner: str) -> tuple[ColumnElement[bool], ...]:
        return (self._calls.c.owner == owner, self._calls.c.answered_at.is_(None))


_ROW = (*Call.__struct_fields__, *Record.__struct_fields__[1:], "owner", "leased_until", "hits")


def _row(record: Record) -> tuple[Any, ...]:
    return (
        *msgspec.structs.astuple(record.call),
        record.text.encode("utf-8", "surrogatepass"),
        record.finish_reason.encode("utf-8", "replace").decode().replace("\0", "?"),
        record.prompt_tokens,
        record.completion_tokens,
        record.latency_ms,
        record.cost_usd,
        record.attempts,
        record.answered_at,
        record.estimated_tokens,
        None,
        None,
        0,
    )


def _record(row: RowMapping) -> Record:
    return Record(
        call=Call(**{name: row[name] for name in Call.__struct_fields__}),
        text=row["text"].decode("utf-8", "surrogatepass"),
        **{name: row[name] for name in Record.__struct_fields__ if name not in ("call", "text")},
    )


def _chunks(keys: Iterable[str]) -> Iterator[list[str]]:
    unique = list(dict.fromkeys(keys))
    for start in range(0, len(unique), _KEYS_PER_STATEMENT):
        yield unique[start : start + _KEYS_PER_STATEMENT]
