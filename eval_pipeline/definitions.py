"""Everything that Dagster loads: the chain of every suite, its job, what starts it, and shared resources."""

import gc
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from eval_pipeline import automation, orchestration
from eval_pipeline.loading import load_suites, suite_names
from eval_pipeline.monitoring import read_production
from eval_pipeline.own_code import use_code_of
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite
from eval_pipeline.timetable import Automation, read_automation


def build_definitions(project: Project) -> dg.Definitions:
    """The definitions of a project."""
    use_code_of(project)
    configured = read_automation(project)
    suites, broken = load_suites(project, suite_names(project))
    resources = orchestration.build_resources(project)
    places = [_place(suite, project, resources) for suite in suites]
    chains = [automation.build_suite(place, project, configured) for place in places]
    jobs = [job for chain in chains for job in chain.jobs or ()]
    unloaded = [orchestration.build_broken(name, problems) for name, problems in broken.items()]
    pruning = orchestration.build_prune_job(project)
    unloaded_jobs = [orchestration.build_broken_job(asset) for asset in unloaded]
    own = dg.Definitions(
        assets=[
            *unloaded,
            *orchestration.build_summaries(project),
            *orchestration.build_pages(project, suites),
            automation.ALERTS,
        ],
        jobs=[*unloaded_jobs, pruning],
        schedules=[automation.build_prune_schedule(pruning, configured)],
        sensors=[
            *automation.build_sensors(places, jobs, project),
            *automation.build_broken_sensor(broken, unloaded_jobs),
            automation.build_alerts(project, configured),
            automation.build_page_sensor(project),
        ],
        executor=dg.in_process_executor,
    )
    production = [_production(project, suites, configured)] if suites else []
    return dg.Definitions.merge(*chains, own, *production)


def _place(suite: Suite, project: Project, resources: Mapping[str, Any]) -> orchestration.Place:
    """Where a suite stands in the graph of its own project."""
    declared = orchestration.declared_at(orchestration.suite_file(project, suite))
    return orchestration.Place(suite, resources=resources, metadata=declared, is_nightly=True)


def _production(project: Project, suites: Sequence[Suite], configured: Automation) -> dg.Definitions:
    """What becomes of events: figures, samples, briefs and alerts."""
    production = read_production(project)
    events, figures = orchestration.build_production_jobs(suites)
    samples = orchestration.build_quality_job(suites)
    briefs = orchestration.build_brief_job(suites)
    return dg.Definitions(
        assets=[
            *orchestration.build_production(project, suites, production),
            *orchestration.build_quality(project, suites, production),
            *orchestration.build_briefs(project, suites),
        ],
        jobs=[events, figures, samples, briefs],
        schedules=[
            automation.build_production_schedule(project, production, figures, configured),
            automation.build_quality_schedule(project, production, samples, configured),
            *automation.build_brief_schedules(project, briefs, configured),
        ],
        sensors=[
            automation.build_event_sensor(project, production, [events, figures]),
            automation.build_watching(project, suites, production),
        ],
    )


gc.freeze()  # modules live as long as the process: no need to look through Dagster's again and again
defs = build_definitions(Project.find())
