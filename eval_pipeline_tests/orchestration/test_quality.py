from __future__ import annotations

import datetime

import dagster as dg
import pytest

from eval_pipeline.automation.production import RANGE_END, RANGE_START
from eval_pipeline.automation.watching import build_watching, quality_requests
from eval_pipeline.decisions import open_incidents
from eval_pipeline.definitions import build_definitions
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import EventStore, event_table, read_production
from eval_pipeline.orchestration import QUALITY_JOB, quality_key, sample_key
from eval_pipeline.project import Project
from eval_pipeline_tests.monitoring.served import DAY, LATER, MONDAY
from eval_pipeline_tests.running import QUIET

TARGETS = """
sampling: {rate: 1.0}
suites:
  toy:
    quality:
      contract_valid: {above: 0.8}
      usable: {above: 0.95}
      human_accuracy: {above: 0.8}
"""


def event(number: int) -> dict[str, object]:
    return {
        "request_id": f"r{number}",
        "at": MONDAY + number * datetime.timedelta(hours=1),
        "suite": "toy",
        "input": '{"sound": "woof"}',
        "output": '{"animal": "dog", "hints": []}' if number % 10 else "a dog",
        "error": "timeout" if number == 71 else None,
    }


@pytest.fixture
def watched(toy: Project) -> Project:
    (toy.root / "production.yaml").write_text(TARGETS)
    with EventStore.of(toy) as store:
        store.keep(event_table([event(number) for number in range(72)]))
    return toy


def test_stale_days_are_drawn_and_measured_in_one_run(watched: Project) -> None:
    production = read_production(watched)
    (request,) = quality_requests(watched, production, LATER)
    assert request.job_name == QUALITY_JOB
    assert request.tags == {RANGE_START: "2026-03-02", RANGE_END: "2026-03-04"}
    job = build_definitions(watched).resolve_job_def(QUALITY_JOB)
    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(
            instance=instance, run_config=QUIET, tags=request.tags, asset_selection=request.asset_selection
        )
    days = {
        key: [each.partition for each in result.get_asset_materialization_events() if each.asset_key == key]
        for key in (sample_key("toy"), quality_key("toy"))
    }
    assert set(map(len, days.values())) == {3}
    checks = {each.check_name: each for each in result.get_asset_check_evaluations()}
    passed = {name: check.passed for name, check in checks.items()}
    assert passed == {
        "target_contract_valid": True,
        "target_usable": False,
        "target_human_accuracy": False,  # nobody rated any, and what is unknown is no target met
    }
    assert "surely missed" in str(checks["target_usable"].description)
    assert "Nobody" in str(checks["target_human_accuracy"].description)
    assert list(quality_requests(watched, production, LATER)) == []


def test_days_are_drawn_again_when_they_close(watched: Project) -> None:
    production = read_production(watched)
    open_ = MONDAY + 4 * DAY
    first = list(quality_requests(watched, production, open_))
    closed = list(quality_requests(watched, production, LATER))
    assert [each.tags for each in first] == [each.tags for each in closed]
    assert first[0].run_key != closed[0].run_key


def test_the_sensor_opens_incidents_once(watched: Project) -> None:
    with EventStore.of(watched) as store:
        late = [
            {**event(1), "request_id": f"x{number}", "error": "timeout", "at": MONDAY + 5 * DAY}
            for number in range(40)
        ]
        store.keep(event_table(late), name="late")
    sensor = build_watching(watched, [find_suite(watched, "toy")], read_production(watched))
    with dg.DagsterInstance.ephemeral() as instance, dg.build_sensor_context(instance=instance) as context:
        first = sensor.evaluate_tick(context)
        assert len(first.asset_events) == 1
        assert [each.check for each in (open_incidents(watched, "toy") or [])[0].findings] == ["error_rate"]
        again = sensor.evaluate_tick(context)
    assert (list(again.asset_events), again.skip_message) == ([], "No incident changed.")


def test_without_events_nothing_starts(toy: Project) -> None:
    production = read_production(toy)
    assert list(quality_requests(toy, production, LATER)) == []
    assert not (toy.state / "events").exists()
