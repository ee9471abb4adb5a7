"""What a gate says of a value."""

from __future__ import annotations

import dataclasses

import pytest

from eval_pipeline.gates import ERROR_GATE, Gate, MeasuredModel, Zone, advise, doubt, gate_result
from eval_pipeline.gates.result import Status
from eval_pipeline.reports import gate_label
from eval_pipeline.suite import Reporting, Severity
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline_tests.gates.test_gate import HIGHER, LOWER

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


def test_advice_is_attached_to_what_does_not_pass() -> None:
    reporting = Reporting(advice=lambda statuses: dict.fromkeys(statuses, "Do something."))
    suite = dataclasses.replace(SUITE, reporting=reporting)
    gate = Gate(fail="< 0.6", passes=">= 0.7")
    results = [gate_result(gate, str(value), value, True, "fraction") for value in (0.5, 0.65, 0.9)]
    assert [each.advice for each in advise(suite, results)] == ["Do something.", "Do something.", ""]
    assert advise(suite, results)[0].text == "50.0 % is in the fail zone (< 60 %). Do something."
    assert advise(SUITE, results) == tuple(results)


@pytest.mark.parametrize(
    ("gate", "value", "accuracy", "metrics", "interval"),
    [
        (HIGHER, 0.9, 0.70, ("m",), None),
        (HIGHER, 0.9, 0.69, ("m",), (0.59, 1.0)),
        (HIGHER, 0.9, 0.69, ("other",), None),
        (HIGHER, 0.5, 0.69, ("m",), (0.19, 0.81)),
        (HIGHER, 0.9, 0.60, ("m",), (0.5, 1.0)),
        (LOWER, 0.0, 0.98, ("m",), None),
        (LOWER, 0.0, 0.97, ("m",), (0.0, 0.03)),
    ],
)
def test_a_weak_judge_leaves_an_interval_and_no_warning(
    gate: Gate, value: float, accuracy: float, metrics: tuple[str, ...], interval: tuple[float, float] | None
) -> None:
    """A warning that stands on every run, and that no change of a prompt removes, is not read."""
    judged = gate_result(gate, "m", value, True, "fraction")
    doubted = doubt(judged, gate, [MeasuredModel("a classifier", metrics, accuracy, "")], "fraction")
    assert doubted.status == judged.status
    assert doubted.interval == (pytest.approx(interval) if interval else None)
    assert ("its error leaves" in doubted.message) is bool(interval)


@pytest.mark.parametrize(
    ("gate", "status"), [(HIGHER, "fail"), (WARNING, "warn"), (Gate(fail="< 0.2", passes=">= 0.3"), "fail")]
)
def test_a_judge_that_tosses_coins_is_unusable_and_passes_nothing(gate: Gate, status: Status) -> None:
    """Its error would leave 40 to 100 % of a perfect value: no interval, and no pass by luck."""
    judged = gate_result(gate, "m", 0.9, True, "fraction")
    doubted = doubt(judged, gate, [MeasuredModel("a coin", ("m",), 0.55, "")], "fraction")
    assert (doubted.status, doubted.zone, doubted.interval) == (status, None, None)
    assert "(a coin, right 55.0 % of the time) is unusable" in doubted.message
    assert "unusable judge" in gate_label(doubted).text


def test_a_metric_that_does_not_apply_needs_no_judge() -> None:
    judged = gate_result(HIGHER, "m", None, False, "fraction")
    assert doubt(judged, HIGHER, [MeasuredModel("a classifier", ("m",), 0.1, "")], "fraction") == judged
