"""Samples of production as assets: what was drawn of every day, and what it says of quality."""

import datetime
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from eval_pipeline.improvement import ratings_of
from eval_pipeline.monitoring import (
    EventStore,
    Production,
    Quality,
    Target,
    measure_day,
    measured_days,
    quality_of,
    sample_of,
)
from eval_pipeline.orchestration.production import DAYS, EVENTS_KEY, GROUP, group_of
from eval_pipeline.project import Project
from eval_pipeline.reports import quality_table, table
from eval_pipeline.suite import Suite

QUALITY_JOB = "production_quality"
DAY = datetime.timedelta(days=1)

Events = Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]


def sample_key(suite: str) -> dg.AssetKey:
    """The asset of a suite's samples."""
    return dg.AssetKey([GROUP, suite, "sample"])


def quality_key(suite: str) -> dg.AssetKey:
    """The asset of what samples say."""
    return dg.AssetKey([GROUP, suite, "quality"])


def quality_check(measure: str) -> str:
    """The name of the check of a measure's target."""
    return f"target_{measure}"


def build_quality(
    project: Project, suites: Sequence[Suite], production: Production
) -> list[dg.AssetsDefinition]:
    """The samples of each suite, and their measures."""
    with warnings.catch_warnings():
        # Runs of several days are a beta of Dagster's; a week of history as seven runs would be worse.
        warnings.simplefilter("ignore", dg.BetaWarning)
        return [
            asset
            for suite in suites
            for asset in (_sample(project, suite, production), _quality(project, suite, production))
        ]


def build_quality_job(suites: Sequence[Suite]) -> Any:
    """The job that draws requests of days and measures them."""
    keys = [key for suite in suites for key in (sample_key(suite.name), quality_key(suite.name))]
    return dg.define_asset_job(
        QUALITY_JOB, keys, description="Requests of days are drawn, and their answers measured."
    )


def _sample(project: Project, suite: Suite, production: Production) -> dg.AssetsDefinition:
    @dg.asset(
        key=sample_key(suite.name),
        group_name=group_of(suite.name),
        description=f"Requests of {suite.name} that are looked at closely, drawn by day with known chances.",
        deps=[dg.AssetDep(EVENTS_KEY)],
        partitions_def=DAYS,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def sample(context: dg.AssetExecutionContext) -> dg.MaterializeResult[Any]:
        with EventStore.of(project) as store:
            infos = [
                sample_of(project, store, suite.name, day, production).info
                for day in _days(context, store, suite.name)
            ]
        drawn = [f"- {each.day}: {each.requests:,} requests, {each.state}" for each in infos]
        return dg.MaterializeResult(
            metadata={
                "requests": sum(each.requests for each in infos),
                "provisional": sum(not each.closed for each in infos),
                "simulated": sum(each.simulated for each in infos),
                "days": dg.MetadataValue.md("\n".join(drawn) or "No events."),
            }
        )

    return sample


def _quality(project: Project, suite: Suite, production: Production) -> dg.AssetsDefinition:
    key, targets = quality_key(suite.name), production.of(suite.name).quality

    @dg.asset(
        key=key,
        group_name=group_of(suite.name),
        description=f"How good answers of {suite.name} are in production, estimated from samples.",
        deps=[dg.AssetDep(sample_key(suite.name))],
        partitions_def=DAYS,
        backfill_policy=dg.BackfillPolicy.single_run(),
        check_specs=[
            dg.AssetCheckSpec(quality_check(name), asset=key, description=f"{name} meets its target.")
            for name in targets
        ],
    )
    def quality(context: dg.AssetExecutionContext) -> Events:
        with EventStore.of(project) as store:
            for day in (days := _days(context, store, suite.name)):
                measure_day(project, store, suite, day, production)
        yield from quality_events(project, suite, production, targets, max(days, default=None))

    return quality


def quality_events(
    project: Project,
    suite: Suite,
    production: Production,
    targets: dict[str, Target],
    last: datetime.date | None,
) -> Events:
    """What the window up to a day says, and whether targets are met."""
    found = None
    if last is not None:
        first = last - DAY * (production.sampling.window_days - 1)
        ratings = ratings_of(project, suite.name).acceptable
        found = quality_of(suite, measured_days(project, suite.name, first, last), ratings=ratings)
    yield dg.MaterializeResult(metadata=_metadata(suite, found, targets))
    for name, target in targets.items():
        estimate = found.estimates.get(name) if found else None
        yield dg.AssetCheckResult(
            check_name=quality_check(name),
            # What is unknown is no target met.
            passed=bool(estimate and estimate.meets(target)),
            severity=dg.AssetCheckSeverity.WARN,
            description=f"{estimate.text}: {estimate.verdict(target)}" if estimate else "Nobody measured it.",
            metadata={"value": estimate.value} if estimate and estimate.value is not None else {},
        )


def _metadata(suite: Suite, found: Quality | None, targets: dict[str, Target]) -> dict[str, Any]:
    if found is None:
        return {"measures": dg.MetadataValue.md("No events.")}
    values = {name: each.value for name, each in found.estimates.items() if each.value is not None}
    return {
        "measures": dg.MetadataValue.md(table(quality_table(suite, found, targets))),
        **values,
        "state": found.state,
        "drawn": found.drawn,
        "simulated": found.simulated,
    }


def _days(context: dg.AssetExecutionContext, store: EventStore, suite: str) -> list[datetime.date]:
    """The days of a run that have events."""
    wanted = set(context.partition_keys)
    return [day for day in store.days(suite) if str(day) in wanted]
