"""The tables of the journal: calls, and what limits, budgets and shards share between processes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from eval_pipeline.store import text_type

if TYPE_CHECKING:
    from sqlalchemy import MetaData, Table


AMOUNTS = tuple(
    f"{state}_{what}" for state in ("aside", "spent", "estimated") for what in ("calls", "tokens", "dollars")
)
"""What a purse counts: set aside for calls under way, spent, and what those that are done were taken for."""


class JournalTables(NamedTuple):
    """The tables of the journal's database."""

    calls: Table
    buckets: Table
    holders: Table
    purses: Table
    health: Table
    board: Table


@functools.cache
def journal_tables() -> JournalTables:
    """The tables, described for SQLAlchemy."""
    from sqlalchemy import BigInteger, Column, Double, Integer, LargeBinary, MetaData, Table

    text = text_type()
    metadata = MetaData()
    calls = Table(
        "journal_calls",
        metadata,
        Column("key", text, primary_key=True),
        *(Column(name, text, nullable=False) for name in ("engine", "model", "suite", "version", "case_id")),
        Column("trial", Integer, nullable=False),
        Column("sample", text, nullable=False),
        Column("owner", text),
        Column("leased_until", Double),
        # Models also write NUL and halves of surrogate pairs, which no text column takes.
        Column("text", LargeBinary),
        Column("finish_reason", text),
        Column("prompt_tokens", BigInteger),
        Column("completion_tokens", BigInteger),
        Column("latency_ms", Double),
        Column("cost_usd", Double),
        Column("attempts", Integer),
        Column("answered_at", text),
        Column("estimated_tokens", BigInteger),
        Column("hits", BigInteger, nullable=False),
    )
    buckets = Table(
        "journal_buckets",
        metadata,
        Column("name", text, primary_key=True),
        *(Column(name, Double, nullable=False) for name in ("level", "refilled_at", "paused_until")),
    )
    holders = Table(
        "journal_holders",
        metadata,
        Column("scope", text, primary_key=True),
        Column("owner", text, primary_key=True),
        Column("wanted", Integer, nullable=False),
        Column("granted", Integer, nullable=False),
        Column("leased_until", Double, nullable=False),
    )
    return JournalTables(calls, buckets, holders, *_of_runs(metadata))


def _of_runs(metadata: MetaData) -> tuple[Table, Table, Table]:
    """What the processes of a run share: purses, the health of endpoints, and a board."""
    from sqlalchemy import Column, Double, Integer, LargeBinary, Table

    text = text_type()
    purses = Table(
        "journal_purses",
        metadata,
        Column("purse", text, primary_key=True),
        Column("owner", text, primary_key=True),
        *(Column(name, Double, nullable=False) for name in AMOUNTS),
        Column("leased_until", Double, nullable=False),
    )
    health = Table(
        "journal_health",
        metadata,
        Column("name", text, primary_key=True),
        Column("calls", Integer, nullable=False),
        Column("cases", Integer, nullable=False),
        Column("kind", text, nullable=False),
        Column("told_at", Double, nullable=False),
    )
    board = Table(
        "journal_board",
        metadata,
        Column("run", text, primary_key=True),
        Column("shard", text, primary_key=True),
        Column("news", LargeBinary, nullable=False),
        Column("told_at", Double, nullable=False),
    )
    return purses, health, board
