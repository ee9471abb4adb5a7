"""What requests are told apart by when some are drawn, and with which chance each is.

A request is drawn when the hash of a salt and its id is below the rate of its stratum. The rates of a week
follow from the last week that was closed before it began, are stored, and never change.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec
from pydantic import Field

from eval_pipeline.files.models import Model
from eval_pipeline.monitoring.staging import midnight
from eval_pipeline.store import Database, Stored, text_type

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import Table

WEEK = datetime.timedelta(days=7)
DAY = datetime.timedelta(days=1)
OTHER = "other topics"
NONE = "none"
NEW = 4.0
"""Strata that the week before did not have are drawn from so much more often than usual."""
_HASHED = 8
"""Bytes of a hash that make a number between 0 and 1."""

Rate = Annotated[float, Field(gt=0, le=1)]


class Sampling(Model):
    """How many requests are drawn to be looked at closely."""

    rate: Rate = 0.05
    """The share of requests that is drawn where nothing else asks for more."""
    at_least: Annotated[int, Field(ge=1, le=10_000)] = 30
    """So many of each stratum are drawn in a week, if it has them."""
    most_a_day: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    """The rate is lowered where it would draw more than so many a day."""
    disliked_rate: Rate = 0.5
    """Requests that a person disliked are drawn with at least this chance."""
    disliked_below: Annotated[float, Field(gt=1, le=5)] = 3.0
    """Points of feedback below which a person disliked an answer."""
    most_topics: Annotated[int, Field(ge=0, le=200)] = 20
    """The most frequent topics are strata; the others together are one."""
    window_days: Annotated[int, Field(ge=1, le=366)] = 7
    """Quality is estimated over so many days together, the last one included."""


class Stratum(NamedTuple):
    """What requests of one kind share."""

    outcome: str
    topic: str
    version: str

    @property
    def name(self) -> str:
        """It in one text."""
        return msgspec.json.encode(self).decode()


class Rates(msgspec.Struct, frozen=True):
    """With which chance requests of a week are drawn."""

    base: float
    new: float
    """For strata that were not there when the rates were fixed."""
    strata: dict[str, float]
    """By the name of the stratum."""
    topics: tuple[str, ...]
    """The topics that are strata of their own."""
    fixed_from: str
    """The first day of the week that they follow from; blank where there was none."""

    def stratum(self, error: str | None, topic: str | None, version: str | None) -> Stratum:
        """The stratum of a request."""
        named = NONE if topic is None else topic if topic in self.topics else OTHER
        return Stratum("answer" if error is None else "error", named, version or NONE)

    def rate(self, stratum: Stratum) -> float:
        """The chance of a stratum's requests."""
        return self.strata.get(stratum.name, self.new)


def first_rates(sampling: Sampling) -> Rates:
    """The rates of a suite that has no closed week yet: no stratum is known."""
    return Rates(sampling.rate, min(1.0, NEW * sampling.rate), {}, (), "")


def rates_from(
    week: datetime.date, counts: Mapping[tuple[str | None, str | None, str | None], int], sampling: Sampling
) -> Rates:
    """The rates that follow from how many requests a week had, by error, topic and version."""
    total = sum(counts.values())
    if not total:
        return first_rates(sampling)
    by_topic: dict[str, int] = {}
    for (_, topic, _), count in counts.items():
        if topic is not None:
            by_topic[topic] = by_topic.get(topic, 0) + count
    topics = sorted(by_topic, key=lambda topic: (-by_topic[topic], topic))[: sampling.most_topics]
    base = min(sampling.rate, sampling.most_a_day * 7 / total)
    shape = Rates(base, min(1.0, NEW * base), {}, tuple(topics), week.isoformat())
    sizes: dict[str, int] = {}
    for (error, topic, version), count in counts.items():
        name = shape.stratum(error, topic, version).name
        sizes[name] = sizes.get(name, 0) + count
    rates = {name: min(1.0, max(base, sampling.at_least / size)) for name, size in sorted(sizes.items())}
    return msgspec.structs.replace(shape, strata=rates)


def week_of(day: datetime.date) -> datetime.date:
    """The Monday of a day's week."""
    return day - DAY * day.weekday()


def closed_week_before(day: datetime.date, closes_after: int) -> datetime.date:
    """The Monday of the last week whose days were all closed before the week of a day began."""
    return week_of(week_of(day) - WEEK - DAY * closes_after)


def closes_at(day: datetime.date, closes_after: int) -> datetime.datetime:
    """When feedback no longer changes what is drawn of a day."""
    return midnight(day + DAY) + DAY * closes_after


def draws(salt: str, ids: Sequence[str]) -> NDArray[np.float64]:
    """A number from 0 up to 1 for each id: the same for an id, whatever else there is."""
    import numpy as np

    keyed = hashlib.blake2b(salt.encode(), digest_size=32).digest()
    parts = [hashlib.blake2b(each.encode(), digest_size=_HASHED, key=keyed).digest() for each in ids]
    whole = np.frombuffer(b"".join(parts), dtype=">u8")
    return np.asarray((whole >> np.uint64(11)).astype(np.float64) / 2.0**53, dtype=np.float64)


class KeptRates(Stored):
    """The rates of every suite and week. The first that are proposed count, and no others ever."""

    def __init__(self, url: str) -> None:
        self._table = rates_table()
        super().__init__(Database(url, self._table.metadata))

    def get(self, suite: str, week: datetime.date) -> Rates | None:
        """The rates of a week, where they are fixed."""
        table = self._table
        chosen = (table.c.suite == suite) & (table.c.week == week.isoformat())
        with self._database.reading() as connection:
            row = connection.execute(table.select().where(chosen)).first()
        return msgspec.json.decode(row.rates, type=Rates) if row else None

    def fix(self, suite: str, week: datetime.date, rates: Rates) -> Rates:
        """Fix the rates of a week; those that somebody fixed before are returned instead."""
        encoded = msgspec.json.encode(rates, order="sorted").decode()
        insert = self._database.insert(self._table).values(suite=suite, week=week.isoformat(), rates=encoded)
        with self._database.writing("production_rates") as connection:
            connection.execute(insert.on_conflict_do_nothing(index_elements=["suite", "week"]))
        return self.get(suite, week) or rates


@functools.cache
def rates_table() -> Table:
    """The table of rates, described for SQLAlchemy."""
    from sqlalchemy import Column, MetaData, Table

    text = text_type()
    return Table(
        "production_rates",
        MetaData(),
        Column("suite", text, primary_key=True),
        Column("week", text, primary_key=True),
        Column("rates", text, nullable=False),
    )
