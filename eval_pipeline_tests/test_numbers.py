"""How numbers are shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.numbers import Unit, change, counted, limit, number, rough

UNITS: list[Unit] = ["fraction", "points", "number"]


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (None, "fraction", "–"),
        (None, "points", "–"),
        (0.0, "fraction", "0.0 %"),
        (1.0, "fraction", "100.0 %"),
        (0.1234, "fraction", "12.3 %"),
        (0.9999, "fraction", "100.0 %"),
        (-0.0, "fraction", "0.0 %"),
        (-0.0001, "fraction", "0.0 %"),
        (-0.15, "fraction", "−15.0 %"),
        (7.26, "points", "7.3 points"),
        (-0.04, "points", "0.0 points"),
        (0.12345678, "number", "0.123"),
        (1234.5, "number", "1,234.500"),
        (-0.00001, "number", "0.000"),
        (58.0, "number", "58"),
        (58, "number", "58"),
        (0.0, "number", "0"),
        (-0.0, "number", "0"),
        (1e20, "number", "100,000,000,000,000,000,000"),
        (-1234, "number", "−1,234"),
        (3000.4, "milliseconds", "3,000 ms"),
        (0.01234, "dollars", "$0.0123"),
    ],
)
def test_number(value: float | None, unit: Unit, shown: str) -> None:
    assert number(value, unit) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (None, "fraction", "–"),
        (0.05, "fraction", "+5.0 pp"),
        (-0.05, "fraction", "−5.0 pp"),
        (0.0, "fraction", "±0.0 pp"),
        (-0.0, "fraction", "±0.0 pp"),
        (0.0001, "fraction", "±0.0 pp"),
        (-0.0001, "fraction", "±0.0 pp"),
        (1.26, "points", "+1.3 points"),
        (-1.26, "points", "−1.3 points"),
        (0.04, "points", "±0.0 points"),
        (0.0004, "number", "±0.000"),
        (0.004, "number", "+0.004"),
        (1000.0, "number", "+1,000"),
        (-0.5, "dollars", "−$0.5000"),
        (-3.0, "number", "−3"),
        (0.0, "number", "±0"),
    ],
)
def test_change(value: float | None, unit: Unit, shown: str) -> None:
    assert change(value, unit) == shown


@given(st.floats(-10, 10), st.sampled_from(UNITS))
def test_opposite_changes_differ_in_their_sign_only(value: float, unit: Unit) -> None:
    signs = str.maketrans("+−", "−+")
    assert change(-value, unit) == change(value, unit).translate(signs)
    assert "-0.0 " not in number(value, unit)


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.7, "fraction", "70 %"),
        (0.07, "fraction", "7 %"),
        (0.975, "fraction", "97.5 %"),
        (3000, "milliseconds", "3,000 ms"),
        (1234567, "number", "1,234,567"),
        (0.05, "dollars", "$0.05"),
    ],
)
def test_limit(value: float, unit: Unit, shown: str) -> None:
    assert limit(value, unit) == shown


def test_numbers_of_a_scale_are_short() -> None:
    assert [rough(value, "number") for value in (0.5, 9000.0, 20_000.0, 4e6, 2e9)] == [
        "0.5", "9,000", "20 k", "4 M", "2 G"
    ]  # fmt: skip
    assert rough(20_000.0, "milliseconds") == "20 s"
    assert rough(4e6, "dollars") == "$4 M"
    assert rough(0.25) == "25 %"


@pytest.mark.parametrize(
    ("count", "words", "shown"),
    [
        (0, ("case",), "0 cases"),
        (1, ("case",), "1 case"),
        (2, ("case",), "2 cases"),
        (1234, ("case",), "1,234 cases"),
        (1, ("query", "queries"), "1 query"),
        (2, ("query", "queries"), "2 queries"),
    ],
)
def test_counted(count: int, words: tuple[str, ...], shown: str) -> None:
    assert counted(count, *words) == shown
