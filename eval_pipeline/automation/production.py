"""Events that are taken in when files arrive, and figures that are made of them."""

import datetime
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from eval_pipeline.files import content_hash
from eval_pipeline.monitoring import EventStore, Production, list_sources, may_have_events, stale_days
from eval_pipeline.orchestration import FIGURES_JOB, INGEST_JOB, figures_key
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.timetable import Automation

SECONDS_BETWEEN_LOOKS = 30
RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"


def build_event_sensor(project: Project, production: Production, jobs: Sequence[Any]) -> dg.SensorDefinition:
    """The sensor on the drop folder."""

    @dg.sensor(
        name="event_files",
        jobs=jobs,
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        description="New files in the drop folder are taken in; days that have new events get new figures.",
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def event_files() -> list[dg.RunRequest] | dg.SkipReason:
        try:
            requests = list(look_at_events(project, production))
        except BadInput as bad:
            return dg.SkipReason("; ".join(map(str, bad.problems)))
        return requests or dg.SkipReason("Nothing new.")

    return event_files


def look_at_events(project: Project, production: Production) -> Iterator[dg.RunRequest]:
    """Runs for files that are new and complete; where there are none, for days whose figures are old."""
    sources = list_sources(production.folder(project))
    if not sources and not may_have_events(project):
        return
    with EventStore.of(project) as store:
        seen = store.ledger.seen()
        fresh = [
            source
            for source in sources
            if seen.get(source.name) != source.stamp
            and (source.age is None or source.age >= production.settled_seconds)
        ]
        if fresh:
            key = content_hash([[source.name, source.stamp] for source in fresh])
            yield dg.RunRequest(run_key=f"events/{key}", job_name=INGEST_JOB)
            return
        for suite in store.suites():
            if stale := stale_days(store, suite, production.closes_after_days):
                key = content_hash([[str(day), made_from] for day, made_from in stale.items()])
                yield figures_request(suite, min(stale), max(stale), f"figures/{suite}/{key}")


def build_production_schedule(
    project: Project, production: Production, job: Any, times: Automation
) -> dg.ScheduleDefinition:
    """When the figures of the day that ended are made."""

    @dg.schedule(
        times.production,
        name=FIGURES_JOB,
        job=job,
        execution_timezone=times.timezone,
        description="Every night, the figures of the day that ended, with their targets.",
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    def production_figures(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        ended = context.scheduled_execution_time.astimezone(datetime.UTC).date() - datetime.timedelta(days=1)
        with EventStore.of(project) as store:
            suites = [suite for suite in store.suites() if ended in store.days(suite)]
        return [figures_request(suite, ended, ended, f"night/{suite}/{ended}") for suite in suites] or (
            dg.SkipReason(f"No events of {ended}.")
        )

    return production_figures


def figures_request(suite: str, first: datetime.date, last: datetime.date, key: str) -> dg.RunRequest:
    """One run for a range of days."""
    return dg.RunRequest(
        run_key=key,
        job_name=FIGURES_JOB,
        asset_selection=[figures_key(suite)],
        tags={RANGE_START: str(first), RANGE_END: str(last)},
    )
