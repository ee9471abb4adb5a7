"""The gates file, and the limits of the command line."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from eval_pipeline.gates import ERROR_GATE, Gate, Regression, override, plain_gates, read_gates
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline_tests.gates.test_gate import HIGHER


def read(path: Path, text: str) -> tuple[dict[str, Gate], list[tuple[int, str, str]]]:
    path.write_text(text)
    problems = Problems()
    gates = read_gates(SUITE, path, problems)
    return gates, [(problem.line, problem.field, problem.message) for problem in problems]


def test_a_good_file_gets_the_gate_on_errors_as_well(tmp_path: Path) -> None:
    text = 'metrics:\n  concept_recall: {fail: "< 0.60", pass: ">= 0.70", excellent: ">= 0.85"}\n'
    assert read(tmp_path / "gates.yaml", text) == ({"concept_recall": HIGHER, "error_rate": ERROR_GATE}, [])


def test_the_gate_on_errors_may_be_set(tmp_path: Path) -> None:
    text = 'metrics:\n  error_rate: {fail: "> 0", pass: "<= 0"}\n'
    assert read(tmp_path / "gates.yaml", text)[0] == {"error_rate": Gate(fail="> 0", passes="<= 0")}


@pytest.mark.parametrize("text", ["", "metrics: {}", "metrics: [1]", "gates: 1"])
def test_the_gate_on_errors_is_always_there(tmp_path: Path, text: str) -> None:
    assert read(tmp_path / "gates.yaml", text)[0] == {"error_rate": ERROR_GATE}
    assert read_gates(SUITE, tmp_path / "missing.yaml", Problems()) == {"error_rate": ERROR_GATE}


def test_what_is_wrong_is_named_with_its_line(tmp_path: Path) -> None:
    text = """metrics:
  concept_recall:
    fail: "< 0.60"
    pass: 0.70 or more
    excellent: "=> 0.85"
  taste: {fail: "< 0.6", pass: ">= 0.7"}
  concept_f1: {fail: "< 0.6", pass: ">= 0.7",
    warn: often}
"""
    gates, found = read(tmp_path / "gates.yaml", text)
    assert gates == {"error_rate": ERROR_GATE}
    assert found == [
        (4, "metrics.concept_recall.pass", "'0.70 or more' is not a bound"),
        (5, "metrics.concept_recall.excellent", "'=> 0.85' is not a bound"),
        (6, "metrics.taste", "is not a metric of the suite"),
        (8, "metrics.concept_f1.warn", "'often' is not a bound"),
    ]


def test_what_has_the_wrong_type_is_named_with_its_line(tmp_path: Path) -> None:
    text = "metrics:\n  concept_recall:\n    fail: 0.6\n    severity: low\n    colour: red\n"
    assert read(tmp_path / "gates.yaml", text)[1] == [
        (2, "metrics.concept_recall.pass", "is missing"),
        (3, "metrics.concept_recall.fail", "is a number, not a bound"),
        (4, "metrics.concept_recall.severity", "'low' is not a choice"),
        (5, "metrics.concept_recall.colour", "is not a known field"),
    ]


BROKEN = """metrics:
  concept_recal: {fail: "< 0.6", pass: ">= 0.7"}
  concept_precision:
    fial: "< 0.5"
    pass: "<= 0.65"
    excellent: ">= 80"
    severity: warn
    regression: {investigate: -1, block: 0.05}
  hallucination_rate:
    fail: "> 0.05"
    pass: 0.02
    regression: {investigate: 0.05, block: 0.01}
    inconclusive: blok
  error_rate: {fail: "> 0.5", pass: "<= 0.5"}
  concept_f1: low
operations:
  latency_p95_ms: {fail: "< 5000", pass: "<= 3000"}
  latency_p50_ms: {fail: "> 5000", pass: "<= 3000"}
gates: {}
"""


def test_every_problem_of_a_file_whatever_else_is_wrong(tmp_path: Path) -> None:
    path, problems = tmp_path / "gates.yaml", Problems()
    path.write_text(BROKEN)
    assert read_gates(SUITE, path, problems) == {"error_rate": ERROR_GATE}
    told = [str(each).removeprefix(f"{path}:") for each in problems]
    assert told[0].startswith(
        "2: metrics.concept_recal: is not a metric of the suite. Did you mean concept_recall? "
    )
    assert told[1:] == [
        "4: metrics.concept_precision.fial: is not a known field. Did you mean fail?",
        "5: metrics.concept_precision.pass: '<= 0.65' points the wrong way. "
        "Of this metric higher values are better.",
        "6: metrics.concept_precision.excellent: '>= 80' is out of range. "
        "This metric is a fraction: 5 % is 0.05.",
        "7: metrics.concept_precision.severity: 'warn' is not a choice. Did you mean warning? "
        "Choices: critical, warning.",
        "8: metrics.concept_precision.regression.investigate: is less than 0. Write 0 or more.",
        "11: metrics.hallucination_rate.pass: is a number, not a bound. Write for example '>= 0.70'.",
        "12: metrics.hallucination_rate.regression.block: is less than investigate. "
        "Let the larger drop block.",
        "13: metrics.hallucination_rate.inconclusive: 'blok' is not a choice. Did you mean block? "
        "Choices: investigate, block.",
        "14: metrics.error_rate.fail: '> 0.5' is too lenient. More than 1 % fails in every suite.",
        "15: metrics.concept_f1: is a text, not a set of fields. Write name: value on lines below it.",
        "17: operations.latency_p95_ms.fail: '< 5000' points the wrong way. "
        "Of this metric lower values are better.",
        "18: operations.latency_p50_ms: 'latency_p50_ms' is not a choice. Did you mean latency_p95_ms? "
        "Choices: latency_p95_ms, cost_usd_per_answer.",
        "19: gates: is not a known field. Known: metrics, operations.",
    ]


def test_gates_are_identified_by_every_field_as_a_file_spells_it() -> None:
    assert plain_gates(
        {"m": Gate(fail="< 1", passes=">= 1", regression=Regression(investigate=0, block=1))}
    ) == {
        "m": {
            "fail": "< 1",
            "pass": ">= 1",
            "excellent": None,
            "warn": None,
            "severity": "critical",
            "regression": {"investigate": 0.0, "block": 1.0, "beyond": "block"},
            "inconclusive": "investigate",
        }
    }


def limits(text: str) -> dict[str, tuple[str, str]]:
    changed = override({"concept_recall": HIGHER, "error_rate": ERROR_GATE}, text, SUITE)
    return {name: (gate.fail, gate.passes) for name, gate in changed.items()}


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", {}),
        ("concept_recall=0.5", {"concept_recall": ("< 0.5", ">= 0.5")}),
        ("error_rate=0.2", {"error_rate": ("> 0.2", "<= 0.2")}),
        (
            " concept_f1 = 1 , hallucination_rate=.1,",
            {"concept_f1": ("< 1", ">= 1"), "hallucination_rate": ("> .1", "<= .1")},
        ),
        ("concept_recall=0.5,concept_recall=0.6", {"concept_recall": ("< 0.6", ">= 0.6")}),
    ],
)
def test_limits_of_the_command_line_replace_the_files(text: str, changed: dict[str, tuple[str, str]]) -> None:
    assert limits(text) == {**limits(""), **changed}


@pytest.mark.parametrize("text", ["concept_recall", "taste=1", "concept_recall=high", "error_rate=nan", "=1"])
def test_what_is_not_a_limit_is_refused(text: str) -> None:
    with pytest.raises(BadInput) as raised:
        limits(f"{text},error_rate=0.1,other=2")
    assert [problem.field for problem in raised.value.problems] == ["--gates", "--gates"]
    assert f"{text!r} is not a gate" in str(raised.value)


def test_a_bound_that_points_the_wrong_way_is_refused(tmp_path: Path) -> None:
    text = "metrics:\n  concept_recall:\n    fail: '> 0.6'\n    pass: '<= 0.7'\n"
    assert [(line, field) for line, field, _ in read(tmp_path / "gates.yaml", text)[1]] == [
        (3, "metrics.concept_recall.fail"),
        (4, "metrics.concept_recall.pass"),
    ]


def test_an_override_changes_limits_only() -> None:
    mild = Gate(
        fail="< 0.6", passes=">= 0.7", severity="warning", regression=Regression(investigate=0.01, block=0.05)
    )
    changed = override({"concept_recall": mild}, "concept_recall=0.5", SUITE)["concept_recall"]
    assert (changed.severity, changed.regression) == ("warning", Regression(investigate=0.01, block=0.05))


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("  hallucination_rate: {fail: '> 5', pass: '<= 2'}", "hallucination_rate.fail"),
        ("  concept_recall: {fail: '< 0.6', pass: '>= 70'}", "concept_recall.pass"),
        (
            "  concept_recall: {fail: '< 0.6', pass: '>= 0.7', regression: {investigate: 1, block: 5}}",
            "concept_recall.regression.block",
        ),
        (
            "  concept_recall: {fail: '< 0.6', pass: '>= 0.7', regression: {investigate: 0.05, block: 0.01}}",
            "concept_recall.regression.block",
        ),
        ("  error_rate: {fail: '> 1', pass: '<= 1'}", "error_rate.fail"),
    ],
)
def test_a_gate_that_would_never_fire_is_refused(tmp_path: Path, text: str, field: str) -> None:
    found = read(tmp_path / "gates.yaml", f"metrics:\n{text}\n")[1]
    assert f"metrics.{field}" in [each for _, each, _ in found]


def test_metrics_may_be_called_by_an_alias() -> None:
    metrics = tuple(
        dataclasses.replace(each, aliases=("recall",)) if each.name == "concept_recall" else each
        for each in SUITE.metrics
    )
    suite = dataclasses.replace(SUITE, metrics=metrics)
    changed = override({"concept_recall": Gate(fail="< 0.6", passes=">= 0.7")}, "recall=0.5", suite)
    assert (list(changed), changed["concept_recall"].fail) == (["concept_recall"], "< 0.5")
    with pytest.raises(ValueError, match="two metrics share a name"):
        dataclasses.replace(SUITE, metrics=(*metrics, metrics[0]))
