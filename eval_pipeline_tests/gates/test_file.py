"""Gates: bounds, zones, their file, and the limits of the command line."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from eval_pipeline.gates import (
    ERROR_GATE,
    Bound,
    Gate,
    MeasuredModel,
    Regression,
    Zone,
    advise,
    doubt,
    gate_result,
    override,
    read_gates,
)
from eval_pipeline.gates.result import Status
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.suite import Reporting, Severity
from eval_pipeline.suites.decomposition import SUITE

HIGHER = Gate(fail="< 0.60", passes=">= 0.70", excellent=">= 0.85")
LOWER = Gate(fail="> 0.05", passes="<= 0.02", excellent="<= 0", warn="> 0")
BELOW, ABOVE = 0.3 - 0.02, 0.1 + 0.2
"""0.28 and 0.3 as floats give them: one a little less, one a little more."""


def test_the_floats_are_off_as_they_are_meant_to_be() -> None:
    assert BELOW < 0.28
    assert ABOVE > 0.3


@pytest.mark.parametrize(
    ("bound", "value", "holds"),
    [
        (">= 0.28", BELOW, True),
        (">= 0.28", 0.28 - 2e-9, False),
        ("<  0.28", BELOW, False),
        ("<  0.28", 0.28 - 2e-9, True),
        ("<= 0.3", ABOVE, True),
        ("<= 0.3", 0.3 + 2e-9, False),
        ("> 0.3", ABOVE, False),
        ("> 0.3", 0.3 + 2e-9, True),
        (">= 0.28", 0.28, True),
        ("<= 0.28", 0.28, True),
        ("> 0.28", 0.28, False),
        ("< 0.28", 0.28, False),
        ("<= 0.28", BELOW, True),
        ("> 0.28", BELOW, False),
        (">= -1", -1.0, True),
        ("<0", -1.0, True),
        ("> 0", 0.0, False),
    ],
)
def test_bounds_forgive_what_floats_do(bound: str, value: float, holds: bool) -> None:
    assert Bound.parse(bound).holds(value) is holds


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (">=0.70", ">= 70 %"),
        (" < 5 ", "< 500 %"),
        ("> 1e-3", "> 0.1 %"),
        ("<= -.5", "<= -50 %"),
        (">= +0.975", ">= 97.5 %"),
    ],
)
def test_bounds_are_shown_in_the_unit_of_their_metric(text: str, shown: str) -> None:
    assert Bound.parse(text).text("fraction") == shown
    assert Bound.parse(text).text("number") == str(Bound.parse(text).sign) + f" {Bound.parse(text).limit:g}"


@pytest.mark.parametrize(
    "text", ["", "0.7", ">=", "= 0.7", "=> 0.7", ">= 0.7 x", ">= nan", ">= 70 %", "> 0,7"]
)
def test_what_is_not_a_bound_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a bound"):
        Bound.parse(text)


@pytest.mark.parametrize(
    ("gate", "value", "zone"),
    [
        (HIGHER, 0.0, "fail"),
        (HIGHER, 0.6 - 2e-9, "fail"),
        (HIGHER, 0.6 - 5e-10, "between"),
        (HIGHER, 0.6, "between"),
        (HIGHER, 0.7 - 2e-9, "between"),
        (HIGHER, 0.7 - 5e-10, "pass"),
        (HIGHER, 0.7, "pass"),
        (HIGHER, 0.85 - 2e-9, "pass"),
        (HIGHER, 0.85 - 5e-10, "excellent"),
        (HIGHER, 1.0, "excellent"),
        (LOWER, 1.0, "fail"),
        (LOWER, 0.05 + 2e-9, "fail"),
        (LOWER, 0.05 + 5e-10, "between"),
        (LOWER, 0.05, "between"),
        (LOWER, 0.02 + 2e-9, "between"),
        (LOWER, 0.02 + 5e-10, "pass"),
        (LOWER, 0.02, "pass"),
        (LOWER, 2e-9, "pass"),
        (LOWER, 5e-10, "excellent"),
        (LOWER, 0.0, "excellent"),
        (Gate(fail="< 0.28", passes=">= 0.28"), BELOW, "pass"),
        (Gate(fail="> 0.3", passes="<= 0.3"), ABOVE, "pass"),
    ],
)
def test_zones(gate: Gate, value: float, zone: Zone) -> None:
    assert gate.zone(value) == zone


WARNING = Gate(fail="< 0.60", passes=">= 0.70", severity="warning")


@pytest.mark.parametrize(
    ("gate", "value", "applies", "zone", "status"),
    [
        (HIGHER, 0.9, True, "excellent", "pass"),
        (HIGHER, 0.7, True, "pass", "pass"),
        (HIGHER, 0.65, True, "between", "warn"),
        (HIGHER, 0.5, True, "fail", "fail"),
        (HIGHER, None, True, None, "fail"),
        (HIGHER, None, False, None, "not_applicable"),
        (HIGHER, 0.5, False, None, "not_applicable"),
        (WARNING, 0.5, True, "fail", "warn"),
        (WARNING, 0.7, True, "pass", "pass"),
        (LOWER, 0.0, True, "excellent", "pass"),
        (LOWER, 0.01, True, "pass", "warn"),
        (LOWER, 0.06, True, "fail", "fail"),
        (ERROR_GATE, 0.01, True, "pass", "pass"),
        (ERROR_GATE, 0.0101, True, "fail", "fail"),
    ],
)
def test_judgements(
    gate: Gate, value: float | None, applies: bool, zone: Zone | None, status: Status
) -> None:
    result = gate_result(gate, "metric", value, applies, "fraction")
    severity: Severity = "warning" if gate is WARNING else "critical"
    assert (result.zone, result.status, result.severity) == (zone, status, severity)
    assert result.value == (value if applies else None)
    assert result.message


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
        (3, "metrics.concept_recall.fail", "Expected 'str', got 'float'"),
        (4, "metrics.concept_recall.severity", "Invalid enum value 'low'"),
        (5, "metrics.concept_recall.colour", "is not a known field"),
    ]


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
    mild = Gate("< 0.6", ">= 0.7", severity="warning", regression=Regression(0.01, 0.05))
    changed = override({"concept_recall": mild}, "concept_recall=0.5", SUITE)["concept_recall"]
    assert (changed.severity, changed.regression) == ("warning", Regression(0.01, 0.05))


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


def test_a_value_that_is_no_number_fails() -> None:
    assert gate_result(HIGHER, "m", float("nan"), True, "fraction").status == "fail"


def test_metrics_may_be_called_by_an_alias() -> None:
    metrics = tuple(
        dataclasses.replace(each, aliases=("recall",)) if each.name == "concept_recall" else each
        for each in SUITE.metrics
    )
    suite = dataclasses.replace(SUITE, metrics=metrics)
    changed = override({"concept_recall": Gate("< 0.6", ">= 0.7")}, "recall=0.5", suite)
    assert (list(changed), changed["concept_recall"].fail) == (["concept_recall"], "< 0.5")
    with pytest.raises(ValueError, match="two metrics share a name"):
        dataclasses.replace(SUITE, metrics=(*metrics, metrics[0]))


def test_advice_is_attached_to_what_does_not_pass() -> None:
    suite = dataclasses.replace(
        SUITE, reporting=Reporting(advice=lambda statuses: dict.fromkeys(statuses, "Do something."))
    )
    gate = Gate("< 0.6", ">= 0.7")
    results = [gate_result(gate, str(value), value, True, "fraction") for value in (0.5, 0.65, 0.9)]
    assert [each.advice for each in advise(suite, results)] == ["Do something.", "Do something.", ""]
    assert advise(suite, results)[0].text == "50.0 % is in the fail zone (< 60 %). Do something."
    assert advise(SUITE, results) == tuple(results)


@pytest.mark.parametrize(
    ("gate", "value", "accuracy", "metrics", "status"),
    [
        (HIGHER, 0.9, 0.70, ("m",), "pass"),
        (HIGHER, 0.9, 0.69, ("m",), "warn"),
        (HIGHER, 0.9, 0.69, ("other",), "pass"),
        (HIGHER, 0.5, 0.69, ("m",), "fail"),
        (LOWER, 0.0, 0.98, ("m",), "pass"),
        (LOWER, 0.0, 0.97, ("m",), "warn"),
    ],
)
def test_a_weak_judge_never_lets_a_gate_simply_pass(
    gate: Gate, value: float, accuracy: float, metrics: tuple[str, ...], status: Status
) -> None:
    judged = gate_result(gate, "m", value, True, "fraction")
    doubted = doubt(judged, gate, [MeasuredModel("a classifier", metrics, accuracy, "")])
    assert doubted.status == status
    weak = "m" in metrics and accuracy in (0.69, 0.97)
    assert ("a classifier, right" in doubted.message) is weak


def test_a_metric_that_does_not_apply_needs_no_judge() -> None:
    judged = gate_result(HIGHER, "m", None, False, "fraction")
    assert doubt(judged, HIGHER, [MeasuredModel("a classifier", ("m",), 0.1, "")]) == judged
