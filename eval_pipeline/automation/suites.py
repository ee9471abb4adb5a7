"""A suite in a graph: its chain, the job that runs it, and when that starts by itself."""

import dagster as dg

from eval_pipeline import orchestration
from eval_pipeline.automation.schedules import build_schedules
from eval_pipeline.orchestration import Place
from eval_pipeline.project import Project
from eval_pipeline.timetable import Automation


def build_suite(place: Place, project: Project, times: Automation) -> dg.Definitions:
    """The chain of a suite, its job and its schedules; neither resources nor an executor."""
    chain = orchestration.build_chain(place, project)
    job = orchestration.build_job(place, chain)
    return dg.Definitions(assets=chain, jobs=[job], schedules=build_schedules(place, job, project, times))
