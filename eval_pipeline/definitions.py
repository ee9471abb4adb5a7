"""Everything that Dagster loads: the chain of every suite, its job, what starts it, pages and production."""

import gc
from collections.abc import Sequence

import dagster as dg

from eval_pipeline import automation, orchestration
from eval_pipeline.hosting import Times, build_eval_assets
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
    chains = [_chain(suite, project, configured) for suite in suites]
    jobs = [job for chain in chains for job in chain.jobs or ()]
    unloaded = [orchestration.build_broken(name, problems) for name, problems in broken.items()]
    pruning = orchestration.build_prune_job(project)
    unloaded_jobs = [orchestration.build_broken_job(asset) for asset in unloaded]
    others = [
        *unloaded,
        *orchestration.build_summaries(project),
        *orchestration.build_pages(project, suites),
        automation.ALERTS,
    ]
    own = dg.Definitions(
        assets=orchestration.described(others, configured.owners),
        jobs=[*unloaded_jobs, pruning],
        schedules=[automation.build_prune_schedule(pruning, configured)],
        sensors=[
            *automation.build_sensors([orchestration.Place(suite) for suite in suites], jobs, project),
            *automation.build_broken_sensor(broken, unloaded_jobs),
            automation.build_alerts(project, configured),
            automation.build_page_sensor(project),
        ],
        executor=dg.in_process_executor,
    )
    production = [_production(project, suites, configured)] if suites else []
    return dg.Definitions.merge(*chains, own, *production)


def _chain(suite: Suite, project: Project, configured: Automation) -> dg.Definitions:
    """The evaluations of a suite, whose versions become partitions as they are asked for."""
    return build_eval_assets(
        suite,
        root=project.root,
        state=project.state,
        versions=orchestration.partitions_of(suite.name),
        owners=configured.owners,
        times=Times(configured.nightly, configured.weekly, configured.timezone),
    )


def _production(project: Project, suites: Sequence[Suite], configured: Automation) -> dg.Definitions:
    """What becomes of events: figures, samples, briefs and alerts."""
    production = read_production(project)
    events, figures = orchestration.build_production_jobs(suites)
    samples = orchestration.build_quality_job(suites)
    briefs = orchestration.build_brief_job(suites)
    assets = [
        *orchestration.build_production(project, suites, production),
        *orchestration.build_quality(project, suites, production),
        *orchestration.build_briefs(project, suites),
    ]
    return dg.Definitions(
        assets=orchestration.described(assets, configured.owners),
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
