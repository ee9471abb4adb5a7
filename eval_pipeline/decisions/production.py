"""What production says to those who deploy: alerts become incidents, and critical ones pause deployments."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence

from eval_pipeline.decisions.incidents import PRODUCTION, Finding, Incident, Incidents, Look
from eval_pipeline.files import content_hash
from eval_pipeline.monitoring import (
    Alert,
    EventStore,
    Production,
    Watched,
    alerts_for,
    figures_of,
    measured_days,
    quality_of,
    reads_figures,
    watch_figures,
    watch_quality,
)
from eval_pipeline.project import Project
from eval_pipeline.store import database_file, database_url, is_database_shared
from eval_pipeline.suite import Suite

HOUR = datetime.timedelta(hours=1)
DAY = datetime.timedelta(days=1)
UNKNOWN = "production state unknown"
"""What the gate says where it cannot see what users get."""


def is_production_known(project: Project) -> bool:
    """Whether this process sees the database that production writes to: one that is shared, or has events."""
    if is_database_shared():
        return True
    file = database_file(database_url(project))
    if file is None or not file.exists():
        return False
    with EventStore.of(project) as store:
        return bool(store.suites())


def open_incidents(project: Project, suite: str) -> list[Incident] | None:
    """The open incidents of what users of a suite get; None where nobody can know."""
    if not is_production_known(project):
        return None
    with Incidents(database_url(project)) as incidents:
        return incidents.open_in_production(suite)


def look_at_production(
    project: Project,
    suites: Sequence[Suite],
    production: Production,
    now: datetime.datetime | None = None,
) -> bool:
    """Look at every hour and day of production that nobody looked at yet; whether an incident changed.

    Hours are looked at in their order, and what is found is dated by them: a week of history that arrives at
    once tells of the same incidents as one that was watched. Of the last hour more may arrive: it is looked
    at again when it has. What is older than that arrives too late to open or close an incident.
    """
    moment, changed = now or datetime.datetime.now(datetime.UTC), False
    with EventStore.of(project) as store:
        known = {suite.name: suite for suite in suites}
        for name in store.suites():
            if name in known:
                for look, watched in _looks(project, store, known[name], production, moment):
                    changed |= _take_in(project, name, look, watched)
    return changed


def watched_now(project: Project, suite: Suite, production: Production) -> list[Watched]:
    """The alerts of a suite at the last hour that has events; nothing where it has none."""
    alerts = alerts_for(production.of(suite.name).alerts)
    with EventStore.of(project) as store:
        days = store.days(suite.name)
        ends = list(_hours(store, suite.name, days[-1])) if days else []
        if not ends:
            return []
        watched = {each.alert.name: each for each in _watch_hour(store, suite, production, alerts, ends[-1])}
    for alert in alerts:
        if not reads_figures(alert):
            first = days[-1] + DAY - alert.window
            quality = quality_of(suite, measured_days(project, suite.name, first, days[-1]))
            watched[alert.name] = watch_quality(alert, quality, ends[-1])
    return [watched[alert.name] for alert in alerts]


def _watch_hour(
    store: EventStore, suite: Suite, production: Production, alerts: Sequence[Alert], end: datetime.datetime
) -> list[Watched]:
    """The alerts on figures of windows that end with an hour."""
    on_figures = [alert for alert in alerts if reads_figures(alert)]
    closes = production.closes_after_days
    figures = {
        window: next(iter(figures_of(store, suite.name, end - window, end, closes)), None)
        for window in {alert.window for alert in on_figures}
    }
    return [watch_figures(alert, figures[alert.window], end) for alert in on_figures]


def _looks(
    project: Project, store: EventStore, suite: Suite, production: Production, now: datetime.datetime
) -> Iterator[tuple[Look, list[Watched]]]:
    """What every look sees that nobody had before: hours first, then days of samples."""
    alerts = alerts_for(production.of(suite.name).alerts)
    days = store.days(suite.name)
    ends = [end for day in days for end in _hours(store, suite.name, day) if end <= now + HOUR]
    content = _content(store, suite.name, ends[-1] - HOUR) if ends else ""
    looks = _at([(Look(f"{PRODUCTION} {suite.name}", f"{end:%Y-%m-%dT%H}"), end) for end in ends], content)
    for look, end in _fresh(project, looks):
        yield look, _watch_hour(store, suite, production, alerts, end)
    for alert in alerts:
        if not reads_figures(alert):
            yield from _quality_looks(project, suite, alert, days)


def _quality_looks(
    project: Project, suite: Suite, alert: Alert, days: Sequence[datetime.date]
) -> Iterator[tuple[Look, list[Watched]]]:
    """A look for every day whose sample was measured."""
    measured = {each.info.day: each for each in measured_days(project, suite.name, days[0], days[-1])}
    ends = [datetime.datetime.combine(day + DAY, datetime.time(), datetime.UTC) for day in days]
    looks = [
        (Look(f"{PRODUCTION} {suite.name} {alert.name}", str(day)), end)
        for day, end in zip(days, ends, strict=True)
        if str(day) in measured
    ]
    content = content_hash([each.info.made_from for each in measured.values()])[:12]
    for look, end in _fresh(project, _at(looks, content)):
        first = str((end - alert.window).date())
        window = [each for day, each in measured.items() if first <= day < str(end.date())]
        yield look, [watch_quality(alert, quality_of(suite, window), end)]


Looks = Sequence[tuple[Look, datetime.datetime]]
"""Looks in order of time, each with the end of what it is about."""


def _at(looks: Looks, content: str) -> Looks:
    """Looks whose last one counts anew whenever its content changes."""
    return [*looks[:-1], *((look._replace(content=content), end) for look, end in looks[-1:])]


def _fresh(project: Project, looks: Looks) -> Looks:
    with Incidents(database_url(project)) as incidents:
        fresh = incidents.unknown([look.name for look, _ in looks])
    return [each for each in looks if each[0].name in fresh]


def _hours(store: EventStore, suite: str, day: datetime.date) -> Iterator[datetime.datetime]:
    """The ends of the hours of a day that have events."""
    start = datetime.datetime.combine(day, datetime.time(), datetime.UTC)
    covered = 0
    for segment in store.ledger.segments("events", suite, str(day), str(day)):
        covered |= segment.hours
    yield from (start + HOUR * (hour + 1) for hour in range(24) if covered >> hour & 1)


def _content(store: EventStore, suite: str, hour: datetime.datetime) -> str:
    """The hash of what the day of an hour is made from."""
    day = str(hour.date())
    return content_hash([each.path for each in store.ledger.segments("events", suite, day, day)])[:12]


def _take_in(project: Project, suite: str, look: Look, watched: Sequence[Watched]) -> bool:
    """Let alerts that crossed their limits open incidents, and those that keep them again close theirs."""
    found = {
        f"{suite} {PRODUCTION} {each.alert.name}": (
            [Finding(each.alert.name, each.alert.severity, each.text)] if each.state == "crossed" else []
        )
        for each in watched
        if each.state != "unsure"
    }
    at = max((each.at for each in watched), default=datetime.datetime.now(datetime.UTC))
    with Incidents(database_url(project), clock=at.timestamp) as incidents:
        return incidents.look_at_all(look, found)
