"""The requests of a day that are looked at closely.

Which these are follows from the events of the day, the feedback that was given until it closed, and the
rates of its week: in whatever order and however often they were delivered. Until a day closes, feedback may
raise the chance of a request, and never lowers it; so what was drawn stays drawn.
"""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from eval_pipeline.files import content_hash, replacing
from eval_pipeline.monitoring.events import event_schema
from eval_pipeline.monitoring.keeping import EventStore
from eval_pipeline.monitoring.ledger import EVENTS, FEEDBACK
from eval_pipeline.monitoring.settings import Production
from eval_pipeline.monitoring.staging import HOUR, midnight
from eval_pipeline.monitoring.strata import (
    DAY,
    KeptRates,
    Rates,
    closed_week_before,
    closes_at,
    draws,
    rates_from,
    week_of,
)
from eval_pipeline.project import Project
from eval_pipeline.store import database_url

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "samples"
_ABOUT = b"eval_pipeline_sample"
_DECIDING = ("request_id", "trace_id", "at", "error", "topic", "version")
_SALT = "sampling"


class SampleInfo(msgspec.Struct, frozen=True):
    """What is known of a sample besides its requests."""

    suite: str
    day: str
    made_from: str
    """The hash of what decides on it: segments, rates, and whether the day was closed."""
    closed: bool
    population: dict[str, int]
    """Requests of each stratum, drawn or not."""
    simulated: int = 0

    @property
    def state(self) -> str:
        """`closed`, or `provisional` while feedback may still add to it."""
        return "closed" if self.closed else "provisional"

    @property
    def requests(self) -> int:
        """How many requests the day had."""
        return sum(self.population.values())


class Sample(msgspec.Struct, frozen=True):
    """Requests that were drawn, in order of time and id, with all that is kept of them."""

    info: SampleInfo
    table: Any
    """The columns of an event, and `stratum`, `chance` and `points`: the lowest that a person gave."""


def sample_of(
    project: Project,
    store: EventStore,
    suite: str,
    day: datetime.date,
    production: Production,
    now: datetime.datetime | None = None,
) -> Sample:
    """The sample of a day, brought up to date."""
    import pyarrow.parquet as pq

    closed = (now or datetime.datetime.now(datetime.UTC)) >= closes_at(day, production.closes_after_days)
    rates = rates_of(project, store, suite, day, production)
    made_from = identity_of(store, suite, day, production, rates, closed)
    path = sample_file(project, suite, day)
    if path.is_file():
        table = pq.read_table(path)
        info = _info(table)
        if info is not None and info.made_from == made_from:
            return Sample(info, table.replace_schema_metadata(None))
    points = points_of_day(store, suite, day, production.closes_after_days)
    drawn = _draw(store, suite, day, production, rates, points)
    info = SampleInfo(
        suite, day.isoformat(), made_from, closed, dict(sorted(drawn.population.items())), drawn.simulated
    )
    table = _with_texts(store, suite, day, drawn)
    with replacing(path) as temporary:
        pq.write_table(
            table.replace_schema_metadata({_ABOUT: msgspec.json.encode(info)}), temporary, compression="zstd"
        )
    return Sample(info, table)


def sample_file(project: Project, suite: str, day: datetime.date) -> Path:
    """Where a sample lies, with the masked texts of its requests."""
    return project.state / FOLDER / suite / f"{day}.parquet"


def identity_of(
    store: EventStore, suite: str, day: datetime.date, production: Production, rates: Rates, closed: bool
) -> str:
    """The hash of what decides on a sample."""
    last = closes_at(day, production.closes_after_days).date() - DAY
    events = store.ledger.segments(EVENTS, suite, str(day), str(day))
    feedback = store.ledger.segments(FEEDBACK, None, str(day), str(last))
    after = store.after_midnight(suite, day) if feedback else ()
    sampling = production.sampling
    return content_hash(
        [
            [each.path for each in events],
            [each.path for each in (*feedback, *after)],
            rates,
            [sampling.disliked_rate, sampling.disliked_below, production.closes_after_days],
            closed,
        ]
    )


def stale_samples(
    project: Project,
    store: EventStore,
    suite: str,
    production: Production,
    now: datetime.datetime | None = None,
) -> dict[datetime.date, str]:
    """The days whose samples are not up to date, each with the hash of what they would be made from."""
    import pyarrow.parquet as pq

    moment, stale = now or datetime.datetime.now(datetime.UTC), {}
    for day in store.days(suite):
        rates = rates_of(project, store, suite, day, production)
        closed = moment >= closes_at(day, production.closes_after_days)
        made_from = identity_of(store, suite, day, production, rates, closed)
        path = sample_file(project, suite, day)
        known = _info_of((pq.read_schema(path).metadata or {}).get(_ABOUT)) if path.is_file() else None
        if known is None or known.made_from != made_from:
            stale[day] = made_from
    return stale


def rates_of(
    project: Project, store: EventStore, suite: str, day: datetime.date, production: Production
) -> Rates:
    """The rates of a day's week: those that are stored, else what the last closed week says, from now on."""
    week = week_of(day)
    with KeptRates(database_url(project)) as kept:
        if (known := kept.get(suite, week)) is not None:
            return known
        before = closed_week_before(day, production.closes_after_days)
        counts = _counts(store, suite, before)
        return kept.fix(suite, week, rates_from(before, counts, production.sampling))


def _counts(
    store: EventStore, suite: str, week: datetime.date
) -> dict[tuple[str | None, str | None, str | None], int]:
    """Requests of a week by outcome, topic and version."""
    import pyarrow as pa
    import pyarrow.compute as pc

    start = midnight(week)
    counts: dict[tuple[str | None, str | None, str | None], int] = {}
    for _, table in store.hours(suite, start, start + 7 * DAY, ["error", "topic", "version"]):
        failed = pc.if_else(pc.is_valid(table["error"]), pa.scalar("error"), pa.scalar(None, pa.string()))
        grouped = table.set_column(0, "error", failed).group_by(["error", "topic", "version"])
        for row in grouped.aggregate([([], "count_all")]).to_pylist():
            key = (row["error"], row["topic"], row["version"])
            counts[key] = counts.get(key, 0) + row["count_all"]
    return counts


def points_of_day(
    store: EventStore, suite: str, day: datetime.date, closes_after: int
) -> Mapping[str, list[float]]:
    """The points that people gave until the day closed, by request; what names a trace is of its last one.

    Where a trace goes on after midnight, that is one of the next day for what is said there.
    """
    start = midnight(day)
    feedback = store.feedback(start, closes_at(day, closes_after))
    points: dict[str, list[float]] = {}
    by_trace: dict[str, list[tuple[float, bool]]] = {}
    for row in feedback.select(["request_id", "trace_id", "points", "at"]).to_pylist():
        if row["request_id"] is not None:
            points.setdefault(row["request_id"], []).append(row["points"])
        elif row["trace_id"] is not None:
            by_trace.setdefault(row["trace_id"], []).append((row["points"], row["at"] < start + DAY))
    if by_trace:
        going_on = _last_requests(store, suite, start + DAY, HOUR, by_trace)
        for trace, request in _last_requests(store, suite, start, DAY, by_trace).items():
            mine = [each for each, same_day in by_trace[trace] if same_day or trace not in going_on]
            points.setdefault(request, []).extend(mine)
    return {request: sorted(given) for request, given in points.items() if given}


def _last_requests(
    store: EventStore,
    suite: str,
    start: datetime.datetime,
    length: datetime.timedelta,
    traces: Iterable[str],
) -> dict[str, str]:
    """The last request of each of some traces, within some time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    last, wanted = {}, pa.array(list(traces), pa.string())
    for _, table in store.hours(suite, start, start + length, ["trace_id", "request_id"]):
        for row in table.filter(pc.is_in(table["trace_id"], wanted)).to_pylist():
            last[row["trace_id"]] = row["request_id"]  # events come in order of time and id
    return last


class _Drawn(msgspec.Struct):
    """What was drawn of a day, by hour."""

    hours: dict[datetime.datetime, pa.Table]
    population: dict[str, int]
    simulated: int = 0


def _draw(
    store: EventStore,
    suite: str,
    day: datetime.date,
    production: Production,
    rates: Rates,
    points: Mapping[str, list[float]],
) -> _Drawn:
    """Ids, strata, chances and points of what is drawn; nothing of texts is read for it."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    salt = store.ledger.key(_SALT, secrets.token_hex(16))
    sampling, start = production.sampling, midnight(day)
    drawn = _Drawn({}, {})
    for hour, table in store.hours(suite, start, start + DAY, [*_DECIDING, "simulated"]):
        drawn.simulated += pc.sum(table["simulated"]).as_py() or 0
        ids = table["request_id"].to_pylist()
        keys = zip(*(table[name].to_pylist() for name in ("error", "topic", "version")), strict=True)
        strata = [rates.stratum(*key) for key in keys]
        worst = [points[each][0] if each in points else None for each in ids]
        known = {stratum: (stratum.name, rates.rate(stratum)) for stratum in set(strata)}
        names = [known[stratum][0] for stratum in strata]
        least = [
            sampling.disliked_rate if each is not None and each < sampling.disliked_below else 0.0
            for each in worst
        ]
        chances = np.maximum([known[stratum][1] for stratum in strata], least)
        for name in names:
            drawn.population[name] = drawn.population.get(name, 0) + 1
        chosen = draws(salt, ids) < chances
        if chosen.any():
            own = pa.table(
                {
                    "request_id": pa.array(ids, pa.string()),
                    "stratum": pa.array(names, pa.string()),
                    "chance": pa.array(chances, pa.float64()),
                    "points": pa.array(worst, pa.float64()),
                }
            )
            drawn.hours[hour] = own.filter(pa.array(chosen))
    return drawn


def _with_texts(store: EventStore, suite: str, day: datetime.date, drawn: _Drawn) -> pa.Table:
    """What was drawn with all that is kept of it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    extra = pa.schema([("stratum", pa.string()), ("chance", pa.float64()), ("points", pa.float64())])
    schema = pa.schema([*event_schema(), *extra])
    parts = [schema.empty_table()]
    for hour, own in drawn.hours.items():
        whole = store.events(suite, hour, hour + datetime.timedelta(hours=1))
        rows = whole.filter(pc.is_in(whole["request_id"], own["request_id"].combine_chunks()))
        # Both are in order of time and id, and an id is there once in an hour.
        columns = [*rows.columns, *(own[name] for name in extra.names)]
        parts.append(pa.Table.from_arrays(columns, schema=schema))
    return pa.concat_tables(parts).combine_chunks()


def rows_of(sample: Sample) -> Iterator[dict[str, Any]]:
    """The requests of a sample, one by one."""
    for batch in sample.table.to_batches():
        yield from batch.to_pylist()


def _info(table: pa.Table) -> SampleInfo | None:
    return _info_of((table.schema.metadata or {}).get(_ABOUT))


def _info_of(encoded: bytes | None) -> SampleInfo | None:
    try:
        return msgspec.json.decode(encoded, type=SampleInfo) if encoded else None
    except msgspec.MsgspecError:
        return None
