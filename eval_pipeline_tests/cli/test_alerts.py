from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval_pipeline.monitoring import EventStore, event_table
from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.monitoring.served import served
from eval_pipeline_tests.running import invoke


@pytest.mark.slow
def test_alerts_and_open_incidents(tmp_path: Path) -> None:
    project = Project(REPOSITORY, tmp_path)
    rows = [served(number, error=None if number % 5 else "timeout") for number in range(60)]
    with EventStore.of(project) as store:
        store.keep(event_table(rows))
    before = invoke(project, "alerts", "decomposition")
    assert (before.returncode, "incident-1" in before.stdout) == (0, False), before.stderr
    assert "crossed" in before.stdout
    looked = invoke(project, "alerts", "decomposition", "--look")
    assert "incident-1 (critical, deployments are paused): error_rate is 20.0 %" in looked.stdout
    data = json.loads(invoke(project, "alerts", "decomposition", "--json").stdout)
    states = {each["alert"]: each["state"] for each in data["alerts"]}
    assert states["error_rate"] == "crossed"
    assert states["latency_p95_ms"] == "kept"
    assert states["concepts_per_answer"] == "unsure"
    assert [each["severity"] for each in data["incidents"]] == ["critical"]
