"""The state of a project in another database: every table from the one in the state folder.

It can be done again: what is there already stays as it is, and what came since is added. So a first move may
be a rehearsal. Who holds a call or a slot is a process of this machine, and is not moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from eval_pipeline.decisions.incidents import incident_tables
from eval_pipeline.engines import journal_tables
from eval_pipeline.monitoring import ledger_tables, rates_table
from eval_pipeline.store import (
    Database,
    ProposalFiles,
    database_file,
    embedded_database,
    history_table,
    proposals_of,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection, MetaData, Table
    from sqlalchemy.engine import Row

AT_ONCE = 1000
NUMBER = "number"
LOCK = "moving"
QUARANTINE = "events_quarantine"


class Moved(NamedTuple):
    """How many rows of a kind were moved, and how many were there already."""

    kind: str
    rows: int
    known: int
    renamed: tuple[str, ...] = ()
    """What has another name now, since its own was taken."""


def move_database(state: Path, url: str) -> list[Moved]:
    """Move the tables of a state folder's database to another database; proposals are files there."""
    if database_file(embedded := embedded_database(state)) == database_file(url):
        return []
    moved: list[Moved] = []
    if (file := database_file(embedded)) and file.exists():
        for metadata in _all_tables():
            old, new = Database(embedded, metadata), Database(url, metadata)
            try:
                moved += _move_tables(old, new, metadata)
            finally:
                old.close()
                new.close()
    return [*moved, _move_proposals(state)]


def _all_tables() -> Iterator[MetaData]:
    yield journal_tables().calls.metadata
    yield history_table().metadata
    yield incident_tables()[0].metadata
    yield ledger_tables()
    yield rates_table().metadata


def _move_tables(old: Database, new: Database, metadata: MetaData) -> Iterator[Moved]:
    incidents, _, messages, deliveries = incident_tables()
    by_number = {incidents.name, messages.name, deliveries.name}
    if incidents.name in metadata.tables:
        yield _move_incidents(old, new)
    holders = journal_tables().holders.name
    for name, table in metadata.tables.items():
        if name not in by_number and name != holders:
            yield _move_rows(old, new, table)


def _move_rows(old: Database, new: Database, table: Table) -> Moved:
    """Move rows that are known by what they hold; their numbers say nothing but their order."""
    keys = _keys(table)
    moved = seen = 0
    for rows in _batches(old, table):
        seen += len(rows)
        with new.writing(LOCK) as connection:
            # No constraint keeps two of a refused line apart.
            fresh = _unknown(connection, table, keys, rows) if table.name == QUARANTINE else rows
            moved += _insert(new, connection, table, keys, fresh)
    return Moved(table.name, moved, seen - moved)


def _insert(
    new: Database, connection: Connection, table: Table, keys: Sequence[str], rows: list[dict[str, Any]]
) -> int:
    if not rows:
        return 0
    insert = new.insert(table)
    if table.name == QUARANTINE:
        connection.execute(insert, rows)
        return len(rows)
    if table.name == journal_tables().calls.name:  # a claim that never brought an answer gives way to one
        fresh = {name: insert.excluded[name] for name in rows[0] if name not in keys}
        unanswered = table.c.answered_at.is_(None)
        insert = insert.on_conflict_do_update(index_elements=keys, set_=fresh, where=unanswered)
    else:
        insert = insert.on_conflict_do_nothing(index_elements=keys)
    there = insert.returning(table.c[keys[0]])
    return len(connection.execute(there, rows).all())


def _keys(table: Table) -> list[str]:
    known = {
        history_table().name: ["run", "evaluation"],
        QUARANTINE: ["file", "line"],
    }
    return known.get(table.name) or [column.name for column in table.primary_key]


def _batches(old: Database, table: Table) -> Iterator[list[dict[str, Any]]]:
    """The rows of a table in the order of their keys, without numbers of its own."""
    order = list(table.primary_key)
    statement = table.select().order_by(*order)
    if table.name == journal_tables().calls.name:
        statement = statement.where(table.c.answered_at.is_not(None))
    numbered = NUMBER in table.primary_key
    with old.reading() as connection:
        found = connection.execution_options(yield_per=AT_ONCE).execute(statement)
        for part in found.mappings().partitions(AT_ONCE):
            yield [{name: row[name] for name in row if not (numbered and name == NUMBER)} for row in part]


def _unknown(
    connection: Connection, table: Table, keys: Sequence[str], rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    from sqlalchemy import select, tuple_

    columns = [table.c[name] for name in keys]
    wanted = [tuple(row[name] for name in keys) for row in rows]
    known = {tuple(row) for row in connection.execute(select(*columns).where(tuple_(*columns).in_(wanted)))}
    return [row for row, key in zip(rows, wanted, strict=True) if key not in known]


def _move_incidents(old: Database, new: Database) -> Moved:
    """Move incidents with what was told of them. Approvals name one by its number, which stays if it can."""
    incidents, _, messages, deliveries = incident_tables()
    with old.reading() as connection:
        theirs = connection.execute(incidents.select().order_by(incidents.c.number)).all()
        told = connection.execute(messages.select().order_by(messages.c.number)).all()
        sent = connection.execute(deliveries.select()).all()
    moved, renamed = 0, []
    with new.writing("incidents") as connection:
        for row in theirs:
            number, is_new = _place_incident(connection, row)
            moved += is_new
            if is_new and number != row.number:
                renamed.append(f"incident-{row.number} is incident-{number}")
            own = [each for each in told if each.incident == row.number]
            _move_messages(connection, number, own, sent)
        for table in (incidents, messages):
            new.go_on_from_largest(connection, table.c.number)
    return Moved(incidents.name, moved, len(theirs) - moved, tuple(renamed))


def _place_incident(connection: Connection, row: Row[Any]) -> tuple[int, bool]:
    """Where an incident is now, and whether it is new there; one that ended since ends there, too."""
    from sqlalchemy import func, select

    table = incident_tables()[0]
    same = (table.c.subject == row.subject) & (table.c.opened_at == row.opened_at)
    known = connection.execute(table.select().where(same)).first()
    if known is None:
        taken = connection.execute(select(table.c.number).where(table.c.number == row.number)).first()
        largest = connection.execute(select(func.max(table.c.number))).scalar() or 0
        number = largest + 1 if taken else row.number
        connection.execute(table.insert().values(**{**row._mapping, NUMBER: number}))
        return number, True
    if known.closed_at is None and row.closed_at is not None:
        ended = {name: row._mapping[name] for name in ("severity", "closed_at", "relapses", "findings")}
        connection.execute(table.update().where(table.c.number == known.number).values(**ended))
    return known.number, False


def _move_messages(
    connection: Connection, incident: int, told: Sequence[Row[Any]], sent: Sequence[Row[Any]]
) -> None:
    """Move the messages of an incident that are not there yet: there are as many as were moved before."""
    from sqlalchemy import func, select

    _, _, messages, deliveries = incident_tables()
    counting = select(func.count()).select_from(messages).where(messages.c.incident == incident)
    there = connection.execute(counting).scalar() or 0
    for message in told[there:]:
        largest = connection.execute(select(func.max(messages.c.number))).scalar() or 0
        values = {**message._mapping, "incident": incident, NUMBER: largest + 1}
        connection.execute(messages.insert().values(**values))
        for delivery in (each for each in sent if each.message == message.number):
            row: Mapping[str, Any] = {**delivery._mapping, "message": largest + 1}
            connection.execute(deliveries.insert().values(**row))


def _move_proposals(state: Path) -> Moved:
    """Move what versions propose, unless they propose something there."""
    old, new = ProposalFiles(state), proposals_of(state)
    moved = known = 0
    for suite in old.suites():
        there = {each.version for each in new.of(suite)}
        for proposal in old.of(suite):
            if proposal.version in there:
                known += 1
            else:
                new.keep(suite, proposal.version, proposal)
                moved += 1
    return Moved("proposals", moved, known)
