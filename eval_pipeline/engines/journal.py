"""The journal of metered calls: what was paid for once is never asked again, by no process.

It also holds the rate limiter's buckets, since all processes that share answers share limits too.
SQLite by default, PostgreSQL by URL. There is no column for keys, headers or addresses.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from eval_pipeline.engines.journal_tables import journal_tables
from eval_pipeline.store import Database

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, CursorResult, Delete, Update
    from sqlalchemy.engine import RowMapping

_KEYS_PER_STATEMENT = 500
"""Below every limit on a statement's variables: older builds of SQLite allow 999."""

_ROWS_PER_STATEMENT = 50
"""Of nineteen columns each."""

_LARGEST_COUNT = 2**40
_TURN_SECONDS = 10.0
_CLOCK_SET_BACK = 60.0


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


class Usage(msgspec.Struct, frozen=True):
    """The calls that an engine answered for one version on one day (UTC), and how often they were reused."""

    suite: str
    version: str
    day: str
    engine: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float
    hits: int


class Journal:
    """The journal at a URL. Every method is one short transaction."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._mark = "%s" if database.is_postgres else "?"
        self._calls, self._buckets, self._holders, _ = journal_tables()

    @classmethod
    def open(cls, url: str, *, clock: Callable[[], float] = time.time) -> Self:
        """Open a journal; create what is not there yet. Any number of processes may do so at once."""
        return cls(Database(url, journal_tables().metadata), clock)

    def close(self) -> None:
        """Close the connections."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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
        """Insert rows with one statement for many: one by one, each would wait for the thread that asks."""
        row_marks = f"({', '.join([self._mark] * len(columns))})"
        for start in range(0, len(rows), _ROWS_PER_STATEMENT):
            part = rows[start : start + _ROWS_PER_STATEMENT]
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

        found: set[str] = set()
        with self._database.reading() as connection:
            for chunk in _chunks(keys):
                statement = select(self._calls.c.key).where(
                    self._calls.c.key.in_(chunk), self._calls.c.answered_at.is_not(None)
                )
                found.update(connection.scalars(statement))
        return found

    def stats(self) -> list[Usage]:
        """What was asked and what it cost, sorted by suite, version, day and engine."""
        from sqlalchemy import func, select

        calls = self._calls.c
        group = (calls.suite, calls.version, func.substr(calls.answered_at, 1, 10), calls.engine)
        numbers = (calls.prompt_tokens, calls.completion_tokens, calls.cost_usd, calls.hits)
        statement = (
            select(*group, func.count(), *(func.sum(number) for number in numbers))
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
                float(dollars or 0),
                int(hits),
            )
            for suite, version, day, engine, count, prompt, completion, dollars, hits in rows
        ]

    def purge(self, *, suite: str | None, before: str | None) -> int:
        """Forget the answers of a suite, those before a moment (ISO 8601, in UTC), or both; say how many."""
        if suite is None and before is None:
            raise ValueError("a purge needs a suite, a moment, or both")
        statement = self._calls.delete().where(self._calls.c.answered_at.is_not(None))
        if suite is not None:
            statement = statement.where(self._calls.c.suite == suite)
        if before is not None:
            statement = statement.where(self._calls.c.answered_at < before)
        with self._database.writing("calls") as connection:
            forgotten: CursorResult[Any] = connection.execute(statement)
            return forgotten.rowcount

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

        Others do not get what this owner says it holds: who may use less than it holds gives the rest back
        by saying so the next time. Who is idle gets what nobody else wants. A share is held for that many
        seconds.
        """
        holders = self._holders.c
        with self._database.writing(f"slots {scope}") as connection:
            now = self._clock()
            rows = connection.execute(self._holders.select().where(holders.scope == scope)).all()
            gone = [row.owner for row in rows if row.leased_until <= now or is_gone(row.owner)]
            others = [row for row in rows if row.owner != owner and row.owner not in gone]
            if gone:
                connection.execute(
                    self._holders.delete().where(holders.scope == scope, holders.owner.in_(gone))
                )
            wishes = {row.owner: row.wanted for row in others} | {owner: 0 if idle else wanted}
            fair = _fair_shares(slots, wishes, int(now // _TURN_SECONDS))
            mine = min(wanted, slots - sum(fair.values())) if idle else fair[owner]
            may_use = int(max(0, min(mine, slots - sum(row.granted for row in others))))
            values = {
                "wanted": wishes[owner],
                "granted": max(held, may_use),
                "leased_until": now + seconds,
            }
            statement = self._database.insert(self._holders).values(scope=scope, owner=owner, **values)
            connection.execute(
                statement.on_conflict_do_update(index_elements=["scope", "owner"], set_=values)
            )
        return may_use

    def leave(self, owner: str) -> None:
        """Give up every slot of an owner."""
        with self._database.writing("leave") as connection:
            connection.execute(self._holders.delete().where(self._holders.c.owner == owner))

    def take(self, bucket: str, amount: float, per_minute: float, burst: float) -> float:
        """Take from a bucket and return 0, or take nothing and return the seconds until there is enough.

        More than the burst can be taken from a full bucket, which then owes the rest.
        """
        with self._database.writing(f"bucket {bucket}") as connection:
            now = self._clock()
            level, refilled_at, paused_until = self._bucket(connection, bucket, now)
            if now < refilled_at - _CLOCK_SET_BACK:
                refilled_at = now
            level = min(burst, level + max(0.0, now - refilled_at) * per_minute / 60)
            missing = min(amount, burst) - level
            wait = max(paused_until - now, missing * 60 / per_minute, 0.0)
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
        """Until when nobody may take from a bucket (seconds since 1970); 0 where nothing was said."""
        with self._database.reading() as connection:
            return self._bucket(connection, bucket, 0.0)[2]

    def pause(self, bucket: str, until: float) -> None:
        """Let nobody take from a bucket until a moment (seconds since 1970); a longer pause stays."""
        with self._database.writing(f"bucket {bucket}") as connection:
            level, refilled_at, paused_until = self._bucket(connection, bucket, self._clock())
            self._fill(connection, bucket, level, refilled_at, max(paused_until, until))

    def _rows(self, connection: Connection, keys: Sequence[str]) -> Iterator[RowMapping]:
        for chunk in _chunks(keys):
            marks = ", ".join([self._mark] * len(chunk))
            found = f"SELECT * FROM {self._calls.name} WHERE key IN ({marks})"  # noqa: S608
            yield from connection.exec_driver_sql(found, tuple(chunk)).mappings()

    def _change(self, connection: Connection, keys: Iterable[str], statement: Update | Delete) -> None:
        for chunk in _chunks(keys):
            connection.execute(statement.where(self._calls.c.key.in_(chunk)))

    def _held_by(self, owner: str) -> tuple[ColumnElement[bool], ...]:
        return (self._calls.c.owner == owner, self._calls.c.answered_at.is_(None))

    def _bucket(self, connection: Connection, bucket: str, now: float) -> tuple[float, float, float]:
        row = connection.execute(self._buckets.select().where(self._buckets.c.name == bucket)).one_or_none()
        # A bucket nobody took from is full, however large its burst is.
        return (row.level, row.refilled_at, row.paused_until) if row else (math.inf, now, 0.0)

    def _fill(
        self, connection: Connection, bucket: str, level: float, refilled_at: float, paused_until: float
    ) -> None:
        values = {"level": level, "refilled_at": refilled_at, "paused_until": paused_until}
        statement = self._database.insert(self._buckets).values(name=bucket, **values)
        connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))


_ROW = (*Call.__struct_fields__, *Record.__struct_fields__[1:], "owner", "leased_until", "hits")


def _row(record: Record) -> tuple[Any, ...]:
    return (
        *msgspec.structs.astuple(record.call),
        record.text.encode("utf-8", "surrogatepass"),
        record.finish_reason.encode("utf-8", "replace").decode().replace("\0", "?"),
        _count(record.prompt_tokens),
        _count(record.completion_tokens),
        record.latency_ms,
        record.cost_usd,
        record.attempts,
        record.answered_at,
        None,
        None,
        0,
    )


def _fair_shares(slots: int, wanted: Mapping[str, int], turn: int) -> dict[str, int]:
    """As much for each as for any other, as far as they want it; what cannot be divided goes round."""
    shares: dict[str, int] = {}

    def place(owner: str) -> tuple[int, int, str]:
        return wanted[owner], zlib.crc32(f"{turn} {owner}".encode()), owner

    for left, owner in enumerate(sorted(wanted, key=place)):
        shares[owner] = min(wanted[owner], slots // (len(wanted) - left))
        slots -= shares[owner]
    return shares


def _count(value: int | None) -> int | None:
    """A count as an endpoint tells it, which may be any number, within what a database can add up."""
    return None if value is None else max(0, min(value, _LARGEST_COUNT))


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
