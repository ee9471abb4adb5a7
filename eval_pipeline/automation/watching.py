"""Samples that are drawn by the hour, and alerts that are looked at by the minute."""

import datetime
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from eval_pipeline.automation.alerts import shown_incidents
from eval_pipeline.automation.production import RANGE_END, RANGE_START
from eval_pipeline.decisions import Incidents, look_at_production
from eval_pipeline.files import content_hash
from eval_pipeline.monitoring import EventStore, Production, may_have_events, stale_samples
from eval_pipeline.orchestration import QUALITY_JOB, quality_key, sample_key
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.store import database_url
from eval_pipeline.suite import Suite
from eval_pipeline.timetable import Automation

SECONDS_BETWEEN_LOOKS = 60


def build_watching(project: Project, suites: Sequence[Suite], production: Production) -> dg.SensorDefinition:
    """The sensor that looks at alerts; messages on what it finds are sent by the sensor `alerts`."""

    @dg.sensor(
        name="production_alerts",
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        description="Looks at every new hour of production: what crosses its limit becomes an incident.",
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def production_alerts() -> dg.SensorResult:
        if not may_have_events(project):
            return dg.SensorResult(skip_reason="There are no events.")
        try:
            changed = look_at_production(project, suites, production)
        except BadInput as bad:
            return dg.SensorResult(skip_reason="; ".join(map(str, bad.problems)))
        if not changed:
            return dg.SensorResult(skip_reason="No incident changed.")
        with Incidents(database_url(project)) as incidents:
            return dg.SensorResult(asset_events=[shown_incidents(incidents.all())])

    return production_alerts


def build_quality_schedule(
    project: Project, production: Production, job: Any, times: Automation
) -> dg.ScheduleDefinition:
    """When samples are brought up to date."""

    @dg.schedule(
        times.samples,
        name=QUALITY_JOB,
        job=job,
        execution_timezone=times.timezone,
        description="Every hour, the samples of days with new events or feedback, and of days that closed.",
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    def production_quality(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        now = context.scheduled_execution_time.astimezone(datetime.UTC)
        requests = list(quality_requests(project, production, now))
        return requests or dg.SkipReason("Every sample is up to date.")

    return production_quality


def quality_requests(
    project: Project, production: Production, now: datetime.datetime
) -> Iterator[dg.RunRequest]:
    """A run for the days of each suite whose samples are not up to date."""
    if not may_have_events(project):
        return
    with EventStore.of(project) as store:
        for suite in store.suites():
            if stale := stale_samples(project, store, suite, production, now):
                key = content_hash([[str(day), made_from] for day, made_from in stale.items()])
                yield dg.RunRequest(
                    run_key=f"quality/{suite}/{key}",
                    job_name=QUALITY_JOB,
                    asset_selection=[sample_key(suite), quality_key(suite)],
                    tags={RANGE_START: str(min(stale)), RANGE_END: str(max(stale))},
                )
