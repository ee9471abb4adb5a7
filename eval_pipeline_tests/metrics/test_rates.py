"""Rates, and what they are where they are undefined."""

from __future__ import annotations

from statistics import harmonic_mean as oracle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.metrics.rates import harmonic_mean, ratio

FRACTIONS = st.floats(0.001, 1)


@pytest.mark.parametrize(
    ("numerator", "denominator", "value"),
    [(1, 4, 0.25), (0, 4, 0.0), (4, 4, 1.0), (0, 0, None), (3, 0, None), (0, 0.0, None)],
)
def test_ratio(numerator: float, denominator: float, value: float | None) -> None:
    assert ratio(numerator, denominator) == value


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [(0, 0, 0.0), (0, 1, 0.0), (1, 1, 1.0), (0.5, 1, 2 / 3), (0.6, 0.3, 0.4)],
)
def test_harmonic_mean(first: float, second: float, value: float) -> None:
    assert harmonic_mean(first, second) == pytest.approx(value)


@given(FRACTIONS, FRACTIONS)
def test_harmonic_mean_agrees_with_the_standard_library(first: float, second: float) -> None:
    assert harmonic_mean(first, second) == pytest.approx(oracle([first, second]))
    assert harmonic_mean(first, second) == harmonic_mean(second, first)
