"""Everything that Dagster loads: the chain of every suite, its job, what starts it, and shared resources."""

import dagster as dg

from eval_pipeline.automation import ALERTS, build_alerts, build_schedules, build_sensors, read_automation
from eval_pipeline.orchestration import build_chain, build_job, build_resources, build_summary
from eval_pipeline.project import Project
from eval_pipeline.suites import all_suites


def build_definitions(project: Project) -> dg.Definitions:
    """The definitions of a project."""
    automation = read_automation(project)
    chains = {suite: build_chain(suite, project) for suite in all_suites(project)}
    jobs = {suite: build_job(suite, chain) for suite, chain in chains.items()}
    return dg.Definitions(
        assets=[*(asset for chain in chains.values() for asset in chain), build_summary(project), ALERTS],
        jobs=list(jobs.values()),
        schedules=[
            schedule
            for suite, job in jobs.items()
            for schedule in build_schedules(suite, job, project, automation)
        ],
        sensors=[*build_sensors(list(jobs), list(jobs.values()), project), build_alerts(project, automation)],
        resources=build_resources(project),
        executor=dg.in_process_executor,
    )


defs = build_definitions(Project.find())
