"""Bounds and zones."""

from __future__ import annotations

import pytest

from eval_pipeline.gates import Bound, Gate, Zone, gate_result

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


def test_a_value_that_is_no_number_fails() -> None:
    assert gate_result(HIGHER, "m", float("nan"), True, "fraction").status == "fail"
