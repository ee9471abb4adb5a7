"""The figures of production: what cells say of a stretch of time, a prompt version or a model."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from eval_pipeline.monitoring import cells
from eval_pipeline.monitoring.keeping import DAY, EventStore
from eval_pipeline.monitoring.sketch import quantile
from eval_pipeline.monitoring.staging import EPOCH, HOUR
from eval_pipeline.numbers import Unit

if TYPE_CHECKING:
    import pyarrow as pa

Group = Literal["hour", "day", "week", "version", "model"]


class Spread(msgspec.Struct, frozen=True):
    """How many values there are, what they sum to, and how they are distributed."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    buckets: dict[int, int] = {}

    @property
    def mean(self) -> float | None:
        """The mean; None of no values."""
        return self.total / self.count if self.count else None

    def quantile(self, share: float) -> float | None:
        """The value below which a share of the values lies, within 1 %; None of no values."""
        return quantile(self.buckets, share)


class Figures(msgspec.Struct, frozen=True):
    """What happened in a stretch of time."""

    suite: str
    start: datetime.datetime
    end: datetime.datetime
    requests: int
    errors: dict[str, int]
    """By kind."""
    measures: dict[str, Spread]
    version: str | None = None
    model: str | None = None
    cost_estimated: int = 0
    """Requests whose cost follows from prices."""
    simulated: int = 0

    def measure(self, name: str) -> Spread:
        """What is known of a number of each request."""
        return self.measures.get(name, Spread())

    @property
    def error_count(self) -> int:
        """How many requests failed."""
        return sum(self.errors.values())

    def value(self, name: str) -> float | None:
        """A figure by name; None where there is nothing to make it from."""
        return FIGURES[name].of(self)

    @property
    def values(self) -> dict[str, float | None]:
        """All figures."""
        return {name: self.value(name) for name in FIGURES}


class Figure(NamedTuple):
    """A number over a stretch of time."""

    unit: Unit
    about: str
    of: Callable[[Figures], float | None]


def _mean(measure: str) -> Callable[[Figures], float | None]:
    return lambda figures: figures.measure(measure).mean


def _latency(share: float) -> Callable[[Figures], float | None]:
    return lambda figures: figures.measure("latency_ms").quantile(share)


def _per_minute(figures: Figures) -> float:
    return figures.requests / ((figures.end - figures.start).total_seconds() / 60)


def _total(measure: str) -> Callable[[Figures], float | None]:
    return lambda figures: spread.total if (spread := figures.measure(measure)).count else None


def _share(count: Callable[[Figures], int]) -> Callable[[Figures], float | None]:
    return lambda figures: count(figures) / figures.requests if figures.requests else None


_FIGURES: tuple[tuple[str, Unit, str, Callable[[Figures], float | None]], ...] = (
    ("requests", "number", "Requests, failed ones included.", lambda each: float(each.requests)),
    ("requests_per_minute", "number", "Requests ÷ minutes of the stretch.", _per_minute),
    ("latency_p50_ms", "milliseconds", "Half of the latencies are at most this.", _latency(0.5)),
    ("latency_p95_ms", "milliseconds", "95 % of the latencies are at most this.", _latency(0.95)),
    ("latency_p99_ms", "milliseconds", "99 % of the latencies are at most this.", _latency(0.99)),
    ("latency_mean_ms", "milliseconds", "Mean latency.", _mean("latency_ms")),
    ("error_rate", "fraction", "Failed requests ÷ requests.", _share(lambda each: each.error_count)),
    ("input_tokens", "number", "Tokens of all requests.", _total("input_tokens")),
    ("output_tokens", "number", "Tokens of all responses.", _total("output_tokens")),
    ("cost_usd", "dollars", "Cost of the requests whose cost is known.", _total("cost_usd")),
    ("cost_per_request_usd", "dollars", "Mean cost of the requests whose cost is known.", _mean("cost_usd")),
    (
        "cost_known",
        "fraction",
        "Requests whose cost is known ÷ requests.",
        _share(lambda each: each.measure("cost_usd").count),
    ),
    ("concepts_per_answer", "number", "Mean number of concepts in an answer.", _mean("concepts")),
    ("relationships_per_answer", "number", "The same for relationships.", _mean("relationships")),
    ("mean_confidence", "number", "Mean confidence over all concepts.", _mean(cells.CONFIDENCE)),
    ("feedback_points", "number", "Mean of people's feedback, from 1 to 5.", _mean(cells.POINTS)),
    (
        "feedback_count",
        "number",
        "Pieces of feedback.",
        lambda each: float(each.measure(cells.POINTS).count),
    ),
)
FIGURES: Mapping[str, Figure] = {name: Figure(unit, about, of) for name, unit, about, of in _FIGURES}
"""Every figure by name: its unit, what it is, and how it is made."""


def figures_of(
    store: EventStore,
    suite: str,
    start: datetime.datetime,
    end: datetime.datetime,
    closes_after: int,
    by: Sequence[Group] = (),
) -> list[Figures]:
    """The figures of whole hours from `start` up to and without `end`, in groups that have events."""
    import pyarrow as pa
    import pyarrow.compute as pc

    days = [day for day in store.days(suite) if start.date() <= day <= end.date()]
    of_days = cells.cells_of(store, suite, days, closes_after)
    table = pa.concat_tables([each.replace_schema_metadata(None) for each in (cells.empty_cells(), *of_days)])
    naive = [
        pa.scalar(each.astimezone(datetime.UTC).replace(tzinfo=None), pa.timestamp("us"))
        for each in (start, end)
    ]
    table = table.filter(pc.and_(pc.greater_equal(table["hour"], naive[0]), pc.less(table["hour"], naive[1])))
    return list(_grouped(suite, table, start, end, by))


def _grouped(
    suite: str, table: pa.Table, start: datetime.datetime, end: datetime.datetime, by: Sequence[Group]
) -> Iterator[Figures]:
    import pyarrow.compute as pc

    time = next((each for each in by if each in ("hour", "day", "week")), None)
    if time in ("day", "week"):
        floored = pc.floor_temporal(table["hour"], unit=time)
        table = table.set_column(table.column_names.index("hour"), "hour", floored)
    keys = [*(["hour"] if time else []), *(each for each in ("version", "model") if each in by)]
    # Most cells are buckets: they are taken apart as plain numbers.
    hour = table.column_names.index("hour")
    table = table.set_column(hour, "hour", table["hour"].cast("int64"))
    spread = table.filter(pc.is_valid(table["bucket"]))
    counted = spread.group_by([*keys, "measure", "bucket"]).aggregate([("count", "sum")])
    buckets: dict[tuple[Any, ...], dict[int, int]] = {}
    for *of, bucket, count in zip(*(column.to_pylist() for column in counted.columns), strict=True):
        buckets.setdefault(tuple(of), {})[bucket] = count
    summed = table.group_by([*keys, "measure", "label"]).aggregate(
        [("count", "sum"), ("total", "sum"), ("squares", "sum")]
    )
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in summed.to_pylist():
        key = tuple(row[name] for name in keys)
        groups.setdefault(key, []).append({**row, "buckets": buckets.get((*key, row["measure"]), {})})
    for key in sorted(groups, key=lambda each: tuple((part is not None, part) for part in each)):
        named = dict(zip(keys, key, strict=True))
        first, last = start, end
        if time:
            first = EPOCH + datetime.timedelta(microseconds=named.pop("hour"))
            last = first + {"hour": HOUR, "day": DAY, "week": 7 * DAY}[time]
            first, last = max(first, start), min(last, end)
        yield _of_rows(suite, first, last, groups[key], **named)


def _of_rows(
    suite: str,
    start: datetime.datetime,
    end: datetime.datetime,
    rows: Sequence[Mapping[str, Any]],
    **named: Any,
) -> Figures:
    plain: dict[str, int] = {}
    errors: dict[str, int] = {}
    measures: dict[str, Spread] = {}
    for row in rows:
        name = row["measure"]
        if name == cells.ERRORS:
            errors[row["label"]] = row["count_sum"]
        elif name in (cells.REQUESTS, cells.ESTIMATED, cells.SIMULATED):
            plain[name] = row["count_sum"]
        else:
            total = float(row["total_sum"])
            measures[name] = Spread(row["count_sum"], total, row["squares_sum"], row["buckets"])
    return Figures(
        suite,
        start,
        end,
        plain.get(cells.REQUESTS, 0),
        dict(sorted(errors.items())),
        dict(sorted(measures.items())),
        cost_estimated=plain.get(cells.ESTIMATED, 0),
        simulated=plain.get(cells.SIMULATED, 0),
        **named,
    )
