"""The quality of a suite's answers in production, as its samples tell it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from eval_pipeline.files import content_hash, replacing
from eval_pipeline.monitoring.keeping import EventStore
from eval_pipeline.monitoring.measuring import ACCEPTED, Measured, Measuring, canaries_of, every_measure
from eval_pipeline.monitoring.sampling import Sample, rows_of, sample_of
from eval_pipeline.monitoring.settings import Production, Target
from eval_pipeline.numbers import Unit, limit, number
from eval_pipeline.project import Project
from eval_pipeline.statistics.sampled import LEAST, sampled_rate
from eval_pipeline.suite import Suite
from eval_pipeline.suite.production import Better

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "quality"
_ABOUT = b"eval_pipeline_quality"
_KEYS = ("request_id", "stratum", "version", "model", "cluster", "experiment")


class MeasuredInfo(msgspec.Struct, frozen=True):
    """What measures of a day were made from."""

    day: str
    made_from: str
    closed: bool
    requests: int
    drawn: int
    measured: int
    """Of those that were drawn, the ones with an answer that was recorded."""
    simulated: int = 0


class MeasuredDay(msgspec.Struct, frozen=True):
    """The measures of a day's sample: a row for each request and measure. It holds no texts."""

    info: MeasuredInfo
    table: Any


class Estimate(msgspec.Struct, frozen=True):
    """A measure of all answers, as far as a sample tells it; numbers are null where it tells nothing."""

    measure: str
    unit: Unit
    better: Better
    value: float | None
    low: float | None
    high: float | None
    sampled: int
    effective: float
    """So many answers of equal weight would say as much."""
    variance: float | None = None
    strata: dict[str, float] = {}
    """What each stratum adds to the variance."""

    @property
    def enough(self) -> bool:
        """Whether it rests on enough answers to conclude anything."""
        return self.value is not None and self.effective >= LEAST

    @property
    def text(self) -> str:
        """Value, interval, and on how much it rests."""
        if self.value is None:
            return "nothing was measured"
        span = f"{number(self.low, self.unit)} to {number(self.high, self.unit)}"
        return f"{number(self.value, self.unit)} ({span}), effective n {self.effective:.0f}"

    def meets(self, target: Target) -> bool | None:
        """Whether it is what it should be; None below 30 answers."""
        if self.value is None or not self.enough:
            return None
        above, below = target.above, target.below
        return (above is None or self.value > above) and (below is None or self.value < below)

    def wanted(self, target: Target) -> str:
        """The target in words."""
        ends = ((">", target.above), ("<", target.below))
        return ", ".join(f"{sign} {limit(end, self.unit)}" for sign, end in ends if end is not None)

    def verdict(self, target: Target) -> str:
        """`met` or `missed`, `surely` where the whole interval is; `no verdict` below 30 answers."""
        met = self.meets(target)
        if met is None:
            return f"no verdict: effective n is {self.effective:.0f}, below {LEAST}"
        ends = [
            msgspec.structs.replace(self, value=end).meets(target)
            for end in (self.low, self.high)
            if end is not None
        ]
        word = "met" if met else "missed"
        return f"surely {word}" if all(end is met for end in ends) else word


class Quality(msgspec.Struct, frozen=True):
    """What samples of some days say."""

    suite: str
    first: str
    last: str
    closed: bool
    """Whether all days are closed; until then everything is provisional."""
    requests: int
    drawn: int
    measured: int
    simulated: int
    estimates: dict[str, Estimate]
    version: str | None = None

    @property
    def state(self) -> str:
        """`closed`, or `provisional` while feedback may still add to a sample."""
        return "closed" if self.closed else "provisional"


def measure_day(
    project: Project,
    store: EventStore,
    suite: Suite,
    day: datetime.date,
    production: Production,
    now: datetime.datetime | None = None,
) -> MeasuredDay:
    """The measures of a day's sample, brought up to date.

    Texts have to go some day. What was measured of them stays, beside what later ones show.
    """
    sample = sample_of(project, store, suite.name, day, production, now)
    measuring = Measuring(suite, canaries_of(project, suite))
    made_from = content_hash([sample.info.made_from, measuring.identity])
    path = measured_file(project, suite.name, day)
    known = read_measured(path)
    if known is not None and known.info.made_from == made_from:
        return known
    measured = _measure(sample, measuring, made_from, _by_request(known) if known is not None else {})
    import pyarrow.parquet as pq

    with replacing(path) as temporary:
        about = {_ABOUT: msgspec.json.encode(measured.info)}
        pq.write_table(measured.table.replace_schema_metadata(about), temporary, compression="zstd")
    return measured


def measured_file(project: Project, suite: str, day: datetime.date) -> Path:
    """Where the measures of a day lie."""
    return project.state / FOLDER / suite / f"{day}.parquet"


def read_measured(path: Path) -> MeasuredDay | None:
    """Measures that were made before."""
    import pyarrow.parquet as pq

    if not path.is_file():
        return None
    table = pq.read_table(path)
    try:
        info = msgspec.json.decode((table.schema.metadata or {})[_ABOUT], type=MeasuredInfo)
    except (KeyError, msgspec.MsgspecError):
        return None
    return MeasuredDay(info, table.replace_schema_metadata(None))


def measured_days(
    project: Project, suite: str, first: datetime.date, last: datetime.date
) -> list[MeasuredDay]:
    """The measures of some days, as far as they were made."""
    days = (first + datetime.timedelta(days=each) for each in range((last - first).days + 1))
    found = (read_measured(measured_file(project, suite, day)) for day in days)
    return [each for each in found if each is not None]


def _by_request(day: MeasuredDay) -> dict[str, list[Measured]]:
    """What was measured of each answer."""
    found: dict[str, list[Measured]] = {}
    for row in day.table.select(["request_id", *Measured._fields]).to_pylist():
        found.setdefault(row.pop("request_id"), []).append(Measured(**row))
    return found


def _measure(
    sample: Sample, measuring: Measuring, made_from: str, before: dict[str, list[Measured]]
) -> MeasuredDay:
    """Measures of what was drawn, those from before where an answer has no text any more."""
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    drawn = measured = 0
    for event in rows_of(sample):
        drawn += 1
        gone = event["error"] is None and event["output"] is None
        own = before.pop(event["request_id"], []) if gone else list(measuring.measure(event))
        measured += bool(own)
        keys = {name: event.get(name) for name in _KEYS}
        keys["cluster"] = event["user"] or event["session"] or event["request_id"]
        rows += [{**keys, "chance": event["chance"], **each._asdict()} for each in own]
    text, number_ = pa.string(), pa.float64()
    schema = pa.schema(
        [*((name, text) for name in (*_KEYS, "measure")), *((name, number_) for name in _NUMBERS)]
    )
    info = sample.info
    about = MeasuredInfo(info.day, made_from, info.closed, info.requests, drawn, measured, info.simulated)
    return MeasuredDay(about, pa.Table.from_pylist(rows, schema))


_NUMBERS = ("chance", "part", "whole")


def quality_of(
    suite: Suite,
    days: Sequence[MeasuredDay],
    version: str | None = None,
    ratings: Mapping[str, bool] | None = None,
) -> Quality | None:
    """What some days' samples say of all answers, or of those of a version; None without any day.

    `ratings` are people's: request → whether the answer is acceptable.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not days:
        return None
    table = pa.concat_tables([each.table for each in days])
    if version is not None:
        table = table.filter(pc.equal(table["version"], version))
    infos = [each.info for each in days]
    estimates = {
        name: _estimate(name, measure.unit, measure.better, _of(table, name))
        for name, measure in every_measure(suite).items()
    }
    if ratings:
        estimates[ACCEPTED] = _estimate(ACCEPTED, "fraction", "higher", _rated(table, ratings))
    return Quality(
        suite.name,
        min(each.day for each in infos),
        max(each.day for each in infos),
        all(each.closed for each in infos),
        sum(each.requests for each in infos),
        sum(each.drawn for each in infos),
        sum(each.measured for each in infos),
        sum(each.simulated for each in infos),
        estimates,
        version,
    )


def _of(table: pa.Table, measure: str) -> pa.Table:
    import pyarrow.compute as pc

    return table.filter(pc.equal(table["measure"], measure))


def _rated(table: pa.Table, ratings: Mapping[str, bool]) -> pa.Table:
    """The rated answers; raters saw some of what was drawn, and the chance of that counts, too."""
    import pyarrow as pa

    rows = _of(table, "contract_valid").to_pylist()
    seen: dict[str, list[int]] = {}
    for row in rows:
        counts = seen.setdefault(row["stratum"], [0, 0])
        counts[0] += row["request_id"] in ratings
        counts[1] += 1
    rated = []
    for row in rows:
        if row["request_id"] in ratings:
            share = seen[row["stratum"]][0] / seen[row["stratum"]][1]
            part = float(ratings[row["request_id"]])
            rated.append({**row, "part": part, "whole": 1.0, "chance": row["chance"] * share})
    return pa.Table.from_pylist(rated, table.schema)


def _estimate(name: str, unit: Unit, better: Better, table: pa.Table) -> Estimate:
    rate = sampled_rate(
        table["part"].to_numpy(),
        table["whole"].to_numpy(),
        table["chance"].to_numpy(),
        table["stratum"].to_pylist(),
        fraction=unit == "fraction",
    )
    known = rate.sampled > 0
    return Estimate(
        name,
        unit,
        better,
        rate.value if known else None,
        rate.low if known else None,
        rate.high if known else None,
        rate.sampled,
        rate.effective,
        rate.variance if known else None,
        {stratum: share.variance for stratum, share in rate.strata.items()},
    )
