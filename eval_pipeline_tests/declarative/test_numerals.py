"""Numbers as people and models write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.declarative.numerals import as_number, numbers_in


@pytest.mark.parametrize(
    ("text", "decimal", "expected"),
    [
        ("42", ".", 42),
        (" -3.5 ", ".", -3.5),
        ("−7", ".", -7),
        ("1,234", ".", 1234),
        ("1,234,567.89", ".", 1234567.89),
        ("1 234 567", ".", 1234567),
        ("1'234.5", ".", 1234.5),
        ("1\u202f234,5", ",", 1234.5),
        ("1.234,5", ",", 1234.5),
        ("1.234", ",", 1234),
        ("1,5", ",", 1.5),
        ("6.02e23", ".", 6.02e23),
        ("1,23", ".", None),
        ("12,34,567", ".", None),
        ("1,234'567", ".", None),
        ("1.2.3", ".", None),
        ("1e999", ".", None),
        ("٤٢", ".", 42),
        ("forty-two", ".", None),
        ("", ".", None),
    ],
)
def test_a_number(text: str, decimal: str, expected: float | None) -> None:
    assert as_number(text, decimal) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The answer is 42.", [42]),
        ("about $1,234.50, or 12 %", [1234.5, 12]),
        ("in 2020 300 people", [2020, 300]),
        ("version v2 of item3", []),
        ("3,14 of 5", [5]),
        ("on 2024-05-06", [2024, 5, 6]),
    ],
)
def test_numbers_in_a_text(text: str, expected: list[float]) -> None:
    assert numbers_in(text) == expected


@given(st.decimals(-(10**9), 10**9, places=3, allow_nan=False))
def test_thousands_make_no_difference(number: object) -> None:
    assert as_number(f"{number:,}") == as_number(f"{number}") == float(number)  # type: ignore[arg-type]
