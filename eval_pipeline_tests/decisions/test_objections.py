"""The one blocking policy, and that everybody who asks it gets the same answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.comparison import Comparison, MetricChange
from eval_pipeline.comparison.records import Action
from eval_pipeline.decisions import Approval, FailedCheck, Objections, Standing, objections
from eval_pipeline.gates import GateResult
from eval_pipeline.project import Project
from eval_pipeline.scoring import Evaluation, Identity, Summary
from eval_pipeline_tests.cli.recorded_toy import make_project, record, write_prompt
from eval_pipeline_tests.running import invoke

OUTPUTS = OutputsIdentity("toy", "guess-v1.0", "p", "i", "recorded", "m", "default", 1)
FAILS = GateResult("accuracy", 0.4, "fail", "fail", "critical", "40.0 % is in the fail zone.")
WARNS = GateResult("accuracy", 0.6, "between", "warn", "critical", "60.0 % is between.")
PASSES = GateResult("accuracy", 0.9, "pass", "pass", "critical", "90.0 % passes.")
SLOW = GateResult("latency_p95_ms", 900.0, "fail", "fail", "critical", "900 ms is in the fail zone.")


def evaluation(gate: GateResult, *operations: GateResult, errors: int = 0) -> Evaluation:
    kinds = {"timeout": errors} if errors else {}
    summary = Summary("toy", 200, 1, kinds, {}, {}, {}, (gate,))
    return Evaluation("e", Identity(OUTPUTS, "g", "s"), "now", summary, (), operations)


def standing(action: Action, *approved: str, doubtful: bool = False) -> Standing:
    change = MetricChange(
        "accuracy", 0.9, 0.8, -0.1, "pass", "pass", True, "regressed", action, "", "", None, doubtful
    )
    compared = Comparison("toy", "b", "a", (), 9, (), (), (), (change,), (), (), "regressed", action)
    return Standing(compared, (approval(*approved),) if approved else ())


def approval(*metrics: str) -> Approval:
    times = ("2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00")
    return Approval("toy", "v", "b", metrics, "meant", "Ada", *times, "key", "", None, OUTPUTS)


def weights(found: Objections) -> list[tuple[str, bool]]:
    return [(each.weight, each.approved) for each in found]


@pytest.mark.parametrize(
    ("against", "expected", "state"),
    [
        (objections(evaluation(PASSES), []), [], "pass"),
        (objections(evaluation(WARNS), []), [("warns", False)], "warn"),
        (objections(evaluation(FAILS), []), [("blocks", False)], "block"),
        (objections(evaluation(FAILS), [], [approval("accuracy")]), [("blocks", True)], "approved"),
        (objections(evaluation(FAILS), [], [approval("another")]), [("blocks", False)], "block"),
        (objections(evaluation(PASSES, SLOW), []), [("blocks", False)], "block"),
        (objections(evaluation(PASSES, errors=1), []), [("holds", False)], "warn"),
        (
            objections(evaluation(PASSES, errors=1), [], [approval("error_rate")]),
            [("holds", True)],
            "approved",
        ),
        (objections(None, [standing("proceed")]), [], "pass"),
        (objections(None, [standing("investigate")]), [("warns", False)], "warn"),
        (objections(None, [standing("investigate", doubtful=True)]), [("holds", False)], "warn"),
        (objections(None, [standing("needs_approval")]), [("blocks", False)], "block"),
        (objections(None, [standing("block")]), [("blocks", False)], "block"),
        (objections(None, [standing("block", "accuracy")]), [("blocks", True)], "approved"),
        (objections(None, [standing("block", "another")]), [("blocks", False)], "block"),
        (
            objections(None, [], failed=[FailedCheck("domains", "too few", True)]),
            [("blocks", False)],
            "block",
        ),
        (objections(None, [], failed=[FailedCheck("domains", "too few", False)]), [("warns", False)], "warn"),
        (
            objections(evaluation(WARNS), [standing("proceed"), standing("block")]),
            [("warns", False), ("blocks", False)],
            "block",
        ),
    ],
)
def test_what_speaks_against_an_evaluation(
    against: Objections, expected: list[tuple[str, bool]], state: str
) -> None:
    assert weights(against) == expected
    assert against.state == state
    assert bool(against.blocking) is (state == "block")
    assert all(each in against.holding for each in against.blocking)


def test_a_release_waits_for_what_only_warns_a_change() -> None:
    unsure = objections(evaluation(PASSES), [standing("investigate", doubtful=True)])
    assert not unsure.blocking
    assert [each.metrics for each in unsure.holding] == [("accuracy",)]


@pytest.fixture
def evaluated(tmp_path: Path) -> Project:
    """A version with good answers that take too long, and a baseline."""
    project = make_project(tmp_path / "toy")
    write_prompt(project, "guess-v1.0", "status: active", "engine: recorded")
    record(project, "guess-v1.0", 90)
    assert invoke(project, "golden", "freeze", "toy", "--reason", "fine", "--by", "Ada").returncode == 0
    assert invoke(project, "run", "toy").returncode == 0
    promoted = invoke(project, "baseline", "promote", "toy", "guess-v1.0", "--reason", "first", "--by", "Ada")
    assert promoted.returncode == 0, promoted.stderr
    return project


def test_run_gate_promotion_activation_and_report_agree_on_a_limit(evaluated: Project) -> None:
    """A critical limit on latency once blocked the gate and not the run."""
    outputs = evaluated.root / "recorded" / "toy" / "guess-v1.0.jsonl"
    lines = [json.loads(line) | {"latency_ms": 900.0} for line in outputs.read_text().splitlines()]
    outputs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    gates = evaluated.golden("toy") / "gates.yaml"
    gates.write_text(gates.read_text() + "operations:\n  latency_p95_ms: {fail: '> 500', pass: '<= 500'}\n")
    run = invoke(evaluated, "run", "toy")
    message = "latency_p95_ms: 900 ms is in the fail zone (> 500 ms)."
    assert (run.returncode, f"✗ {message}" in run.stdout) == (1, True), run.stdout
    gate = invoke(evaluated, "gate", "toy")
    assert (gate.returncode, f"✗ {message}" in gate.stdout) == (1, True), gate.stdout
    promoted = invoke(evaluated, "baseline", "promote", "toy", "guess-v1.0", "--reason", "x")
    assert (promoted.returncode, message in promoted.stderr) == (1, True)
    activated = invoke(evaluated, "prompt", "activate", "toy", "guess-v1.0")
    assert (activated.returncode, message in activated.stderr) == (1, True)
    folder = evaluated.state / "evaluations" / "toy" / "guess-v1.0"
    report = (folder / (folder / "latest").read_text() / "report.md").read_text()
    assert report.startswith("# guess-v1.0: ✗ is blocked\n")
