"""What users of a suite got lately: figures by hour and day, by version and model, and what samples say."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval_pipeline.improvement import ratings_of
from eval_pipeline.monitoring import (
    EventStore,
    Figures,
    Group,
    Production,
    Quality,
    SuiteProduction,
    figures_of,
    measured_days,
    quality_of,
)
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite

DAY = datetime.timedelta(days=1)
SHORT, LONG = 7, 28
"""So many days are told by hour, and so many by day."""
MOST_GROUPS = 4
"""So many versions and models are followed over time, those with the most requests."""

Key = tuple[str | None, str | None]
"""A version and a model."""


@dataclass(frozen=True)
class Timeline:
    """Figures over time: of all requests, and of those of some versions and models."""

    start: datetime.datetime
    end: datetime.datetime
    step: datetime.timedelta
    whole: Figures
    """All of it together."""
    every: tuple[Figures, ...]
    """Of each step that has events."""
    groups: Mapping[Key, tuple[Figures, ...]]


@dataclass(frozen=True)
class Sampled:
    """What samples of some days say, together and day by day; by version, and None of all."""

    together: Quality
    by_day: Mapping[str | None, tuple[Quality, ...]]


@dataclass(frozen=True)
class Served:
    """What users of a suite got lately."""

    suite: Suite
    settings: SuiteProduction
    latest: Figures
    """Of the last hour that has events."""
    hours: Timeline
    days: Timeline
    groups: tuple[Figures, ...]
    """By version and model over the days that are told by hour, those with the most requests first."""
    sampled: Sampled | None
    """None where no day was measured."""


def served_by(project: Project, suites: Sequence[Suite], production: Production) -> tuple[Served, ...]:
    """What users got of every suite that has events. No sample is drawn for it."""
    with EventStore.of(project) as store:
        have = set(store.suites())
        return tuple(_served(project, store, each, production) for each in suites if each.name in have)


def _served(project: Project, store: EventStore, suite: Suite, production: Production) -> Served:
    last = store.days(suite.name)[-1]
    end = datetime.datetime.combine(last, datetime.time(), datetime.UTC) + DAY
    closes = production.closes_after_days
    groups = figures_of(store, suite.name, end - SHORT * DAY, end, closes, ("version", "model"))
    groups.sort(key=lambda each: (-each.requests, each.version or "", each.model or ""))
    followed = [(each.version, each.model) for each in groups[:MOST_GROUPS]] if len(groups) > 1 else []
    hours = _timeline(store, suite.name, end, SHORT, "hour", closes, followed)
    return Served(
        suite,
        production.of(suite.name),
        hours.every[-1],
        hours,
        _timeline(store, suite.name, end, LONG, "day", closes, followed),
        tuple(groups),
        _sampled(project, suite, last, [version for version, _ in followed]),
    )


def _timeline(
    store: EventStore,
    suite: str,
    end: datetime.datetime,
    days: int,
    step: Group,
    closes: int,
    followed: Sequence[Key],
) -> Timeline:
    start = end - days * DAY

    def figures(*by: Group) -> list[Figures]:
        return figures_of(store, suite, start, end, closes, by)

    groups: dict[Key, list[Figures]] = {key: [] for key in followed}
    for each in figures(step, "version", "model") if followed else ():
        if (each.version, each.model) in groups:
            groups[each.version, each.model].append(each)
    return Timeline(
        start,
        end,
        DAY if step == "day" else DAY / 24,
        figures()[0],
        tuple(figures(step)),
        {key: tuple(of) for key, of in groups.items()},
    )


def _sampled(
    project: Project, suite: Suite, last: datetime.date, versions: Sequence[str | None]
) -> Sampled | None:
    measured = measured_days(project, suite.name, last - (LONG - 1) * DAY, last)
    ratings = ratings_of(project, suite.name).acceptable
    recent = [day for day in measured if day.info.day > str(last - SHORT * DAY)]
    together = quality_of(suite, recent, None, ratings)
    if together is None:
        return None
    known = list(dict.fromkeys(version for version in versions if version is not None))
    return Sampled(
        together,
        {
            version: tuple(filter(None, (quality_of(suite, [day], version, ratings) for day in measured)))
            for version in (None, *(known if len(known) > 1 else ()))
        },
    )
