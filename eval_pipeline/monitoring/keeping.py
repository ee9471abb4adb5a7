"""Where events lie, and how they are read back: every one once.

Segments are Parquet files named by the hash of what they were made from, in `<state>/events/<suite>/<day>/`,
and in `<state>/events/-feedback/<day>/` for feedback; where machines share a store, there too. The ledger
lists those that count. A segment has a second name in a folder of the ledger that it was made or brought here
for: what has one and is not listed was left by a process that was killed, or exchanged by another machine;
what has none may count in another ledger, and stays. A second name whose first is gone is nobody's, in
whatever ledger's folder. The same request may lie in several segments: reading counts it once, by its id
within its hour, so that no order and no repetition of files changes a figure.
"""

from __future__ import annotations

import datetime
import os
import tempfile
import time
import uuid
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec.structs import replace

from eval_pipeline.files import content_hash, remove
from eval_pipeline.monitoring.databases import in_passing
from eval_pipeline.monitoring.events import (
    COMMENTS,
    FEEDBACK_TIES,
    TEXTS,
    TIES,
    event_schema,
    event_table,
    feedback_schema,
    first_of_each,
)
from eval_pipeline.monitoring.ledger import EVENTS, FEEDBACK, Delivery, Ledger, Segment
from eval_pipeline.monitoring.staging import HOUR, Staging, day_text
from eval_pipeline.problems import bad_value
from eval_pipeline.project import Project
from eval_pipeline.store import STORE_VARIABLE, SharedCopies, database_file, database_url, is_database_shared

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "events"
OWN = ".ledgers"
DAY = datetime.timedelta(days=1)
ABANDONED_SECONDS = 24 * 3600
"""Who has not written for so long into its folder aside was killed."""


class EventStore:
    """The events of a project. Any number of processes may read and add at once."""

    def __init__(self, state: Path, url: str) -> None:
        self.folder = state / FOLDER
        self.ledger = Ledger(url)
        self._url = url
        self._shared = SharedCopies.of(state)

    @classmethod
    def of(cls, project: Project) -> Self:
        """The events of a project."""
        return cls(project.state, database_url(project))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.ledger.__exit__(*error)

    @contextmanager
    def staging(self) -> Iterator[Staging]:
        """A folder aside for new segments; it is gone at the end of the block."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(prefix=".", suffix=".tmp", dir=self.folder) as folder,
            ThreadPoolExecutor(1) as aside,
        ):
            yield Staging(Path(folder), self._own.name, aside)

    def publish(self, delivery: Delivery, staging: Staging) -> bool:
        """Let what was written count from now on; False where another process took the same file."""
        staged = staging.staged(delivery.digest)
        delivery = replace(delivery, segments=tuple(segment for segment, _ in staged))
        if self._shared:
            for segment, path in staged:
                self._shared.give(path, self.folder / segment.path)

        own = self._own

        def place() -> None:
            for segment, path in staged:
                self._place(own, path, segment.path)

        return self.ledger.publish(delivery, place)

    def share_all(self) -> int:
        """Let all machines have the segments that are here; how many these are."""
        listed = (*self.ledger.segments(EVENTS), *self.ledger.segments(FEEDBACK))
        here = [path for each in listed if (path := self.folder / each.path).exists()]
        for path in here if self._shared else ():
            assert self._shared
            self._shared.give(path, path)
        return len(here)

    def keep(self, events: pa.Table, feedback: pa.Table | None = None, name: str = "kept") -> None:
        """Count events and feedback that no file brought."""
        with self.staging() as staging:
            staging.add_events(events)
            if feedback is not None:
                staging.add_feedback(feedback)
            count = feedback.num_rows if feedback is not None else 0
            digest = content_hash([name, str(events.to_pylist()), str(feedback and feedback.to_pylist())])
            self.publish(Delivery(digest, name, 0, "arrow", events.num_rows, count, 0), staging)

    def suites(self) -> list[str]:
        """The suites that have events."""
        return sorted({segment.suite for segment in self.ledger.segments(EVENTS)})

    def days(self, suite: str) -> list[datetime.date]:
        """The days, in UTC, that a suite has events of."""
        days = {segment.day for segment in self.ledger.segments(EVENTS, suite)}
        return sorted(map(datetime.date.fromisoformat, days))

    def after_midnight(self, suite: str, day: datetime.date) -> list[Segment]:
        """What holds the first hour after a day: a trace that goes on there has its last request there."""
        next_day = day_text(day + DAY)
        return [each for each in self.ledger.segments(EVENTS, suite, next_day, next_day) if each.hours & 1]

    def hours(
        self,
        suite: str,
        start: datetime.datetime,
        end: datetime.datetime,
        columns: Sequence[str] | None = None,
    ) -> Iterator[tuple[datetime.datetime, pa.Table]]:
        """The events of each hour that has any, from `start` up to and without `end`: one hour in memory.

        Each event is there once; they are in order of time and id.
        """
        segments = self.ledger.segments(EVENTS, suite, day_text(start), day_text(end))
        hour = _hour_of(start)
        while hour < end:
            bit = 1 << hour.hour
            mine = [each for each in segments if each.day == day_text(hour) and each.hours & bit]
            if mine:
                table = self._read(mine, max(hour, start), min(hour + HOUR, end), columns)
                if table.num_rows:
                    yield hour, table
            hour += HOUR

    def events(
        self,
        suite: str,
        start: datetime.datetime,
        end: datetime.datetime,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """The same as one table."""
        import pyarrow as pa

        tables = [table for _, table in self.hours(suite, start, end, columns)]
        names = columns if columns is not None else event_schema().names
        empty = event_table([]).select(list(names))
        return pa.concat_tables([empty, *tables])

    def feedback(self, start: datetime.datetime, end: datetime.datetime) -> pa.Table:
        """The feedback that was given from `start` up to and without `end`, each once."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        segments = self.ledger.segments(FEEDBACK, None, day_text(start), day_text(end))
        if not segments:
            return feedback_schema().empty_table()
        dataset = ds.dataset([self.path(each) for each in segments], schema=feedback_schema())
        at = ds.field("at")
        table = dataset.to_table(filter=(at >= pa.scalar(start)) & (at < pa.scalar(end)))
        if _repeats(table, "feedback_id"):
            table = _first_of_each(table, "feedback_id", (*FEEDBACK_TIES, *COMMENTS))
        return table.sort_by([("at", "ascending"), ("feedback_id", "ascending")])

    def path(self, segment: Segment) -> Path:
        """Where a segment lies; one of another machine is brought here."""
        path = self.folder / segment.path
        if self._shared and not path.exists():
            self._shared.take(path)
            _name_too(path, self._own / segment.path)
        elif not path.exists() and is_database_shared():
            remedy = f"Set {STORE_VARIABLE} on all machines, and run move-state on the one that has it."
            raise bad_value("events", f"{segment.path} lies on another machine", remedy)
        return path

    def _read(
        self,
        segments: Collection[Segment],
        start: datetime.datetime,
        end: datetime.datetime,
        columns: Sequence[str] | None,
    ) -> pa.Table:
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.dataset as ds

        schema = event_schema()
        names = list(columns) if columns is not None else schema.names
        needed = list(dict.fromkeys([*names, "request_id", "at"]))
        dataset = ds.dataset([self.path(each) for each in segments], schema=schema)
        at = ds.field("at")
        # An event is one within its hour, wherever in the hour the range begins.
        within = (at >= pa.scalar(_hour_of(start))) & (at < pa.scalar(_hour_of(start) + HOUR))
        table = dataset.to_table(columns=needed, filter=within)
        if _repeats(table, "request_id"):
            # Whoever wants no text gets the same values whichever text counts.
            ties = (*TIES, *TEXTS) if set(TEXTS) & set(names) else TIES
            table = dataset.to_table(columns=list(dict.fromkeys([*needed, *ties])), filter=within)
            table = _first_of_each(table, "request_id", ties)
        if start > _hour_of(start) or end < _hour_of(start) + HOUR:
            table = table.filter((pc.field("at") >= pa.scalar(start)) & (pc.field("at") < pa.scalar(end)))
        return table.sort_by([("at", "ascending"), ("request_id", "ascending")]).select(names)

    def forget_texts(self, suite: str | None, before: datetime.date, *, dry: bool = False) -> int:
        """Take the texts out of segments of days before one; how many these are. No number changes.

        They are those of a suite's events, or the comments of feedback where there is no suite. Figures are
        made of everything else, and what was measured of texts stays as it is.
        """
        kind, names = (EVENTS, TEXTS) if suite is not None else (FEEDBACK, COMMENTS)
        day_before = day_text(before - DAY)
        old = [each for each in self.ledger.segments(kind, suite, "", day_before) if self._has(each, names)]
        for segment in old if not dry else ():
            self._exchange(segment, names)
        return len(old)

    def _has(self, segment: Segment, names: Sequence[str]) -> bool:
        """Whether any of some columns has a value in a segment."""
        import pyarrow.parquet as pq

        table = pq.read_table(self.path(segment), columns=list(names))
        return any(table[name].null_count < table.num_rows for name in names)

    def _exchange(self, segment: Segment, names: Sequence[str]) -> None:
        """Put a segment without some columns' values in place of one that has them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pq.read_table(self.path(segment))
        for name in names:
            place, field = table.schema.get_field_index(name), table.schema.field(name)
            table = table.set_column(place, field, pa.nulls(len(table), field.type))
        with self.staging() as staging:
            add = staging.add_events if segment.kind == EVENTS else staging.add_feedback
            add(table)
            ((bare, path),) = staging.staged(segment.path)
            place = partial(self._place, self._own, path, bare.path)
            if self._shared:
                self._shared.give(path, self.folder / bare.path)
            if self.ledger.exchange(segment, bare, place):
                for below in (self.folder, *(self.folder / OWN).glob("*")):  # also those from before a move
                    remove(below / segment.path)
                if self._shared:
                    self._shared.forget(self.folder / segment.path)

    def sweep(self, *, dry: bool = False) -> int:
        """Remove what this ledger has here and does not list, and say how many files that was."""
        own = self._own
        return self.ledger.sweep(lambda listed: self._remove_all_but(own, listed, dry))

    def _remove_all_but(self, own: Path, listed: set[str], dry: bool) -> int:
        orphans = [path for path in own.glob("*/*/*.parquet") if str(path.relative_to(own)) not in listed]
        others = (other for other in (self.folder / OWN).glob("*") if other != own)
        alone = [
            path
            for other in others
            for path in other.glob("*/*/*.parquet")
            if not (self.folder / path.relative_to(other)).exists()
        ]
        aside = [
            path
            for path in self.folder.glob(".*.tmp")
            if time.time() - path.stat().st_mtime > ABANDONED_SECONDS
        ]
        if not dry:
            same = [
                path for orphan in orphans if _is_same(path := self.folder / orphan.relative_to(own), orphan)
            ]
            for path in (*same, *orphans, *alone, *aside):
                remove(path)
        return len(orphans) + len(alone)

    @cached_property
    def _own(self) -> Path:
        """The folder of this ledger: another place is another one, and so is a new one in the same place.

        What lies in the state folder stays the same one wherever that is moved.
        """
        from sqlalchemy import make_url

        file, state = database_file(self._url), self.folder.parent
        if file is not None and file.is_relative_to(state):
            place = str(file.relative_to(state))
        else:
            place = make_url(self._url).set(password=None).render_as_string()
        return self.folder / OWN / content_hash([place, self.ledger.key("ledger", uuid.uuid4().hex)])

    def _place(self, own: Path, path: Path, relative: str) -> None:
        """Put a segment where it belongs; one that another ledger has put there never goes with this one."""
        target = self.folder / relative
        if not target.exists() or _is_same(target, own / relative):
            _name_too(path, own / relative)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)


def _name_too(path: Path, name: Path) -> None:
    """Give a file a second name."""
    name.parent.mkdir(parents=True, exist_ok=True)
    name.unlink(missing_ok=True)
    with suppress(FileExistsError):  # another process brought it here at the same time
        os.link(path, name)


def _is_same(path: Path, other: Path) -> bool:
    return path.exists() and other.exists() and path.samefile(other)


def may_have_events(project: Project) -> bool:
    """Whether any event may have been taken, here or by another machine."""
    return (project.state / FOLDER).is_dir() or is_database_shared()


def _repeats(table: pa.Table, key: str) -> bool:
    """Whether any key is there more than once."""
    import pyarrow.compute as pc

    return bool(table.num_rows > pc.count_distinct(table[key]).as_py())


def _first_of_each(table: pa.Table, key: str, ties: Sequence[str]) -> pa.Table:
    """One row for each key, in whatever order the rows come."""
    import numpy as np
    import pyarrow as pa

    places = pa.array(np.arange(table.num_rows))
    rows = table.select(dict.fromkeys([key, *ties])).append_column("place", places)  # noqa: F841
    with in_passing() as connection:
        first = connection.sql(f"SELECT place FROM (FROM rows {first_of_each(key, ties)}) ORDER BY place")
        return table.take(first.to_arrow_table()["place"])


def _hour_of(moment: datetime.datetime) -> datetime.datetime:
    return moment.astimezone(datetime.UTC).replace(minute=0, second=0, microsecond=0)
