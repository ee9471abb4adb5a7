"""The ledger of events: which files were taken, which segments count, and which lines were refused.

It lies in the project's database. A file, its segments and its refused lines become known in one transaction.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from eval_pipeline.store import Database, Stored, text_type

if TYPE_CHECKING:
    from sqlalchemy import Connection, MetaData

SegmentKind = Literal["events", "feedback"]
EVENTS: SegmentKind = "events"
FEEDBACK: SegmentKind = "feedback"
_LOCK = "events"
HASH_LENGTH = 32
"""Hexadecimal digits of the names of files and segments."""


class Segment(msgspec.Struct, frozen=True, order=True):
    """A Parquet file of events of one suite and day, or of feedback that was given on one day."""

    path: str
    """Below the folder of all segments; its name is the hash of what it was made from."""
    kind: SegmentKind
    suite: str
    """Blank for feedback: it names requests of any suite."""
    day: str
    hours: int
    """A bit for each hour of the day that it has rows of."""
    rows: int


class Refusal(msgspec.Struct, frozen=True, order=True):
    """A line that could not be read, as quarantine keeps it: masked, and cut where it is very long."""

    line: int
    reason: str
    text: str
    whole: bool = True
    """Whether all of the line is kept, so that it can be fed again."""


class Delivery(msgspec.Struct, frozen=True):
    """What a file brought."""

    digest: str
    """Of the file's content: the same file under another name is known."""
    name: str
    size: int
    format: str
    events: int
    feedback: int
    skipped: int
    """What the file holds besides requests and feedback, such as spans of tools."""
    segments: tuple[Segment, ...] = ()
    """They are named when the file is published."""
    refusals: tuple[Refusal, ...] = ()
    replaces: tuple[int, ...] = ()
    """Refused lines that this one takes the place of, by number: they were fed again."""
    stamp: str = ""
    """What changes when the file does; blank where no file of the drop folder brought it."""


class KnownFile(msgspec.Struct, frozen=True):
    """A file that was taken."""

    digest: str
    name: str
    size: int
    format: str
    events: int
    feedback: int
    skipped: int
    refused: int
    taken_at: str


class Quarantined(msgspec.Struct, frozen=True):
    """A refused line with its number in quarantine."""

    number: int
    file: str
    name: str
    format: str
    line: int
    reason: str
    text: str
    whole: bool


class Ledger(Stored):
    """Files, segments and quarantine. Any number of processes may use it at once."""

    def __init__(self, url: str) -> None:
        tables = ledger_tables()
        self._files, self._segments, self._quarantine, self._keys, self._seen = (
            tables.tables[f"events_{name}"] for name in ("files", "segments", "quarantine", "keys", "seen")
        )
        super().__init__(Database(url, tables))

    def known(self, digests: Collection[str]) -> set[str]:
        """Those of some files that were taken before."""
        from sqlalchemy import select

        column = self._files.c.digest
        with self._database.reading() as connection:
            return {row[0] for row in connection.execute(select(column).where(column.in_(digests)))}

    def known_size(self, size: int) -> bool:
        """Whether any file that was taken has so many bytes."""
        from sqlalchemy import select

        columns = self._files.c
        with self._database.reading() as connection:
            return connection.execute(select(columns.digest).where(columns.size == size)).first() is not None

    def seen(self) -> dict[str, str]:
        """The files of the drop folder that were looked at, each with what it was like then."""
        from sqlalchemy import select

        with self._database.reading() as connection:
            rows = connection.execute(select(self._seen.c.name, self._seen.c.stamp))
            return {name: stamp for name, stamp in rows}  # noqa: C416

    def note_seen(self, name: str, stamp: str, digest: str) -> None:
        """Remember what a file was like, so that it is not read again before it changes."""
        with self._database.writing(_LOCK) as connection:
            self._note_seen(connection, name, stamp, digest)

    def _note_seen(self, connection: Connection, name: str, stamp: str, digest: str) -> None:
        now = {"stamp": stamp, "digest": digest}
        insert = self._database.insert(self._seen).values(name=name, **now)
        connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_=now))

    def publish(self, delivery: Delivery, place: Callable[[], None]) -> bool:
        """Make a file known, and count its segments from now on; False where another process was first.

        `place` puts the segments where they belong, while nobody else may.
        """
        from sqlalchemy import select

        files, lines = self._files.c, self._quarantine.c
        with self._database.writing(_LOCK) as connection:
            if connection.execute(select(files.digest).where(files.digest == delivery.digest)).first():
                return False
            place()
            row = {name: getattr(delivery, name) for name in KnownFile.__struct_fields__ if name in _OWN}
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            row |= {"refused": len(delivery.refusals), "taken_at": now}
            connection.execute(self._files.insert().values(**row))
            if delivery.stamp:
                self._note_seen(connection, delivery.name, delivery.stamp, delivery.digest)
            if segments := [msgspec.structs.asdict(each) for each in delivery.segments]:
                insert = self._database.insert(self._segments).on_conflict_do_nothing()
                connection.execute(insert, segments)
            if delivery.replaces:
                gone = self._quarantine.delete().where(lines.number.in_(delivery.replaces))
                connection.execute(gone)
            if refusals := [
                {
                    "file": delivery.digest,
                    "name": delivery.name,
                    "format": delivery.format,
                    **msgspec.structs.asdict(each),
                }
                for each in delivery.refusals
            ]:
                connection.execute(self._quarantine.insert(), refusals)
        return True

    def sweep(self, remove: Callable[[set[str]], int]) -> int:
        """Let `remove` delete what is not among the paths of segments, while nobody puts any there."""
        from sqlalchemy import select

        with self._database.writing(_LOCK) as connection:
            return remove({row[0] for row in connection.execute(select(self._segments.c.path))})

    def segments(
        self, kind: SegmentKind, suite: str | None = None, first: str = "", last: str = "9999"
    ) -> list[Segment]:
        """The segments that count, of a suite and some days, in the order of their paths."""
        from sqlalchemy import select

        columns = self._segments.c
        statement = select(*(columns[name] for name in Segment.__struct_fields__)).where(
            columns.kind == kind, columns.day >= first, columns.day <= last
        )
        if suite is not None:
            statement = statement.where(columns.suite == suite)
        with self._database.reading() as connection:
            return [Segment(*row) for row in connection.execute(statement.order_by(columns.path))]

    def files(self) -> list[KnownFile]:
        """The files that were taken, the latest last."""
        from sqlalchemy import select

        columns = self._files.c
        statement = select(*(columns[name] for name in KnownFile.__struct_fields__))
        with self._database.reading() as connection:
            rows = connection.execute(statement.order_by(columns.taken_at, columns.digest))
            return [KnownFile(*row) for row in rows]

    def quarantined(self, numbers: Sequence[int] | None = None) -> list[Quarantined]:
        """The lines in quarantine, in the order in which they came there."""
        from sqlalchemy import select

        columns = self._quarantine.c
        statement = select(*(columns[name] for name in Quarantined.__struct_fields__))
        if numbers is not None:
            statement = statement.where(columns.number.in_(numbers))
        with self._database.reading() as connection:
            rows = connection.execute(statement.order_by(columns.number))
            return [Quarantined(*row) for row in rows]

    def purge_quarantine(self, before: datetime.datetime, *, dry: bool = False) -> int:
        """Delete the lines in quarantine of files that were taken before a moment; how many these are."""
        from sqlalchemy import func, select

        taken = before.astimezone(datetime.UTC).isoformat(timespec="seconds")
        old = select(self._files.c.digest).where(self._files.c.taken_at < taken)
        of_old = self._quarantine.c.file.in_(old)
        with self._database.writing(_LOCK) as connection:
            counting = select(func.count()).select_from(self._quarantine).where(of_old)
            count = connection.execute(counting).scalar()
            if not dry:
                connection.execute(self._quarantine.delete().where(of_old))
        return int(count or 0)

    def exchange(self, old: Segment, new: Segment, place: Callable[[], None]) -> bool:
        """Let one segment count in place of another; False where the other does not count any more."""
        from sqlalchemy import select

        columns = self._segments.c
        with self._database.writing(_LOCK) as connection:
            if not connection.execute(select(columns.path).where(columns.path == old.path)).first():
                return False
            place()
            connection.execute(self._segments.delete().where(columns.path == old.path))
            row = msgspec.structs.asdict(new)
            connection.execute(self._database.insert(self._segments).values(**row).on_conflict_do_nothing())
        return True

    def key(self, name: str, fresh: str) -> str:
        """A secret of this project, such as the key of pseudonyms: the first one that was proposed."""
        from sqlalchemy import select

        columns = self._keys.c
        with self._database.writing(_LOCK) as connection:
            stored = connection.execute(select(columns.value).where(columns.name == name)).scalar()
            if stored is None:
                connection.execute(self._keys.insert().values(name=name, value=fresh))
            return str(stored or fresh)


_OWN = frozenset(Delivery.__struct_fields__)


@functools.cache
def ledger_tables() -> MetaData:
    """Files, segments, quarantine, keys and what was seen, described for SQLAlchemy."""
    from sqlalchemy import BigInteger, Boolean, Column, Integer, MetaData, Table

    metadata, text = MetaData(), text_type()

    def texts(names: str) -> Iterable[Column[str]]:
        return (Column(name, text, nullable=False) for name in names.split())

    def numbers(names: str) -> Iterable[Column[int]]:
        return (Column(name, Integer, nullable=False) for name in names.split())

    Table(
        "events_files",
        metadata,
        Column("digest", text, primary_key=True),
        *texts("name format taken_at"),
        *numbers("events feedback skipped refused"),
        Column("size", BigInteger, nullable=False),
    )
    Table(
        "events_segments",
        metadata,
        Column("path", text, primary_key=True),
        *texts("kind suite day"),
        *numbers("hours rows"),
    )
    Table(
        "events_quarantine",
        metadata,
        Column("number", Integer, primary_key=True, autoincrement=True),
        *texts("file name format reason text"),
        *numbers("line"),
        Column("whole", Boolean, nullable=False),
    )
    Table("events_seen", metadata, Column("name", text, primary_key=True), *texts("stamp digest"))
    Table("events_keys", metadata, Column("name", text, primary_key=True), *texts("value"))
    return metadata
