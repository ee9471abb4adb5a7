"""Raters and users side by side: human-rated accuracy, the feedback score, and whether they agree (7.2)."""

from __future__ import annotations

import datetime

import msgspec

from eval_pipeline.improvement.ratings import rated_queues, ratings_of
from eval_pipeline.improvement.requests import HIGH_POINTS, LOW_POINTS, feedback_on, last_day, window
from eval_pipeline.metrics.agreement import cohen_kappa
from eval_pipeline.monitoring import ACCEPTED, EventStore, Production, measured_days, quality_of
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite


class Satisfaction(msgspec.Struct, frozen=True):
    """What people say of a suite's answers."""

    suite: str
    rated: int
    """Answers of these days with a ruling, whenever it was made."""
    acceptable: int
    unacceptable: int
    disagreements: int
    accuracy: float | None
    """Of all answers, as far as the sample tells: weighted by the chances of the sample."""
    low: float | None
    high: float | None
    effective: float
    kappa: float | None
    """How far raters agree beyond chance."""
    pairs: int
    feedback: float | None
    """The mean of users' points, from 1 to 5."""
    feedback_count: int
    with_users: float | None
    """How far raters and users agree beyond chance, on answers that both spoke of clearly."""
    with_users_pairs: int
    queues: list[str]
    """The queues that somebody rated, of any day."""

    @property
    def share(self) -> float | None:
        """Acceptable ones among the answers that were rated, unweighted."""
        return self.acceptable / self.rated if self.rated else None


def rated_accuracy(
    project: Project,
    suite: Suite,
    production: Production,
    days: int,
    end: datetime.datetime | None = None,
) -> Satisfaction:
    """What raters and users said of the answers of so many days."""
    start, last = window(days, end)
    with EventStore.of(project) as store:
        given = feedback_on(store, suite.name, start, last, production.closes_after_days)
        known = set(store.events(suite.name, start, last, ["request_id"])["request_id"].to_pylist())
    ratings = ratings_of(project, suite.name).on(known)
    rulings, acceptable = ratings.rulings, ratings.acceptable
    points = {request: sum(each) / len(each) for request, each in given.points.items()}
    both = [
        (acceptable[request], said >= HIGH_POINTS)
        for request, said in points.items()
        if request in acceptable and (said <= LOW_POINTS or said >= HIGH_POINTS)
    ]
    measured = measured_days(project, suite.name, start.date(), last_day(last))
    quality = quality_of(suite, measured, ratings=acceptable) if acceptable else None
    estimate = quality.estimates.get(ACCEPTED) if quality else None
    kinds = list(rulings.values())
    return Satisfaction(
        suite=suite.name,
        rated=len(kinds),
        acceptable=kinds.count("acceptable"),
        unacceptable=kinds.count("unacceptable"),
        disagreements=kinds.count("disagreement"),
        accuracy=estimate.value if estimate else None,
        low=estimate.low if estimate else None,
        high=estimate.high if estimate else None,
        effective=estimate.effective if estimate else 0.0,
        kappa=ratings.kappa,
        pairs=len(ratings.pairs),
        feedback=sum(points.values()) / len(points) if points else None,
        feedback_count=len(points),
        with_users=cohen_kappa(both),
        with_users_pairs=len(both),
        queues=rated_queues(project, suite.name),
    )
