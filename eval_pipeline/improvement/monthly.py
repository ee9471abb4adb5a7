"""What a month of production suggests (8.2, 8.4): cases, canaries, and which measures users care about."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from eval_pipeline.improvement.drafting import can_be_drafted
from eval_pipeline.improvement.measures import failing_measures
from eval_pipeline.improvement.ratings import ratings_of
from eval_pipeline.improvement.requests import DAY, feedback_on, last_day
from eval_pipeline.improvement.suggesting import Outcome, suggest
from eval_pipeline.monitoring import EventStore, Production, every_measure, figures_of, measure_day
from eval_pipeline.project import Project
from eval_pipeline.statistics.correlation import Correlation, spearman
from eval_pipeline.store import History, database_url
from eval_pipeline.suite import Suite, all_metrics
from eval_pipeline.suite.production import Better

DAYS = 30
RATED = {True: 5.0, False: 1.0}
"""A ruling as points: what raters find acceptable is worth what a thumb up is."""


class Satisfied(NamedTuple):
    """How far a measure or a metric goes together with what people say."""

    name: str
    better: Better
    correlation: Correlation | None
    """None where there are too few pairs, or nothing varies."""
    pairs: int
    weight: float | None = None
    """The share of a score that it would have if satisfaction alone decided; nobody applies it."""

    @property
    def helps(self) -> float:
        """How much a better value goes with content people; nothing where that may be chance."""
        if self.correlation is None or not self.correlation.clear:
            return 0.0
        return max(0.0, -self.correlation.value if self.better == "lower" else self.correlation.value)


class Month(NamedTuple):
    """What a month suggests."""

    suite: Suite
    start: datetime.datetime
    end: datetime.datetime
    outcome: Outcome | None
    """None where no case can be drafted."""
    by_answer: Sequence[Satisfied]
    """Measures of sampled answers against what people said of the same answers."""
    by_version: Sequence[Satisfied]
    """Metrics of prompt versions against the mean feedback of their answers."""
    simulated: bool


def month_of(project: Project, suite: Suite, production: Production, end: datetime.datetime) -> Month:
    """The thirty days before a moment. Nothing is written, and no weight is changed."""
    start = end - DAYS * DAY
    ratings = ratings_of(project, suite.name)
    outcome = None
    if can_be_drafted(suite, project.golden(suite.name)):
        measures = failing_measures(project, suite, production)
        closes = production.closes_after_days
        outcome = suggest(project, suite, start, end, closes, rulings=ratings.rulings, measures=measures)
    with EventStore.of(project) as store:
        given = feedback_on(store, suite.name, start, end, production.closes_after_days)
        days = [day for day in store.days(suite.name) if start.date() <= day <= last_day(end)]
        rows = [
            row
            for day in days
            for row in measure_day(project, store, suite, day, production).table.to_pylist()
        ]
        versions = figures_of(store, suite.name, start, end, production.closes_after_days, ["version"])
    satisfied = {request: sum(each) / len(each) for request, each in given.points.items()}
    satisfied |= {
        request: RATED[fine] for request, fine in ratings.acceptable.items() if request not in satisfied
    }
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        values[row["measure"]][row["request_id"]] = row["part"] / row["whole"]
    by_answer = [
        _satisfied(name, measure.better, values.get(name, {}), satisfied)
        for name, measure in every_measure(suite).items()
    ]
    liked = {
        each.version: points
        for each in versions
        if each.version and (points := each.value("feedback_points")) is not None
    }
    return Month(
        suite,
        start,
        end,
        outcome,
        reweighted(by_answer),
        reweighted(_of_versions(project, suite, liked)),
        any(each.simulated for each in versions),
    )


def _satisfied(
    name: str, better: Better, values: Mapping[str, float], points: Mapping[str, float]
) -> Satisfied:
    both = sorted(values.keys() & points.keys())
    found = spearman([values[each] for each in both], [points[each] for each in both])
    return Satisfied(name, better, found, len(both))


def _of_versions(project: Project, suite: Suite, liked: Mapping[str, float]) -> list[Satisfied]:
    """Each golden metric by its latest value of every version that users gave feedback on."""
    with History(database_url(project)) as history:
        points = history.points(suite.name)
    latest = {point.version: point for point in points if point.version in liked and not point.incomplete}
    found = []
    for metric in all_metrics(suite):
        values = {version: point.metrics.get(metric.name) for version, point in latest.items()}
        known = {version: value for version, value in values.items() if value is not None}
        found.append(_satisfied(metric.name, metric.direction, known, liked))
    return found


def reweighted(found: Sequence[Satisfied]) -> list[Satisfied]:
    """Weights in proportion to what clearly goes with content people; none where nothing does."""
    whole = sum(each.helps for each in found)
    return [each._replace(weight=each.helps / whole if whole else None) for each in found]
