"""When briefs on production are written: the rhythm of reviews."""

import datetime
from typing import Any

import dagster as dg

from eval_pipeline.monitoring import EventStore
from eval_pipeline.orchestration import brief_key
from eval_pipeline.project import Project
from eval_pipeline.timetable import Automation

SAID = {
    "weekly": "Every week, what production brought: figures, feedback, errors, the lowest sampled answers.",
    "monthly": "Every month, new cases and canaries, and which measures go with content users.",
    "quarterly": "Every quarter, whether thresholds still fit.",
}


def build_brief_schedules(project: Project, job: Any, times: Automation) -> list[dg.ScheduleDefinition]:
    """The three schedules of briefs."""
    crons = {
        "weekly": times.brief_weekly,
        "monthly": times.brief_monthly,
        "quarterly": times.brief_quarterly,
    }
    return [_schedule(project, job, times, rhythm, cron) for rhythm, cron in crons.items()]


def _schedule(project: Project, job: Any, times: Automation, rhythm: str, cron: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        cron,
        name=f"brief_{rhythm}",
        job=job,
        execution_timezone=times.timezone,
        description=SAID[rhythm],
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    def briefs(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        until = context.scheduled_execution_time.astimezone(datetime.UTC).date()
        with EventStore.of(project) as store:
            suites = store.suites()
        requests = [brief_request(suite, rhythm, until) for suite in suites]
        return requests or dg.SkipReason("There are no events of production.")

    return briefs


def brief_request(suite: str, rhythm: str, until: datetime.date) -> dg.RunRequest:
    """One run for one brief."""
    key = brief_key(suite)
    config = {"rhythm": rhythm, "until": until.isoformat()}
    return dg.RunRequest(
        run_key=f"brief/{rhythm}/{suite}/{until}",
        asset_selection=[key],
        run_config={"ops": {key.to_python_identifier(): {"config": config}}},
    )
