"""Events on their way to the disk: written aside, and named once it is known what they were made from."""

from __future__ import annotations

import datetime
import itertools
import os
from collections.abc import Iterator
from concurrent.futures import Executor, Future, wait
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from eval_pipeline.files import content_hash, remove
from eval_pipeline.monitoring.events import distinct
from eval_pipeline.monitoring.ledger import EVENTS, FEEDBACK, HASH_LENGTH, Segment, SegmentKind

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

FEEDBACK_FOLDER = "-feedback"
"""No suite has such a name."""
HOUR = datetime.timedelta(hours=1)
ROW_GROUP = 2**16
WRITING = 4
"""Segments that may wait to be written."""
_HOUR_MICROSECONDS = 3_600_000_000
_HOURS_A_DAY = 24
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_IDS: dict[SegmentKind, str] = {EVENTS: "request_id", FEEDBACK: "feedback_id"}
_DICTIONARIES = ("suite", "version", "model", "error", "topic", "experiment", "name")


class Staged(NamedTuple):
    """A segment that is written, and not where it belongs yet."""

    segment: Segment
    path: Path


class Staging:
    """Segments in the making. Nothing of them counts before they are published."""

    def __init__(self, folder: Path, ledger: str, aside: Executor) -> None:
        self._folder = folder
        self._ledger = ledger
        self._aside = aside
        self._written: list[tuple[Staged, list[str], Future[None]]] = []
        self._numbers = itertools.count()

    def add_events(self, table: pa.Table, place: tuple[int, ...] = ()) -> None:
        """Write events, a segment for each suite and day; `place` is where in their file they come from."""
        for suite, of_suite in _by(table, table["suite"]):
            self._add(EVENTS, suite, of_suite, place)

    def add_feedback(self, table: pa.Table, place: tuple[int, ...] = ()) -> None:
        """Write feedback, a segment for each day that it was given on."""
        self._add(FEEDBACK, "", table, place)

    def _add(self, kind: SegmentKind, suite: str, table: pa.Table, place: tuple[int, ...]) -> None:
        """Write rows in order of their hours; within one, as they came."""
        import numpy as np

        if not table.num_rows:
            return
        hours = _hours(table)
        if (hours[1:] < hours[:-1]).any():
            order = np.argsort(hours, kind="stable")
            table, hours = table.take(order), hours[order]
        ends = [*(np.flatnonzero(np.diff(hours // _HOURS_A_DAY)) + 1).tolist(), len(hours)]
        for start, end in itertools.pairwise([0, *ends]):
            path = self._folder / f"{next(self._numbers)}.parquet"
            day = day_text(EPOCH + int(hours[start]) * HOUR)
            mask = sum(1 << int(hour) for hour in np.unique(hours[start:end] % _HOURS_A_DAY))
            segment = Segment(f"{suite or FEEDBACK_FOLDER}/{day}", kind, suite, day, mask, end - start)
            rows = table.slice(start, end - start)
            of = [*map(str, place), *(str(rows[_IDS[kind]][row]) for row in (0, end - start - 1))]
            self._written.append((Staged(segment, path), of, self._aside.submit(_write, rows, path)))
        for _, _, writing in self._written[-WRITING:][:1]:
            writing.result()

    def forget(self) -> None:
        """Begin anew: nothing of what was written is published."""
        for staged, _, writing in self._written:
            wait([writing])
            remove(staged.path)
        self._written.clear()

    def staged(self, origin: str) -> list[Staged]:
        """Everything that was written and is safe on the disk, by name.

        A name is the hash of the file that rows come from, of which these are, and of the ledger that they
        are kept for, whose key their pseudonyms are made with: who takes the same file gives the same names,
        and who cuts it otherwise others.
        """
        named = []
        for (segment, path), of, writing in self._written:
            writing.result()
            digest = content_hash([self._ledger, origin, segment.path, segment.rows, *of])[:HASH_LENGTH]
            named.append(Staged(replace(segment, path=f"{segment.path}/{digest}.parquet"), path))
        return sorted(named)


def _by(table: pa.Table, keys: pa.ChunkedArray) -> Iterator[tuple[str, pa.Table]]:
    """The rows of each key."""
    import pyarrow.compute as pc

    values = distinct(keys)
    if len(values) == 1:
        yield values[0], table
        return
    for value in sorted(values):
        yield value, table.filter(pc.equal(keys, value))


def _hours(table: pa.Table) -> NDArray[np.int64]:
    """Hours since 1970."""
    import pyarrow as pa

    hours: NDArray[np.int64] = table["at"].cast(pa.int64()).to_numpy() // _HOUR_MICROSECONDS
    return hours


def day_text(day: object) -> str:
    """A day, or that of a moment in UTC, as segments have it."""
    if isinstance(day, datetime.datetime):
        day = day.astimezone(datetime.UTC).date()
    return str(day)


def midnight(day: datetime.date) -> datetime.datetime:
    """When a day begins, in UTC."""
    return datetime.datetime.combine(day, datetime.time(), datetime.UTC)


def _write(table: pa.Table, path: Path) -> None:
    """Write a segment, and have it safe on the disk."""
    import pyarrow.parquet as pq

    names = table.column_names
    pq.write_table(
        table,
        path,
        compression="none",  # twice the bytes of texts, but writing them takes a quarter of the time
        row_group_size=ROW_GROUP,
        use_dictionary=[name for name in _DICTIONARIES if name in names],
        write_statistics=["at"],
    )
    with path.open("rb") as file:
        os.fsync(file.fileno())
        # Nobody reads texts soon: the memory that holds them is better used for the next segment.
        with suppress(AttributeError, OSError):  # it is a hint, which not every system takes
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
