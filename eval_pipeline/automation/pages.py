"""Pages that are as new as the runs: the dashboard after any, the weekly page after one of its schedule."""

from collections.abc import Sequence

import dagster as dg

from eval_pipeline.automation.alerts import FINISHED
from eval_pipeline.automation.evaluations import CAUSE_TAG
from eval_pipeline.automation.schedules import WEEKLY
from eval_pipeline.decisions import Incidents
from eval_pipeline.files import content_hash
from eval_pipeline.loading import HERITAGE, family
from eval_pipeline.orchestration import refresh_pages, refresh_summary_events, suite_of_job
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.store import database_url

SECONDS_BETWEEN_LOOKS = 15
RUNS_AT_ONCE = 200


def build_page_sensor(project: Project) -> dg.SensorDefinition:
    """The sensor that writes pages anew."""

    @dg.sensor(
        name="pages",
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        description="Writes the dashboard anew when a run has finished, and the weekly page of a suite when "
        "that run was of the weekly schedule; the summary of the heritage suites when one of them was run.",
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def pages(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        latest = context.instance.get_run_records(
            dg.RunsFilter(statuses=FINISHED), limit=RUNS_AT_ONCE, order_by="update_timestamp"
        )
        finished = [record.dagster_run for record in latest]
        seen, _, known = (context.cursor or "").partition(" ")
        present = _incidents(project)
        runs = [run.run_id for run in finished]
        fresh = finished[: runs.index(seen)] if seen in runs else finished
        if context.cursor is not None and not fresh and present == known:
            return dg.SensorResult(skip_reason="No run has finished since.", cursor=context.cursor)
        weekly = {suite_of_job(run.job_name) for run in fresh if run.tags.get(CAUSE_TAG) == WEEKLY}
        events = [*refresh_pages(project, weekly=weekly - {""}), *_summary(project, fresh)]
        return dg.SensorResult(asset_events=events, cursor=f"{runs[0] if runs else ''} {present}")

    return pages


def _summary(
    project: Project, fresh: Sequence[dg.DagsterRun]
) -> list[dg.AssetMaterialization | dg.AssetCheckEvaluation]:
    """The summary of a family, made anew when one of its suites was evaluated."""
    evaluated = {suite_of_job(run.job_name) for run in fresh}
    if evaluated.isdisjoint(family(project, HERITAGE)):
        return []
    try:
        return refresh_summary_events(project)
    except BadInput:  # the run itself says what is wrong
        return []


def _incidents(project: Project) -> str:
    """All incidents as they are, in one word: another sensor opens and closes them."""
    with Incidents(database_url(project)) as incidents:
        return content_hash([(each.number, each.closed_at, each.findings) for each in incidents.all()])
