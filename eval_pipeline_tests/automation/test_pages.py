"""Pages are written when a run has finished, once; the weekly page when that run was of its schedule."""

from __future__ import annotations

import shutil

import dagster as dg
import pytest

from eval_pipeline.automation import build_page_sensor
from eval_pipeline.automation.evaluations import CAUSE_TAG
from eval_pipeline.decisions import Finding, Incidents
from eval_pipeline.loading import suite_names
from eval_pipeline.orchestration import evaluation_job, refresh_summary_events
from eval_pipeline.project import Project
from eval_pipeline.store import database_url
from eval_pipeline_tests.running import instance_in

DASHBOARD, WEEKLY = dg.AssetKey("dashboard"), dg.AssetKey(["weekly", "toy"])
SUMMARY = dg.AssetKey(["heritage", "summary"])


class Watch:
    """A daemon that keeps its cursor."""

    def __init__(self, project: Project, instance: dg.DagsterInstance) -> None:
        self.project, self.instance = project, instance
        self.cursor: str | None = None

    def look(self) -> list[dg.AssetKey]:
        """The pages that one tick wrote."""
        context = dg.build_sensor_context(instance=self.instance, cursor=self.cursor)
        result = build_page_sensor(self.project)(context)
        assert isinstance(result, dg.SensorResult)
        self.cursor = result.cursor
        return [event.asset_key for event in result.asset_events]

    def finish(
        self,
        cause: str = "",
        status: dg.DagsterRunStatus = dg.DagsterRunStatus.SUCCESS,
        suite: str = "toy",
    ) -> None:
        """Let a run of a suite's chain have finished."""
        tags = {CAUSE_TAG: cause} if cause else {}
        job = dg.GraphDefinition(name=evaluation_job(suite)).to_job()
        run = self.instance.create_run_for_job(job, tags=tags, status=dg.DagsterRunStatus.STARTED)
        if status == dg.DagsterRunStatus.FAILURE:
            self.instance.report_run_failed(run)
        else:
            self.instance.report_dagster_event(
                dg.DagsterEvent(dg.DagsterEventType.RUN_SUCCESS.value, run.job_name), run.run_id
            )


def test_a_finished_run_writes_the_dashboard_once(toy: Project) -> None:
    with instance_in(toy) as instance:
        watch = Watch(toy, instance)
        assert watch.look() == [DASHBOARD]  # the first look: a page, though nothing was run
        assert watch.look() == []
        watch.finish()
        assert watch.look() == [DASHBOARD]
        assert watch.look() == []
        assert "✗ was never evaluated" in (toy.state / "dashboard.html").read_text()


def test_a_run_of_the_weekly_schedule_writes_the_weekly_page(toy: Project) -> None:
    with instance_in(toy) as instance:
        watch = Watch(toy, instance)
        watch.look()
        watch.finish("nightly")
        assert watch.look() == [DASHBOARD]
        watch.finish("weekly")
        watch.finish("nightly")
        assert watch.look() == [DASHBOARD, WEEKLY]
        assert watch.look() == []
        assert len(list((toy.state / "weekly" / "toy").glob("*.html"))) == 1


@pytest.mark.parametrize("cause", ["weekly", ""])
def test_a_run_that_failed_writes_pages_as_well(toy: Project, cause: str) -> None:
    with instance_in(toy) as instance:
        watch = Watch(toy, instance)
        watch.look()
        watch.finish(cause, dg.DagsterRunStatus.FAILURE)
        assert watch.look() == [DASHBOARD, *([WEEKLY] if cause else [])]


def test_a_run_of_a_heritage_suite_makes_their_summary_anew(whole_project: Project) -> None:
    for name in set(suite_names(whole_project)) - {"heritage_typing"}:
        shutil.rmtree(whole_project.golden(name))
        shutil.rmtree(whole_project.prompts(name))
    with instance_in(whole_project) as instance:
        watch = Watch(whole_project, instance)
        assert watch.look() == [DASHBOARD]
        watch.finish(suite="heritage_typing")
        # A check has its own event beside the summary's.
        assert watch.look() == [DASHBOARD, SUMMARY, SUMMARY]
        watch.finish(suite="review")
        assert watch.look() == [DASHBOARD]


def test_a_project_without_heritage_suites_has_no_summary(toy: Project) -> None:
    assert refresh_summary_events(toy) == []


def test_an_incident_writes_the_dashboard(toy: Project) -> None:
    with instance_in(toy) as instance:
        watch = Watch(toy, instance)
        watch.look()
        with Incidents(database_url(toy)) as incidents:
            incidents.look_at("r1", "toy guess-v1.0", [Finding("trend", "critical", "it slides")])
        assert watch.look() == [DASHBOARD]
        assert "it slides" in (toy.state / "dashboard.html").read_text()
