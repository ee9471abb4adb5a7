"""Nightly and weekly evaluations. They ask afresh: a model that changed overnight must show."""

import datetime
from collections.abc import Callable
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import dagster as dg

from eval_pipeline.automation.evaluations import evaluation_request, not_loaded, register
from eval_pipeline.orchestration import Place
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import active_versions, load_prompts
from eval_pipeline.timetable import Automation

WEEKLY = "weekly"
"""The schedule after whose evaluations the page of the week is written."""
GRACE = datetime.timedelta(hours=2)
"""How long evaluations that are due may take before they are late."""
LOOKED_AT = 100
"""How many times of a schedule are looked at for the longest pause: more than three months of nights."""

Versions = Callable[[], list[str]]


def build_schedules(
    place: Place, job: Any, project: Project, times: Automation
) -> list[dg.ScheduleDefinition]:
    """The two schedules of a suite."""
    suite = place.suite
    folder = project.prompts(suite.name)

    def current_versions() -> list[str]:
        problems = Problems()
        prompts = load_prompts(suite, folder, problems)
        return [prompt.version for prompt in prompts if prompt.front.status != "archived"]

    return [
        _schedule(
            place,
            job,
            "nightly",
            times.nightly,
            times.timezone,
            lambda: active_versions(suite, folder),
            f"Every night, the active versions of {suite.name}, asked afresh.",
        ),
        _schedule(
            place,
            job,
            WEEKLY,
            times.weekly,
            times.timezone,
            current_versions,
            f"Every week, all versions of {suite.name} that are not archived, asked afresh.",
        ),
    ]


@cache
def late_after(cron: str, timezone: str) -> dg.FreshnessPolicy:
    """When what a schedule brings is late: after its longest pause and a while; overdue after two pauses."""
    times = dg.TimeWindowPartitionsDefinition(
        start="2026-01-01", cron_schedule=cron, timezone=timezone, fmt="%Y-%m-%d"
    )
    pauses, due = [], times.start
    for _ in range(LOOKED_AT):
        window = times.get_next_partition_window(due, respect_bounds=False)
        assert window is not None
        pauses.append(window.end.astimezone(datetime.UTC) - window.start.astimezone(datetime.UTC))
        due = window.end
    longest = max(pauses)
    return dg.FreshnessPolicy.time_window(warn_window=longest + GRACE, fail_window=2 * longest + GRACE)


def build_prune_schedule(job: dg.JobDefinition, times: Automation) -> dg.ScheduleDefinition:
    """When what nobody needs any more is deleted."""
    return dg.ScheduleDefinition(
        name=job.name,
        job=job,
        cron_schedule=times.prune,
        execution_timezone=times.timezone,
        description=job.description,
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )


def _schedule(
    place: Place, job: Any, name: str, cron: str, timezone: str, versions: Versions, description: str
) -> dg.ScheduleDefinition:
    @dg.schedule(
        cron,
        name=f"{place.name}_{name}",
        job=job,
        execution_timezone=timezone,
        description=description,
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    def schedule(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        due = context.scheduled_execution_time.astimezone(ZoneInfo(timezone))
        sample = f"{name}-{due:%Y-%m-%d}" + ("" if name == WEEKLY else _time_of(cron, due))
        try:
            result = versions()
        except BadInput as bad:
            return dg.SkipReason("; ".join(map(str, bad.problems)))
        if not result:
            return dg.SkipReason(f"{place.name} has no such version.")
        if unknown := [version for version in result if not place.knows(version)]:
            context.log.warning(not_loaded(unknown))
        result = [version for version in result if version not in unknown]
        if not result:
            return dg.SkipReason(not_loaded(unknown))
        register(context.instance, place, result)
        return [
            evaluation_request(place, version, f"{sample}/{place.name}/{version}", name, sample)
            for version in result
        ]

    return schedule


def _time_of(cron: str, due: Any) -> str:
    """Beside the day, the time: only where a schedule is due more than once a day."""
    once = cron.startswith("@") and cron != "@hourly"
    return "" if once or all(each.isdecimal() for each in cron.split()[:2]) else f"T{due:%H%M}"
