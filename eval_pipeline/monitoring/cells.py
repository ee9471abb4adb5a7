"""What figures are made of: counts and sums of every hour, prompt version and model, which merge exactly.

They lie in one small Parquet file for each suite and day, with the identity of what each hour was made
from: the segments that count. Where these are others now, the hour is made anew, and no other.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from eval_pipeline.files import content_hash, replacing
from eval_pipeline.monitoring.databases import THREADS, aside, in_passing
from eval_pipeline.monitoring.events import FEEDBACK_TIES, TEXTS, TIES, first_of_each
from eval_pipeline.monitoring.keeping import DAY, EventStore
from eval_pipeline.monitoring.ledger import EVENTS, FEEDBACK, Segment
from eval_pipeline.monitoring.sketch import bucket_sql
from eval_pipeline.monitoring.staging import midnight

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

FOLDER = "figures"
REQUESTS, ERRORS, ESTIMATED, SIMULATED, POINTS = "requests", "errors", "cost_estimated", "simulated", "points"
CONFIDENCE = "confidence"
NUMBERS = ("latency_ms", "cost_usd", "input_tokens", "output_tokens", "concepts", "relationships")
SPREAD = ("latency_ms", "cost_usd")
"""Numbers whose distribution is kept, and not only their sum."""
_IDENTITY = b"eval_pipeline_hours"
_OF_NOTHING = b'{"hours": {}, "feedback": ""}'
_MEMORY = "1GB"
_HOUR = 'epoch_us("at") // 3600000000'
_KEYS = "hour, version, model"
_SHORT = 10**8
"""With nine digits behind the point, any number below has no more than 64 bits."""


class Identity(msgspec.Struct, frozen=True):
    """What the cells of a day were made from."""

    hours: dict[int, str]
    """For each hour, the hash of the names of its segments."""
    feedback: str
    """The same for the feedback that could be about that day."""


class Segments(NamedTuple):
    """What the cells of a day are made from."""

    events: Sequence[Segment]
    feedback: Sequence[Segment]
    """What may be about the day."""
    after: Sequence[Segment]
    """What tells which traces go on after midnight."""


def cells_of(
    store: EventStore, suite: str, days: Sequence[datetime.date], closes_after: int
) -> Iterator[pa.Table]:
    """The cells of some days, brought up to date."""
    with ThreadPoolExecutor(THREADS) as pool:
        yield from pool.map(lambda day: _cells_of_day(store, suite, day, closes_after), days)


def _cells_of_day(store: EventStore, suite: str, day: datetime.date, closes_after: int) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    segments = _segments(store, suite, day, closes_after)
    now, path = identity_of(segments), cells_file(store, suite, day)
    known, table = _stored(path)
    if known == now and table is not None:
        return table
    stale = [hour for hour, made_from in now.hours.items() if known.hours.get(hour) != made_from]
    parts = []
    if table is not None:
        fresh = pa.array([hour for hour in now.hours if hour not in stale], pa.int64())
        kept = pc.and_(pc.is_in(pc.hour(table["hour"]), fresh), pc.not_equal(table["measure"], POINTS))
        parts.append(table.filter(kept))
    with _database(store) as connection:
        if stale:
            parts.append(_counted(connection, store, segments.events, stale))
        if segments.feedback:
            parts.append(_rated(connection, store, segments, day))
    whole = pa.concat_tables(parts) if parts else empty_cells()
    order = [(name, "ascending") for name in ("hour", "version", "model", "measure", "label", "bucket")]
    whole = whole.sort_by(order).replace_schema_metadata({_IDENTITY: msgspec.json.encode(now)})
    _write(path, whole)
    return whole


def stale_days(store: EventStore, suite: str, closes_after: int) -> dict[datetime.date, str]:
    """The days whose cells are not up to date, each with the hash of what they would be made from."""
    import pyarrow.parquet as pq

    stale = {}
    for day in store.days(suite):
        now, path = identity_of(_segments(store, suite, day, closes_after)), cells_file(store, suite, day)
        if not path.is_file() or _identity(pq.read_schema(path)) != now:
            stale[day] = content_hash([sorted(now.hours.items()), now.feedback])
    return stale


def cells_file(store: EventStore, suite: str, day: datetime.date) -> Path:
    """Where the cells of a day lie."""
    return store.folder.with_name(FOLDER) / suite / f"{day}.parquet"


def _segments(store: EventStore, suite: str, day: datetime.date, closes_after: int) -> Segments:
    last = day + datetime.timedelta(days=closes_after)
    return Segments(
        store.ledger.segments(EVENTS, suite, str(day), str(day)),
        store.ledger.segments(FEEDBACK, None, str(day), str(last)),
        store.after_midnight(suite, day),
    )


def identity_of(segments: Segments) -> Identity:
    """What the cells of a day would be made from."""
    events, feedback, after = segments
    hours = {
        hour: content_hash([each.path for each in events if each.hours >> hour & 1])
        for hour in range(24)
        if any(each.hours >> hour & 1 for each in events)
    }
    rated = [each.path for each in (*feedback, *after)]
    return Identity(hours, content_hash(rated) if feedback else "")


def _counted(
    connection: DuckDBPyConnection, store: EventStore, segments: Sequence[Segment], hours: Sequence[int]
) -> pa.Table:
    """The cells of some hours of a day, from their events."""
    _view_once(connection, store, segments, hours)
    sums = [("count(*)", "0", "0", REQUESTS)]
    sums += [(f"count_if({name})", "0", "0", name) for name in (ESTIMATED, SIMULATED)]
    sums += [
        (f"count({name})", f"sum({name})::DECIMAL(38, 9)", f"sum({name}::DOUBLE * {name})", name)
        for name in NUMBERS
        if name not in SPREAD
    ]
    sums += [("0", _sum(name), f"sum({name} * {name})", name) for name in SPREAD]
    columns = ", ".join(
        f"{count} AS count{place}, {total} AS total{place}, {squares} AS squares{place}"
        for place, (count, total, squares, _) in enumerate(sums)
    )
    connection.execute(f"CREATE TEMP TABLE sums AS SELECT {_KEYS}, {columns} FROM once GROUP BY {_KEYS}")
    parts = [
        f"SELECT {_KEYS}, '{name}' AS measure, NULL AS label, NULL AS bucket, "
        f"count{place} AS count, total{place} AS total, squares{place} AS squares FROM sums"
        for place, (_, _, _, name) in enumerate(sums)
    ]
    parts.append(
        f"SELECT {_KEYS}, '{ERRORS}', error, NULL, count(*), 0, 0 FROM once WHERE error IS NOT NULL "
        f"GROUP BY {_KEYS}, error"
    )
    parts += [
        f"SELECT {_KEYS}, '{name}', NULL, {bucket_sql(name)} AS bucket, count(*), 0, 0 FROM once "
        f"WHERE {name} IS NOT NULL GROUP BY {_KEYS}, bucket"
        for name in SPREAD
    ]
    parts.append(
        _spread(
            CONFIDENCE, f"SELECT {_KEYS}, unnest(confidences) AS x FROM once WHERE confidences IS NOT NULL"
        )
    )
    return _cells(connection, " UNION ALL ".join(parts))


def _spread(name: str, values: str) -> str:
    """Sums of values by bucket."""
    return (
        f"SELECT {_KEYS}, '{name}', NULL, {bucket_sql('x')} AS bucket, count(*), {_sum('x')}, "
        f"sum(x * x) FROM ({values}) WHERE x IS NOT NULL GROUP BY {_KEYS}, bucket"
    )


def _sum(value: str) -> str:
    """A sum to the billionth. What fits into 64 bits is rounded there, which takes half of the time."""
    short = f"sum(CASE WHEN {value} < {_SHORT} THEN {value}::DECIMAL(18, 9) END)"
    long = f"sum(CASE WHEN {value} >= {_SHORT} THEN {value}::DECIMAL(38, 9) END)"
    return f"coalesce({short}, 0) + coalesce({long}, 0)"


def _view_once(
    connection: DuckDBPyConnection,
    store: EventStore,
    segments: Sequence[Segment],
    hours: Collection[int],
    name: str = "once",
) -> None:
    """The events of some hours of segments, each once."""
    import numpy as np

    others = any(each.hours >> hour & 1 for each in segments for hour in range(24) if hour not in hours)
    where = f"WHERE {_HOUR} % 24 IN ({', '.join(map(str, hours))})" if others else ""
    files, texts = _quoted(store, segments), ", ".join(TEXTS)
    all_ = f"SELECT * EXCLUDE ({texts}), {_HOUR} AS hour FROM read_parquet([{files}]) {where}"
    # Hashes that are all different prove that no event is there twice, at a fraction of what looking costs.
    hashed = connection.sql(f"SELECT hash(hour, request_id) AS one FROM ({all_})").to_arrow_table()
    hashes = np.sort(hashed["one"].to_numpy())
    if (hashes[1:] == hashes[:-1]).any():
        once = f"FROM ({all_}) {first_of_each('hour, request_id', TIES)}"
        connection.execute(f"CREATE OR REPLACE TEMP TABLE first_{name} AS {once}")
        all_ = f"FROM first_{name}"
    connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {all_}")


def _rated(
    connection: DuckDBPyConnection, store: EventStore, segments: Segments, day: datetime.date
) -> pa.Table:
    """The points that people gave for the requests of a day: the last of each name for a request counts.

    What is said of a trace after midnight is about a request of the next day, where the trace goes on there.
    """
    _view_once(connection, store, segments.events, range(24))
    files = _quoted(store, segments.feedback)
    next_day = int(midnight(day + DAY).timestamp())
    going_on = "SELECT NULL WHERE false"
    if segments.after:
        _view_once(connection, store, segments.after, [0], "after")
        going_on = "SELECT trace_id FROM after WHERE trace_id IS NOT NULL"
    return _cells(
        connection,
        _spread(
            POINTS,
            f"""WITH feedback AS (
                SELECT * FROM read_parquet([{files}])
                {first_of_each("feedback_id", FEEDBACK_TIES)}),
            last AS (
                SELECT * FROM once WHERE trace_id IS NOT NULL
                QUALIFY row_number() OVER (PARTITION BY trace_id ORDER BY "at" DESC, request_id DESC) = 1),
            joined AS (
                SELECT {_KEYS}, once.request_id, name, points, feedback."at" AS given
                FROM once JOIN feedback ON once.request_id = feedback.request_id
                UNION ALL
                SELECT {_KEYS}, last.request_id, name, points, feedback."at"
                FROM last JOIN feedback ON feedback.request_id IS NULL AND last.trace_id = feedback.trace_id
                WHERE epoch(feedback."at") < {next_day} OR last.trace_id NOT IN ({going_on}))
            SELECT {_KEYS}, points AS x FROM joined
            QUALIFY row_number() OVER (
                PARTITION BY hour, request_id, name ORDER BY given DESC, points DESC) = 1""",
        ),
    )


def _quoted(store: EventStore, segments: Sequence[Segment]) -> str:
    """The paths of segments as a list in SQL."""
    return ", ".join("'" + str(store.path(each)).replace("'", "''") + "'" for each in segments)


def _cells(connection: DuckDBPyConnection, query: str) -> pa.Table:
    return connection.sql(
        f"""SELECT make_timestamp(hour * 3600000000) AS hour, version, model, measure,
            label::VARCHAR AS label, bucket::INTEGER AS bucket, count::BIGINT AS count,
            coalesce(total, 0)::DECIMAL(38, 9) AS total, coalesce(squares, 0)::DOUBLE AS squares
        FROM ({query}) AS cells({_KEYS}, measure, label, bucket, count, total, squares)"""
    ).to_arrow_table()


def empty_cells() -> pa.Table:
    """The columns of cells, without any."""
    import pyarrow as pa

    text, number = pa.string(), pa.decimal128(38, 9)
    keys = [
        ("hour", pa.timestamp("us")),
        *((name, text) for name in ("version", "model", "measure", "label")),
    ]
    sums = [("bucket", pa.int32()), ("count", pa.int64()), ("total", number), ("squares", pa.float64())]
    return pa.schema([*keys, *sums]).empty_table()


def _database(store: EventStore) -> DuckDBPyConnection:
    """A connection to a database that puts aside what does not fit, and keeps nothing of what it has read."""
    return in_passing(
        memory_limit=_MEMORY,
        temp_directory=aside(store.folder, os.getpid()),
        preserve_insertion_order=False,
        enable_external_file_cache=False,
    )


def _stored(path: Path) -> tuple[Identity, pa.Table | None]:
    import pyarrow.parquet as pq

    if not path.is_file():
        return Identity({}, ""), None
    table = pq.read_table(path)
    return _identity(table.schema), table


def _identity(schema: pa.Schema) -> Identity:
    return msgspec.json.decode((schema.metadata or {}).get(_IDENTITY, _OF_NOTHING), type=Identity)


def _write(path: Path, table: pa.Table) -> None:
    import pyarrow.parquet as pq

    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")
