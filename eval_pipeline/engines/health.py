"""Whether an endpoint is there at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from eval_pipeline.answers import TIMEOUT
from eval_pipeline.engines.calls import CONNECTION, SERVER, CallFailed, NotAsked
from eval_pipeline.numbers import counted
from eval_pipeline.store import Database

if TYPE_CHECKING:
    from sqlalchemy import Table

FAILURES_IN_A_ROW = 20


class InARow(NamedTuple):
    """What failed since the last call that was answered."""

    calls: int = 0
    cases: int = 0
    kind: str = CONNECTION

    def since(self, before: InARow) -> InARow:
        """What failed after something else had."""
        return InARow(self.calls - before.calls, self.cases - before.cases, self.kind)

    def with_more(self, more: InARow) -> InARow:
        """The same, and what failed later."""
        kind = more.kind if more.calls or more.cases else self.kind
        return InARow(self.calls + more.calls, self.cases + more.cases, kind)


class Health:
    """Whether an endpoint is there at all, as far as the latest calls tell.

    Calls that fail in a row put it in doubt: then nobody waits for it but those who do already. Cases that
    fail in a row, each a different question, prove it dead: then nothing is asked. A few questions that
    always fail prove nothing.
    """

    def __init__(self, concurrency: int) -> None:
        self._enough = max(FAILURES_IN_A_ROW, 2 * concurrency)
        self._failed = InARow()

    @property
    def is_in_doubt(self) -> bool:
        """Whether so many calls failed in a row that nobody else should wait."""
        return self._failed.calls >= self._enough

    def stop_if_dead(self) -> None:
        """Refuse to ask an endpoint that answers nothing."""
        if self._failed.cases >= self._enough:
            detail = f"{counted(self._failed.cases, 'case')} in a row got no answer; not asked any more"
            # A call that is not made does not time out.
            kind = CONNECTION if self._failed.kind == TIMEOUT else self._failed.kind
            raise NotAsked(kind, f"the endpoint is down: {detail}")

    def went_well(self) -> None:
        """Note a call that was answered."""
        self._failed = InARow()

    def went_badly(self, failure: CallFailed, is_last: bool) -> None:
        """Note a call that failed, and whether its case is given up."""
        if not failure.transient:
            self.went_well()  # whoever says no to a question is there
            return
        counts = failure.kind in (CONNECTION, TIMEOUT, SERVER)
        calls, cases, _ = self._failed
        self._failed = InARow(calls + counts, cases + is_last, failure.kind)

    async def share(self) -> None:
        """Let others who ask the same endpoint in the same run know, and learn what they know."""


class SharedHealth(Health):
    """The same over all processes of a run, by way of the journal's database."""

    def __init__(
        self, concurrency: int, table: HealthTable, in_thread: Callable[..., Awaitable[Any]], name: str
    ) -> None:
        super().__init__(concurrency)
        self._table = table
        self._in_thread = in_thread
        self._name = name
        self._unsaid = InARow()
        self._was_answered = False

    def went_well(self) -> None:
        """Note a call that was answered."""
        super().went_well()
        self._unsaid = InARow()
        self._was_answered = True

    def went_badly(self, failure: CallFailed, is_last: bool) -> None:
        """Note a call that failed, and whether its case is given up."""
        before = self._failed
        super().went_badly(failure, is_last)
        if failure.transient:
            self._unsaid = self._unsaid.with_more(self._failed.since(before))

    async def share(self) -> None:
        """Add what failed here since the last time to what failed elsewhere; an answer clears it all."""
        unsaid, was_answered = self._unsaid, self._was_answered
        self._unsaid, self._was_answered = InARow(), False
        told = await self._in_thread(self._table.add, self._name, unsaid, was_answered)
        # Meanwhile, other calls may have been answered here, or failed.
        self._failed = self._unsaid if self._was_answered else told.with_more(self._unsaid)


class HealthTable:
    """What failed in a row, for all processes of a run, in the journal's database."""

    def __init__(self, database: Database, table: Table, clock: Callable[[], float]) -> None:
        self._database = database
        self._table = table
        self._clock = clock

    def add(self, name: str, more: InARow, was_answered: bool) -> InARow:
        """Add failures to those that are known, or to none where a call was answered; what there is now."""
        columns = self._table.c
        with self._database.writing(f"health {name}") as connection:
            row = connection.execute(self._table.select().where(columns.name == name)).one_or_none()
            known = InARow(row.calls, row.cases, row.kind) if row and not was_answered else InARow()
            now = known.with_more(more)
            if row is None or now != InARow(row.calls, row.cases, row.kind):
                values = {**now._asdict(), "told_at": self._clock()}
                statement = self._database.insert(self._table).values(name=name, **values)
                connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))
        return now

    def forget(self, before: float) -> None:
        """Drop what nobody told since a moment."""
        with self._database.writing("health") as connection:
            connection.execute(self._table.delete().where(self._table.c.told_at < before))
