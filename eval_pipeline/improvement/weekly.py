"""What a week in production brought (8.1): figures, feedback, errors, and the answers that did worst."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from eval_pipeline.improvement.ratings import queues_of
from eval_pipeline.improvement.requests import DAY, LOW_POINTS, Request, last_day, requests_of
from eval_pipeline.improvement.satisfaction import Satisfaction, rated_accuracy
from eval_pipeline.improvement.suggestions import files_of
from eval_pipeline.monitoring import (
    FIGURES,
    Aim,
    EventStore,
    Figures,
    MeasuredDay,
    Production,
    Quality,
    Watched,
    aims_of,
    alerts_for,
    every_measure,
    figures_of,
    measure_day,
    quality_of,
    watch_figures,
)
from eval_pipeline.numbers import counted, number
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite

HOUR = datetime.timedelta(hours=1)
MOST = 5
"""Rows of a table on one page."""
SHOWN = (
    "requests", "error_rate", "latency_p50_ms", "latency_p95_ms", "cost_per_request_usd", "feedback_points",
    "concepts_per_answer", "relationships_per_answer", "mean_confidence",
)  # fmt: skip
WORSE = {
    "error_rate": 1,
    "latency_p95_ms": 1,
    "cost_per_request_usd": 1,
    "feedback_points": -1,
    "mean_confidence": -1,
}
"""Figures of which more (1) or less (−1) is worse."""
NOTABLE = 0.2
"""A figure that got worse by such a share of itself is to be looked at."""


class Lowest(NamedTuple):
    """A sampled answer that did badly."""

    request: str
    version: str
    score: float
    measures: Mapping[str, float]
    text: str = ""


class Week(NamedTuple):
    """What a week brought."""

    suite: Suite
    start: datetime.datetime
    end: datetime.datetime
    figures: Figures | None
    before: Figures | None
    aims: Sequence[Aim]
    crossed: Sequence[Watched]
    """The hours in which the limit of an alert was crossed, in order of time."""
    quality: Quality | None
    lowest: Sequence[Lowest]
    disliked: Mapping[str, int]
    """Requests that their users disliked, by topic."""
    comments: Sequence[str]
    satisfaction: Satisfaction
    suggestions: int
    waiting: int
    """Queues that nobody has rated."""

    @property
    def simulated(self) -> bool:
        """Whether any event comes from the simulator."""
        return bool(self.figures and self.figures.simulated)

    @property
    def to_look_at(self) -> list[str]:
        """What deserves a person's time, the most pressing first."""
        return [*_look_at_figures(self), *_look_at_answers(self)]


def week_of(project: Project, suite: Suite, production: Production, end: datetime.datetime) -> Week:
    """The seven days before a moment."""
    start = end - 7 * DAY
    with EventStore.of(project) as store:
        now, then = (
            next(iter(figures_of(store, suite.name, first, last, production.closes_after_days)), None)
            for first, last in ((start, end), (start - 7 * DAY, start))
        )
        days = [day for day in store.days(suite.name) if start.date() <= day <= last_day(end)]
        measured = [measure_day(project, store, suite, day, production) for day in days]
        crossed = list(_crossed(store, suite, production, start, end))
        disliked: Counter[str] = Counter()
        comments: list[str] = []
        lowest = {each.request: each for each in lowest_answers(suite, measured)}
        for request in requests_of(store, suite.name, start, end, production.closes_after_days):
            if request.points is not None and request.points <= LOW_POINTS:
                disliked[request.topic or "no topic"] += 1
                comments += request.comments
            if request.id in lowest:
                lowest[request.id] = lowest[request.id]._replace(text=_beginning(request))
    satisfaction = rated_accuracy(project, suite, production, 7, end)
    rated = set(satisfaction.queues)
    return Week(
        suite,
        start,
        end,
        now,
        then,
        aims_of(now, production.of(suite.name).targets) if now else [],
        crossed,
        quality_of(suite, measured),
        list(lowest.values()),
        dict(sorted(disliked.items(), key=lambda each: (-each[1], each[0]))[:MOST]),
        list(dict.fromkeys(comments))[:MOST],
        satisfaction,
        len(files_of(project, suite.name)),
        sum(queue.queue not in rated for queue in queues_of(project, suite.name)),
    )


def _crossed(
    store: EventStore,
    suite: Suite,
    production: Production,
    start: datetime.datetime,
    end: datetime.datetime,
) -> Iterator[Watched]:
    """The hours of which an alert told; those with longer windows show in the week's own figures."""
    hourly = [each for each in alerts_for(production.of(suite.name).alerts) if each.window == HOUR]
    for figures in figures_of(store, suite.name, start, end, production.closes_after_days, ["hour"]):
        watched = (watch_figures(alert, figures, figures.end) for alert in hourly)
        yield from (each for each in watched if each.state == "crossed")


def lowest_answers(suite: Suite, days: Iterable[MeasuredDay], most: int = MOST) -> list[Lowest]:
    """The sampled answers whose measures are worst on average; shares alone count, better ones as 1."""
    known = every_measure(suite)
    by_request: dict[str, tuple[str, dict[str, float]]] = {}
    for day in days:
        for row in day.table.to_pylist():
            measure = known.get(row["measure"])
            if measure is None or measure.unit != "fraction" or measure.better == "neither":
                continue
            share = row["part"] / row["whole"]
            _, values = by_request.setdefault(row["request_id"], (row["version"] or "", {}))
            values[row["measure"]] = share if measure.better == "higher" else 1 - share
    scored = [
        Lowest(request, version, sum(values.values()) / len(values), values)
        for request, (version, values) in by_request.items()
    ]
    bad = sorted((each for each in scored if each.score < 1), key=lambda each: (each.score, each.request))
    return bad[:most]


def _beginning(request: Request) -> str:
    return " ".join((request.input or "").split())[:160]


def _look_at_figures(week: Week) -> Iterator[str]:
    hours: dict[str, list[Watched]] = {}
    for each in week.crossed:
        hours.setdefault(each.alert.name, []).append(each)
    for name, (first, *others) in hours.items():
        began = f"{first.at - HOUR:%Y-%m-%d %H:%M} UTC"
        yield f"{name} was beyond its limit for {counted(1 + len(others), 'hour')}, first from {began}."
    for aim in week.aims:
        if not aim.met:
            yield f"{aim.text}."
    if week.figures is None:
        yield "There were no events: see whether files still arrive (eval-pipeline events status)."
        return
    if week.before is None:
        return
    for name, way in WORSE.items():
        now, then = week.figures.value(name), week.before.value(name)
        if now is not None and then and way * (now - then) / abs(then) > NOTABLE:
            unit = FIGURES[name].unit
            yield f"{name} went from {number(then, unit)} to {number(now, unit)} within a week."


def _look_at_answers(week: Week) -> Iterator[str]:
    if week.disliked:
        topic, times = next(iter(week.disliked.items()))
        yield f"Users disliked {counted(times, 'answer')} on “{topic}”."
    if week.satisfaction.disagreements:
        yield f"Raters disagree on {counted(week.satisfaction.disagreements, 'answer')}."
    if week.lowest:
        yield f"The lowest sampled answers may be cases: eval-pipeline cases suggest {week.suite.name}."
    if week.suggestions:
        yield f"To be decided: {counted(week.suggestions, 'suggested case')} (eval-pipeline cases list)."
    if week.waiting:
        yield f"To be rated: {counted(week.waiting, 'queue')} of answers."
