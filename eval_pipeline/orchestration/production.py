"""Production as assets: the events that were taken in, and the figures of every day."""

import datetime
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from eval_pipeline.monitoring import (
    FIGURES,
    Aim,
    EventStore,
    Production,
    SuiteProduction,
    aims_of,
    figures_of,
    open_ingest,
)
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.reports import figure_table, table
from eval_pipeline.suite import Suite

GROUP = "production"
EVENTS_KEY = dg.AssetKey([GROUP, "events"])
FIRST_DAY = "2024-01-01"
DAYS = dg.DailyPartitionsDefinition(FIRST_DAY, timezone="UTC", end_offset=1)
"""Days in UTC; the one that is under way is one of them."""
INGEST_JOB, FIGURES_JOB = "production_events", "production_figures"
DAY = datetime.timedelta(days=1)


def figures_key(suite: str) -> dg.AssetKey:
    """The asset of a suite's figures."""
    return dg.AssetKey([GROUP, suite, "figures"])


def group_of(suite: str) -> str:
    """The group of what production brings to a suite; its chain has other partitions, and another group."""
    return f"{suite}_{GROUP}"


def target_check(figure: str) -> str:
    """The name of the check of a target."""
    return f"target_{figure}"


def build_production(
    project: Project, suites: Sequence[Suite], production: Production
) -> list[dg.AssetsDefinition]:
    """The asset of all events, and that of each suite's figures."""
    return [_events(project), *(_figures(project, suite, production) for suite in suites)]


def build_production_jobs(suites: Sequence[Suite]) -> list[Any]:
    """The job that takes events in, and the one that makes figures of days."""
    keys = [figures_key(suite.name) for suite in suites]
    return [
        dg.define_asset_job(
            INGEST_JOB, [EVENTS_KEY], description="Files of the drop folder become events, each counted once."
        ),
        dg.define_asset_job(
            FIGURES_JOB, keys, description="The figures of days in production, with their targets."
        ),
    ]


def _events(project: Project) -> dg.AssetsDefinition:
    @dg.asset(
        key=EVENTS_KEY,
        group_name=GROUP,
        description="Requests in production, from the files of the drop folder: each counted once, masked.",
        check_specs=[
            dg.AssetCheckSpec(
                "readable", asset=EVENTS_KEY, description="No line of a new file is in quarantine."
            )
        ],
    )
    def events() -> Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]:
        try:
            with open_ingest(project) as taking:
                outcomes = list(taking.files())
        except BadInput as bad:
            raise dg.Failure("\n".join(map(str, bad.problems)), allow_retries=False) from None
        refused = sum(each.refused for each in outcomes)
        numbers = {name: sum(getattr(each, name) for each in outcomes) for name in ("events", "feedback")}
        lines = "\n".join(f"- `{each.text}`" for each in outcomes)
        yield dg.MaterializeResult(
            metadata={
                "files": len(outcomes),
                **numbers,
                "refused": refused,
                "outcomes": dg.MetadataValue.md(lines),
            }
        )
        yield dg.AssetCheckResult(
            check_name="readable",
            passed=not refused,
            severity=dg.AssetCheckSeverity.WARN,
            description=f"{refused:,} refused lines: eval-pipeline events status" if refused else "",
        )

    return events


def _figures(project: Project, suite: Suite, production: Production) -> dg.AssetsDefinition:
    key, rules = figures_key(suite.name), production.of(suite.name)

    def figures(
        context: dg.AssetExecutionContext,
    ) -> Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]:
        days = sorted(map(datetime.date.fromisoformat, context.partition_keys))
        yield from materialize_figures(project, suite.name, production, rules, days[0], days[-1])

    checks = [
        dg.AssetCheckSpec(
            target_check(name),
            asset=key,
            description=f"{FIGURES[name].about} It meets its target.",
        )
        for name in rules.targets
    ]
    with warnings.catch_warnings():
        # Runs of several days are a beta of Dagster's; a week of history as seven runs would be worse.
        warnings.simplefilter("ignore", dg.BetaWarning)
        return dg.asset(
            key=key,
            group_name=group_of(suite.name),
            description=f"What users of {suite.name} get: requests, latency, errors, cost, feedback, by day.",
            deps=[dg.AssetDep(EVENTS_KEY)],
            partitions_def=DAYS,
            backfill_policy=dg.BackfillPolicy.single_run(),
            check_specs=checks,
        )(figures)


def materialize_figures(
    project: Project,
    suite: str,
    production: Production,
    rules: SuiteProduction,
    first: datetime.date,
    last: datetime.date,
) -> Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]:
    """The figures of some days, and whether those of the last window meet their targets."""
    start, end = _midnight(first), _midnight(last) + DAY
    with EventStore.of(project) as store:
        closes = production.closes_after_days
        by_day = figures_of(store, suite, start, end, closes, by=["day"])
        window = figures_of(store, suite, end - DAY * production.window_days, end, closes)
    whole = window[0] if window else None
    numbers = {name: value for name, value in (whole.values if whole else {}).items() if value is not None}
    yield dg.MaterializeResult(
        metadata={
            "days": dg.MetadataValue.md(table(figure_table(by_day)) if by_day else "No events."),
            **numbers,
            "simulated": bool(whole and whole.simulated),
        }
    )
    aims = aims_of(whole, rules.targets) if whole else []
    for name in rules.targets:
        yield _check(name, next((aim for aim in aims if aim.figure == name), None))


def _check(name: str, aim: Aim | None) -> dg.AssetCheckResult:
    """What is unknown is no target met."""
    return dg.AssetCheckResult(
        check_name=target_check(name),
        passed=aim is not None and aim.met,
        severity=dg.AssetCheckSeverity.WARN,
        description=aim.text if aim else f"{name} is unknown: there are no events",
        metadata={"value": aim.value} if aim and aim.value is not None else {},
    )


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(), datetime.UTC)
