from __future__ import annotations

import os
from collections.abc import Iterator

import dagster as dg
import pytest

from eval_pipeline.automation.production import RANGE_END, RANGE_START, look_at_events
from eval_pipeline.definitions import build_definitions
from eval_pipeline.monitoring import read_production
from eval_pipeline.orchestration import FIGURES_JOB, INGEST_JOB, figures_key
from eval_pipeline.orchestration.production import EVENTS_KEY
from eval_pipeline.project import Project
from eval_pipeline_tests.monitoring.events_of import drop, flat
from eval_pipeline_tests.running import QUIET

TARGETS = """
suites:
  toy:
    targets:
      latency_p95_ms: {below: 1000}
      error_rate: {below: 0.01}
      feedback_points: {above: 4}
"""


@pytest.fixture
def instance(toy: Project) -> Iterator[dg.DagsterInstance]:
    (toy.root / "production.yaml").write_text(TARGETS)
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def run(project: Project, instance: dg.DagsterInstance, request: dg.RunRequest) -> dg.ExecuteInProcessResult:
    job = build_definitions(project).resolve_job_def(str(request.job_name))
    selection = request.asset_selection
    return job.execute_in_process(
        instance=instance, run_config=QUIET, tags=request.tags, asset_selection=selection
    )


def test_files_become_events_and_events_figures_in_one_run_each(
    toy: Project, instance: dg.DagsterInstance
) -> None:
    production = read_production(toy)
    assert list(look_at_events(toy, production)) == []
    rows = [flat(number, error="timeout" if number == 5 else None) for number in range(0, 3000, 10)]
    path = drop(toy, "a.jsonl", [*rows, "{"])
    assert list(look_at_events(toy, production)) == []  # it may still grow
    os.utime(path, (0, 0))
    (request,) = look_at_events(toy, production)
    assert request.job_name == INGEST_JOB
    taken = run(toy, instance, request)
    (event,) = taken.asset_materializations_for_node("production__events")
    assert event.asset_key == EVENTS_KEY
    assert event.metadata["events"].value == len(rows)
    (readable,) = taken.get_asset_check_evaluations()
    assert not readable.passed

    (request,) = look_at_events(toy, production)
    assert request.job_name == FIGURES_JOB
    assert request.tags == {RANGE_START: "2026-03-02", RANGE_END: "2026-03-04"}
    figures = run(toy, instance, request)
    days = [
        each.partition
        for each in figures.asset_materializations_for_node("production__toy__figures")
        if each.asset_key == figures_key("toy")
    ]
    assert days == ["2026-03-02", "2026-03-03", "2026-03-04"]
    checks = {each.check_name: each for each in figures.get_asset_check_evaluations()}
    passed = {name: check.passed for name, check in checks.items()}
    # What people think is unknown, and what is unknown meets no target.
    assert passed == {
        "target_latency_p95_ms": False,
        "target_error_rate": True,
        "target_feedback_points": False,
    }
    assert "feedback_points is unknown" in str(checks["target_feedback_points"].description)
    assert list(look_at_events(toy, production)) == []

    late = drop(toy, "late.jsonl", [flat(1)])
    os.utime(late, (0, 0))
    run(toy, instance, next(look_at_events(toy, production)))
    (request,) = look_at_events(toy, production)
    assert request.tags == {RANGE_START: "2026-03-02", RANGE_END: "2026-03-02"}
