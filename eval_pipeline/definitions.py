"""Everything that Dagster loads: the chain of every suite, its job, what starts it, and shared resources."""

import dagster as dg

from eval_pipeline.automation.alerts import ALERTS, build_alerts
from eval_pipeline.automation.configuration import read_automation
from eval_pipeline.automation.schedules import build_schedules
from eval_pipeline.automation.sensors import build_broken_sensor, build_sensors
from eval_pipeline.orchestration import (
    build_broken,
    build_broken_job,
    build_chain,
    build_job,
    build_resources,
    build_summary,
)
from eval_pipeline.project import Project
from eval_pipeline.suites import load_suites, suite_names


def build_definitions(project: Project) -> dg.Definitions:
    """The definitions of a project."""
    automation = read_automation(project)
    suites, broken = load_suites(project, suite_names(project))
    chains = {suite: build_chain(suite, project) for suite in suites}
    jobs = {suite: build_job(suite, chain) for suite, chain in chains.items()}
    unloaded = [build_broken(name, problems) for name, problems in broken.items()]
    unloaded_jobs = [build_broken_job(asset) for asset in unloaded]
    return dg.Definitions(
        assets=[
            *(asset for chain in chains.values() for asset in chain),
            *unloaded,
            build_summary(project),
            ALERTS,
        ],
        jobs=[*jobs.values(), *unloaded_jobs],
        schedules=[
            schedule
            for suite, job in jobs.items()
            for schedule in build_schedules(suite, job, project, automation)
        ],
        sensors=[
            *build_sensors(list(jobs), list(jobs.values()), project),
            *build_broken_sensor(broken, unloaded_jobs),
            build_alerts(project, automation),
        ],
        resources=build_resources(project),
        executor=dg.in_process_executor,
    )


defs = build_definitions(Project.find())
