"""Files of the drop folder become events that count, each file once, whatever is killed meanwhile."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from eval_pipeline.files import content_hash
from eval_pipeline.loading import load_suites, suite_names
from eval_pipeline.monitoring.batches import Batch, Context, Unreadable
from eval_pipeline.monitoring.databases import THREADS, in_passing
from eval_pipeline.monitoring.finishing import Finishing, finishing_for
from eval_pipeline.monitoring.flat import MoreFields, Unordinary
from eval_pipeline.monitoring.formats import FORMATS, UNREADABLE, Piece, at_once, open_pieces
from eval_pipeline.monitoring.keeping import EventStore
from eval_pipeline.monitoring.ledger import Delivery, Refusal
from eval_pipeline.monitoring.settings import Production, read_production
from eval_pipeline.monitoring.sources import Content, Lines, Source, list_sources
from eval_pipeline.monitoring.staging import Staging
from eval_pipeline.numbers import counted
from eval_pipeline.project import Project
from eval_pipeline.prompts import prompt_name, versions_in

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

T = TypeVar("T")
R = TypeVar("R")

Outcome = Literal["taken", "known", "waiting", "changed", "unreadable"]


_OUTCOMES: dict[Outcome, str] = {
    "known": "known already",
    "waiting": "may still grow; taken when it has not changed for a while",
    "changed": "changed while it was read; taken next time",
    "unreadable": "cannot be read",
}


class FileOutcome(NamedTuple):
    """What became of a file of the drop folder."""

    name: str
    outcome: Outcome
    format: str = ""
    events: int = 0
    feedback: int = 0
    skipped: int = 0
    refused: int = 0
    reason: str = ""

    @property
    def text(self) -> str:
        """It in a line."""
        if self.outcome != "taken":
            return f"{self.name}: {_OUTCOMES[self.outcome]}" + (f": {self.reason}" if self.reason else "")
        counts = (
            (self.events, "event", ""),
            (self.feedback, "piece of feedback", "pieces of feedback"),
            (self.skipped, "record of other things", "records of other things"),
            (self.refused, "refused line", ""),
        )
        said = [counted(count, one, several) for count, one, several in counts if count]
        why = f" (the first: {self.reason})" if self.reason else ""
        return f"{self.name}: {self.format}, {', '.join(said) or 'nothing'}{why}"


@dataclass
class Ingest:
    """Takes files for a project."""

    project: Project
    production: Production
    store: EventStore
    finishing: Finishing
    context: Callable[[DuckDBPyConnection], Context]

    def files(self, now: bool = False) -> Iterator[FileOutcome]:
        """Take what lies in the drop folder and is not known yet; with `now`, also what still may grow."""
        self.store.sweep()
        sources = list_sources(self.production.folder(self.project))
        seen = self.store.ledger.seen()
        for source in sources:
            if seen.get(source.name) != source.stamp:
                yield self._file(source, now=now)

    def _file(self, source: Source, *, now: bool) -> FileOutcome:
        if not now and source.age is not None and source.age < self.production.settled_seconds:
            return FileOutcome(source.name, "waiting")
        with ThreadPoolExecutor(1) as aside:
            reading = aside.submit(source.content)
            if source.local is None:
                wait([reading])  # not everywhere may two read a file at once
            try:
                if self.store.ledger.known_size(source.size) and self._is_known(source, reading.result()):
                    return FileOutcome(source.name, "known")
                return self._take(source, reading)
            except OSError as error:
                if source.has_changed():
                    return FileOutcome(source.name, "changed")
                if not isinstance(reading.exception(), OSError):
                    raise  # the file can be read: something else is wrong
                return FileOutcome(source.name, "unreadable", reason=error.strerror or str(error))

    def _is_known(self, source: Source, content: Content) -> bool:
        ledger = self.store.ledger
        known = ledger.known([content.digest]) or ledger.known([source.former_digest()])
        for digest in known:
            ledger.note_seen(source.name, source.stamp, digest)
        return bool(known)

    def _take(self, source: Source, reading: Future[Content]) -> FileOutcome:
        with self.store.staging() as staging:
            counts = self._stage_at_once(source, staging)
            content = reading.result()
            if counts is None or counts.events != content.lines or content.may_be_endless:
                staging.forget()
                counts = self._stage(source, staging)
            digest = content.digest
            if source.has_changed():
                return FileOutcome(source.name, "changed")
            delivery = Delivery(
                digest,
                source.name,
                source.size,
                counts.format,
                counts.events,
                counts.feedback,
                counts.skipped,
                refusals=tuple(self.finishing.refusal(each) for each in counts.refusals),
                stamp=source.stamp,
            )
            first = self.store.publish(delivery, staging)
        if not first:
            self._is_known(source, reading.result())
            return FileOutcome(source.name, "known")
        outcome: Outcome = "taken" if counts.format != UNREADABLE else "unreadable"
        return FileOutcome(
            source.name,
            outcome,
            counts.format,
            counts.events,
            counts.feedback,
            counts.skipped,
            len(counts.refusals),
            delivery.refusals[0].reason if delivery.refusals else "",
        )

    def _stage(self, source: Source, staging: Staging) -> Kept:
        """Write segments of all that a file holds, piece by piece."""
        try:
            with open_pieces(source) as (format_, pieces):
                return self._keep_all(pieces, staging, THREADS)._replace(format=format_)
        except Unreadable as error:
            staging.forget()  # what came before the damage counts when the file is whole
            return Kept(refusals=(Refusal(0, str(error), "", whole=False),), format=UNREADABLE)

    def _stage_at_once(self, source: Source, staging: Staging, *, whole: bool = False) -> Kept | None:
        """The same in one go; None where that cannot be done with this file."""
        pieces = at_once(source, THREADS, whole=whole)
        if pieces is None:
            return None
        try:
            # The threads are DuckDB's: more than one beside them would wait for each other.
            return self._keep_all(pieces, staging, 1)._replace(format="flat")
        except MoreFields:
            staging.forget()
            return self._stage_at_once(source, staging, whole=True)
        except Unordinary:
            return None

    def _keep_all(self, pieces: Iterable[Piece], staging: Staging, threads: int) -> Kept:
        def keep(piece: tuple[int, Piece]) -> Kept:
            number, read = piece
            with in_passing() as connection:
                batches = enumerate(read(self.context(connection)))
                return sum_of(
                    self._keep(batch, staging, (number, part), connection) for part, batch in batches
                )

        with ThreadPoolExecutor(threads) as pool:
            return sum_of(in_order(pool, keep, enumerate(pieces)))

    def _keep(
        self, batch: Batch, staging: Staging, place: tuple[int, ...], connection: DuckDBPyConnection
    ) -> Kept:
        staging.add_events(self.finishing.events(batch.events, connection), place)
        staging.add_feedback(self.finishing.feedback(batch.feedback), place)
        return Kept(batch.events.num_rows, batch.feedback.num_rows, batch.skipped, batch.refusals)

    def retry(self) -> Kept:
        """Feed the lines in quarantine again; those that can be read now leave it."""
        waiting = [each for each in self.store.ledger.quarantined() if each.whole and each.format in FORMATS]
        total = Kept()
        for line in waiting:
            with self.store.staging() as staging, in_passing() as connection:
                read = FORMATS[line.format](Lines(line.line, line.text.encode()), self.context(connection))
                parts = enumerate(read)
                kept = sum_of(self._keep(batch, staging, (part,), connection) for part, batch in parts)
                if kept.refusals:
                    total += Kept(refusals=kept.refusals)
                    continue
                digest = content_hash(["retry", line.file, line.line, line.number, line.text])
                delivery = Delivery(
                    digest,
                    f"{line.name}:{line.line}",
                    len(line.text),
                    line.format,
                    kept.events,
                    kept.feedback,
                    kept.skipped,
                    replaces=(line.number,),
                )
                self.store.publish(delivery, staging)
            total += kept
        return total


class Kept(NamedTuple):
    """What was read."""

    events: int = 0
    feedback: int = 0
    skipped: int = 0
    refusals: tuple[Refusal, ...] = ()
    format: str = ""

    def __add__(self, other: Kept) -> Kept:  # type: ignore[override]
        return Kept(
            self.events + other.events,
            self.feedback + other.feedback,
            self.skipped + other.skipped,
            (*self.refusals, *other.refusals),
            self.format or other.format,
        )


def sum_of(parts: Iterable[Kept]) -> Kept:
    """Parts together, their refused lines in order."""
    refusals: list[Refusal] = []
    events = feedback = skipped = 0
    for part in parts:
        events, feedback, skipped = events + part.events, feedback + part.feedback, skipped + part.skipped
        refusals += part.refusals
    return Kept(events, feedback, skipped, tuple(refusals))


@contextmanager
def open_ingest(project: Project) -> Iterator[Ingest]:
    """What takes files for a project, with its suites, settings and prices."""
    production = read_production(project)
    suites, _ = load_suites(project, suite_names(project))
    prompts = {
        prompt_name(version): suite.name
        for suite in suites
        for version in versions_in(project.prompts(suite.name))
    }
    names = frozenset(suite.name for suite in suites)
    scales = {name: (scale.lowest, scale.highest) for name, scale in production.feedback.items()}
    with EventStore.of(project) as store:
        key = store.ledger.key("pseudonyms", secrets.token_hex(32))
        finishing = finishing_for(project, production, suites, key)

        def context(connection: DuckDBPyConnection) -> Context:
            return Context(names, connection, prompts, production.default_suite, scales)

        yield Ingest(project, production, store, finishing, context)


def in_order(pool: ThreadPoolExecutor, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """The results in the order of the items; only a few of them are under way at once."""
    waiting: deque[Future[R]] = deque()
    for item in items:
        waiting.append(pool.submit(work, item))
        if len(waiting) > THREADS:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
