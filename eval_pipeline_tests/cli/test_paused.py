"""Open critical incidents of production stop `gate` and `prompt activate`, unless they are approved."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.decisions import Finding, Incidents, Look
from eval_pipeline.monitoring import EventStore, event_table
from eval_pipeline.project import Project
from eval_pipeline.store import database_url
from eval_pipeline_tests.cli.recorded_toy import make_project, record, write_prompt
from eval_pipeline_tests.monitoring.served import MONDAY
from eval_pipeline_tests.running import invoke

VERSION = "guess-v1.0"
SUBJECT = "toy production error_rate"
FAILS = Finding("error_rate", "critical", "error_rate is 10 %.")


@pytest.fixture
def evaluated(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "toy")
    write_prompt(project, VERSION, "status: active", "engine: recorded")
    record(project, VERSION, 90)
    assert invoke(project, "golden", "freeze", "toy", "--reason", "fine", "--by", "Ada").returncode == 0
    assert invoke(project, "run", "toy").returncode == 0
    promoted = invoke(project, "baseline", "promote", "toy", VERSION, "--reason", "first", "--by", "Ada")
    assert promoted.returncode == 0, promoted.stderr
    return project


def found(project: Project, look: str, *findings: Finding) -> None:
    with Incidents(database_url(project)) as incidents:
        incidents.look_at_all(Look(look, str(MONDAY.date())), {SUBJECT: findings})


def test_deployments_are_paused_until_an_approval_or_the_recovery(evaluated: Project) -> None:
    unknown = invoke(evaluated, "gate", "toy")
    assert unknown.returncode == 0, unknown.stdout
    assert "production state unknown" in unknown.stdout
    with EventStore.of(evaluated) as store:
        store.keep(event_table([{"request_id": "r", "at": MONDAY, "suite": "toy"}]))
    found(evaluated, "first", FAILS)

    told = "production: deployments are paused while incident-1 is open: error_rate is 10 %."
    gate = invoke(evaluated, "gate", "toy")
    assert (gate.returncode, f"✗ {told}" in gate.stdout) == (1, True), gate.stdout
    assert "production state unknown" not in gate.stdout
    activated = invoke(evaluated, "prompt", "activate", "toy", VERSION)
    assert (activated.returncode, told in activated.stderr) == (1, True), activated.stderr
    assert f"eval-pipeline approve toy {VERSION} --metric incident-1 --reason …" in activated.stderr
    # What was evaluated is as good as it was: an evaluation is not a deployment.
    assert invoke(evaluated, "run", "toy").returncode == 0

    fix = ("--metric", "incident-1", "--reason", "mends it", "--by", "Ada")
    approved = invoke(evaluated, "approve", "toy", VERSION, *fix)
    assert approved.returncode == 0, approved.stderr
    gate = invoke(evaluated, "gate", "toy")
    assert (gate.returncode, told in gate.stdout) == (0, True), gate.stdout

    for file in (evaluated.golden("toy") / "approvals").glob("*.json"):
        file.unlink()
    assert invoke(evaluated, "gate", "toy").returncode == 1
    found(evaluated, "second")
    gate = invoke(evaluated, "gate", "toy")
    assert (gate.returncode, "paused" in gate.stdout) == (0, False), gate.stdout
