"""Briefs come by themselves: schedules ask for runs, and the runs write pages."""

from __future__ import annotations

import datetime

import dagster as dg
import pytest

from eval_pipeline.automation.briefs import brief_request
from eval_pipeline.definitions import build_definitions
from eval_pipeline.orchestration import BRIEF_JOB
from eval_pipeline.project import Project
from eval_pipeline_tests.improvement.producing import event, keep

UNTIL = datetime.date(2026, 3, 3)


@pytest.mark.parametrize("rhythm", ["weekly", "monthly", "quarterly"])
def test_a_schedule_writes_a_brief_of_every_suite_with_events(toy: Project, rhythm: str) -> None:
    definitions = build_definitions(toy)
    schedule = definitions.resolve_schedule_def(f"brief_{rhythm}")
    at = datetime.datetime(2026, 3, 3, 6, tzinfo=datetime.UTC)
    with dg.DagsterInstance.ephemeral() as instance:
        none = schedule.evaluate_tick(dg.build_schedule_context(instance, scheduled_execution_time=at))
        assert none.run_requests == []
        keep(toy, [event(1, "toy", {"text": "x"}, None, error="timeout")])
        tick = schedule.evaluate_tick(dg.build_schedule_context(instance, scheduled_execution_time=at))
        assert tick.run_requests is not None
        (request,) = tick.run_requests
        assert request.run_config == brief_request("toy", rhythm, UNTIL).run_config
        result = definitions.resolve_job_def(BRIEF_JOB).execute_in_process(
            instance=instance, run_config=request.run_config, asset_selection=request.asset_selection
        )
    (written,) = result.asset_materializations_for_node("production__toy__brief")
    assert written.metadata["rhythm"].value == rhythm
    assert (toy.state / "briefs" / "toy" / f"{rhythm}-2026-03-02.html").is_file()
