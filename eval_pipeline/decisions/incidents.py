"""Incidents: one for each version that is unwell, from the first failed check to its recovery.

An outage is an incident of its own: it neither is an incident of quality nor lets one recover.

Everything is kept in the project's database: which runs were looked at, which incidents are open, and
which messages still have to be delivered to whom. So no run is looked at twice, no message is lost
whenever a process dies, and each arrives once per target, however many processes look.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from eval_pipeline.store import Database, Stored, text_type
from eval_pipeline.suite import Severity

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table
    from sqlalchemy.engine import Row

QUIET_SECONDS = 24 * 3600.0
"""Who falls ill again so soon after a recovery is flapping: the incident goes on, untold."""
MOST_ATTEMPTS = 20
CLAIM_SECONDS = 600.0
"""So long nobody else sends what somebody is sending."""
COMPLETE = "complete"
"""The check that fails where too few answers arrived for a verdict: an outage."""
OUTAGE = "outage: "
"""Before the subject of an outage."""
PRODUCTION = "production"
"""The second word of the subject of what users get: a suite, this, and what is watched."""

Kind = Literal["opened", "worse", "recovered"]


class Finding(msgspec.Struct, frozen=True):
    """Something wrong that a run brought to light."""

    check: str
    severity: Severity
    text: str
    link: str = ""


class Incident(msgspec.Struct, frozen=True):
    """A version that is unwell, or was."""

    number: int
    subject: str
    severity: Severity
    opened_at: float
    closed_at: float | None
    relapses: int
    findings: tuple[Finding, ...]

    @property
    def is_outage(self) -> bool:
        """Whether answers do not arrive, so that nothing is known about quality."""
        return self.subject.startswith(OUTAGE)

    @property
    def in_production(self) -> bool:
        """Whether it is about what users get, and not about an evaluation."""
        return self.subject.split(" ")[1:2] == [PRODUCTION]

    @property
    def name(self) -> str:
        """How an approval names it."""
        return f"incident-{self.number}"

    @property
    def suite(self) -> str:
        """The suite whose version it is: a subject is a suite and a version."""
        return self.subject.removeprefix(OUTAGE).partition(" ")[0]


class Look(NamedTuple):
    """One of several looks at the same things, each at a later moment than the one before."""

    series: str
    """What is looked at."""
    moment: str
    """The hour or day that it is about, written so that texts are in the order of time: 2026-03-02T09."""
    content: str = ""
    """What was there to see, where more may follow: then the moment is looked at again."""

    @property
    def name(self) -> str:
        """What is noted of it."""
        return " ".join(part for part in self if part)


class Message(msgspec.Struct, frozen=True):
    """Something to tell."""

    number: int
    kind: Kind
    incident: Incident


class Incidents(Stored):
    """All incidents of a project."""

    def __init__(self, url: str, clock: Callable[[], float] = time.time) -> None:
        self._incidents, self._runs, self._messages, self._deliveries = incident_tables()
        super().__init__(Database(url, self._incidents.metadata))
        self._clock = clock

    def look_at(self, run: str, subject: str, findings: Sequence[Finding], *, may_open: bool = True) -> bool:
        """Take in what a run found about a subject; whether anything changed. A run counts once."""
        with self._database.writing("incidents") as connection:
            if not self._is_new(connection, run):
                return False
            lost = [each for each in findings if each.check == COMPLETE]
            changed = self._take_in(connection, OUTAGE + subject, lost, may_open)
            return changed if lost else self._take_in(connection, subject, findings, may_open) or changed

    def look_at_all(self, look: Look, found: Mapping[str, Sequence[Finding]]) -> bool:
        """Take in what a look found about several subjects; whether anything changed. A look counts once.

        What is older than the newest look of its series says nothing about now: it is noted, and that is all.
        """
        with self._database.writing("incidents") as connection:
            if not self._is_new(connection, look.name) or self._newest(connection, look.series) > look.moment:
                return False
            changed = [self._take_in(connection, *each, may_open=True) for each in found.items()]
            return any(changed)

    def _is_new(self, connection: Connection, run: str) -> bool:
        statement = self._database.insert(self._runs).values(run=run)
        once = statement.on_conflict_do_nothing(index_elements=["run"]).returning(self._runs.c.run)
        return connection.execute(once).first() is not None

    def _newest(self, connection: Connection, series: str) -> str:
        """The latest moment of a series that was looked at; moments begin with a digit, and `:` follows 9."""
        from sqlalchemy import func, select

        run, before = self._runs.c.run, f"{series} "
        statement = select(func.max(run)).where(run >= f"{before}0", run < f"{before}:")
        newest: str = connection.execute(statement).scalar() or ""
        return newest.removeprefix(before).partition(" ")[0]

    def _take_in(
        self, connection: Connection, subject: str, findings: Sequence[Finding], may_open: bool
    ) -> bool:
        latest = self._latest(connection, subject)
        is_open = latest is not None and latest.closed_at is None
        if not findings:
            if latest is not None and is_open:
                self._close(connection, latest)
            return is_open
        if latest is not None and is_open:
            self._go_on(connection, latest, findings)
            return True
        if not may_open:
            return False
        if latest is not None and self._clock() - (latest.closed_at or 0.0) < QUIET_SECONDS:
            self._relapse(connection, latest, findings)
        else:
            self._open(connection, subject, findings)
        return True

    def unknown(self, runs: Sequence[str]) -> set[str]:
        """Those of the runs that were not looked at yet."""
        from sqlalchemy import select

        with self._database.reading() as connection:
            known = connection.scalars(select(self._runs.c.run).where(self._runs.c.run.in_(runs)))
            return set(runs) - set(known)

    def all(self, most: int = 200) -> list[Incident]:
        """Incidents, the open ones first, then the latest."""
        table = self._incidents
        statement = table.select().order_by(table.c.closed_at.is_not(None), table.c.number.desc()).limit(most)
        with self._database.reading() as connection:
            return [_incident(row) for row in connection.execute(statement)]

    def open_in_production(self, suite: str) -> list[Incident]:
        """The open incidents of what users of a suite get, oldest first."""
        table = self._incidents
        mine = table.c.subject.startswith(f"{suite} {PRODUCTION} ", autoescape=True)
        statement = table.select().where(table.c.closed_at.is_(None), mine).order_by(table.c.number)
        with self._database.reading() as connection:
            return [_incident(row) for row in connection.execute(statement)]

    def undelivered(self) -> list[Message]:
        """What was not told yet, oldest first."""
        messages, incidents = self._messages, self._incidents
        statement = (
            messages.select()
            .where(messages.c.delivered_at.is_(None), messages.c.attempts < MOST_ATTEMPTS)
            .order_by(messages.c.number)
        )
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
            results = []
            for row in rows:
                owner = connection.execute(incidents.select().where(incidents.c.number == row.incident)).one()
                results.append(Message(row.number, row.kind, _incident(owner)))
            return results

    def claim(self, message: Message, targets: Sequence[str]) -> list[str]:
        """Those of the targets to which this process is to send a message now, and nobody else.

        Who dies over it has the message sent again after a while: rather twice than never.
        """
        now, rows = self._clock(), self._deliveries
        with self._database.writing("incidents") as connection:
            known = {
                row.target: row
                for row in connection.execute(rows.select().where(rows.c.message == message.number))
            }
            free = [
                target
                for target in dict.fromkeys(targets)
                if target not in known
                or (known[target].delivered_at is None and known[target].claimed_until <= now)
            ]
            for target in free:
                values = {"claimed_until": now + CLAIM_SECONDS}
                statement = self._database.insert(rows).values(
                    message=message.number, target=target, **values
                )
                connection.execute(
                    statement.on_conflict_do_update(index_elements=["message", "target"], set_=values)
                )
        return free

    def note(self, message: Message, arrived: Mapping[str, bool], targets: Sequence[str]) -> None:
        """Note to which of the claimed targets a message got; once it got to all, it is delivered."""
        now, rows, messages = self._clock(), self._deliveries, self._messages
        with self._database.writing("incidents") as connection:
            for target, has_arrived in arrived.items():
                values = {"claimed_until": 0.0, "delivered_at": now if has_arrived else None}
                row = (rows.c.message == message.number) & (rows.c.target == target)
                connection.execute(rows.update().where(row).values(**values))
            done = rows.select().where(rows.c.message == message.number, rows.c.delivered_at.is_not(None))
            reached = {row.target for row in connection.execute(done)}
            outcome: dict[str, Any] = {"attempts": messages.c.attempts + 1}
            if reached >= set(targets):
                outcome["delivered_at"] = now
            connection.execute(messages.update().where(messages.c.number == message.number).values(**outcome))

    def _latest(self, connection: Connection, subject: str) -> Row[Any] | None:
        table = self._incidents
        statement = table.select().where(table.c.subject == subject).order_by(table.c.number.desc()).limit(1)
        return connection.execute(statement).first()

    def _open(self, connection: Connection, subject: str, findings: Sequence[Finding]) -> None:
        statement = (
            self._incidents.insert()
            .values(
                subject=subject,
                severity=_severity(findings),
                opened_at=self._clock(),
                relapses=0,
                findings=_encoded(findings),
            )
            .returning(self._incidents.c.number)
        )
        self._tell(connection, connection.execute(statement).scalar_one(), "opened")

    def _go_on(self, connection: Connection, latest: Row[Any], findings: Sequence[Finding]) -> None:
        severity = _severity(findings)
        self._change(connection, latest.number, severity=severity, findings=_encoded(findings))
        if severity == "critical" and latest.severity != "critical":
            self._tell(connection, latest.number, "worse")

    def _relapse(self, connection: Connection, latest: Row[Any], findings: Sequence[Finding]) -> None:
        """Open the last incident again. A worse relapse is told; the same one is only counted."""
        values = {"closed_at": None, "relapses": latest.relapses + 1}
        self._change(connection, latest.number, **values)
        self._go_on(connection, latest, findings)

    def _close(self, connection: Connection, latest: Row[Any]) -> None:
        self._change(connection, latest.number, closed_at=self._clock())
        if not latest.relapses:
            self._tell(connection, latest.number, "recovered")

    def _change(self, connection: Connection, number: int, **values: Any) -> None:
        table = self._incidents
        connection.execute(table.update().where(table.c.number == number).values(**values))

    def _tell(self, connection: Connection, incident: int, kind: Kind) -> None:
        connection.execute(self._messages.insert().values(incident=incident, kind=kind, attempts=0))


def _severity(findings: Sequence[Finding]) -> Severity:
    return "critical" if any(each.severity == "critical" for each in findings) else "warning"


def _encoded(findings: Sequence[Finding]) -> str:
    return msgspec.json.encode(list(findings)).decode()


def _incident(row: Row[Any]) -> Incident:
    return Incident(
        row.number,
        row.subject,
        row.severity,
        row.opened_at,
        row.closed_at,
        row.relapses,
        tuple(msgspec.json.decode(row.findings, type=list[Finding])),
    )


@functools.cache
def incident_tables() -> tuple[Table, Table, Table, Table]:
    """Incidents, runs that were looked at, messages and deliveries, described for SQLAlchemy."""
    from sqlalchemy import Column, Double, Integer, MetaData, Table

    text = text_type()
    metadata = MetaData()
    incidents = Table(
        "alert_incidents",
        metadata,
        Column("number", Integer, primary_key=True, autoincrement=True),
        Column("subject", text, nullable=False, index=True),
        Column("severity", text, nullable=False),
        Column("opened_at", Double, nullable=False),
        Column("closed_at", Double),
        Column("relapses", Integer, nullable=False),
        Column("findings", text, nullable=False),
    )
    runs = Table("alert_runs", metadata, Column("run", text, primary_key=True))
    messages = Table(
        "alert_messages",
        metadata,
        Column("number", Integer, primary_key=True, autoincrement=True),
        Column("incident", Integer, nullable=False),
        Column("kind", text, nullable=False),
        Column("attempts", Integer, nullable=False),
        Column("delivered_at", Double),
    )
    deliveries = Table(
        "alert_deliveries",
        metadata,
        Column("message", Integer, primary_key=True),
        Column("target", text, primary_key=True),
        Column("claimed_until", Double, nullable=False),
        Column("delivered_at", Double),
    )
    return incidents, runs, messages, deliveries
