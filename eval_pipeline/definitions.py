"""Everything that Dagster loads: the chain of every suite, its job, and the resources they share."""

import dagster as dg

from eval_pipeline.chain import PROGRESS, PROJECT, STORE, LogProgress, build_chain, build_job
from eval_pipeline.heritage.summary import build_summary
from eval_pipeline.project import Project
from eval_pipeline.store.io_manager import StoreIOManager
from eval_pipeline.suites import all_suites


def build_definitions(project: Project) -> dg.Definitions:
    """The definitions of a project."""
    chains = {suite: build_chain(suite, project) for suite in all_suites(project)}
    return dg.Definitions(
        assets=[*(asset for chain in chains.values() for asset in chain), build_summary(project)],
        jobs=[build_job(suite, chain) for suite, chain in chains.items()],
        resources={
            PROJECT: project,
            STORE: StoreIOManager(project.state),
            PROGRESS: dg.ResourceDefinition.hardcoded_resource(LogProgress),
        },
        executor=dg.in_process_executor,
    )


defs = build_definitions(Project.find())
