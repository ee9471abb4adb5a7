"""What a comparison could have seen, against statsmodels' power of the paired t-test."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eval_pipeline.statistics.power import cases_needed, minimum_detectable_effect, trials_needed


@pytest.mark.parametrize("cases", [10, 15, 30, 100, 1000])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 14])
def test_the_detectable_effect_agrees_with_statsmodels(cases: int, alpha: float) -> None:
    from statsmodels.stats.power import TTestPower

    effect = minimum_detectable_effect(1 / math.sqrt(cases), cases - 1, alpha=alpha)
    found = TTestPower().power(float(effect), cases, alpha, alternative="larger")
    assert found == pytest.approx(0.80, abs=0.03)


@pytest.mark.parametrize(("spread", "effect"), [(0.1, 0.05), (0.2, 0.05), (0.2, 0.02), (0.3, 0.1)])
def test_the_number_of_cases_agrees_with_statsmodels(spread: float, effect: float) -> None:
    from statsmodels.stats.power import TTestPower

    expected = TTestPower().solve_power(effect / spread, power=0.8, alpha=0.05, alternative="larger")
    assert float(cases_needed(spread, effect)) == pytest.approx(expected, abs=1.5, rel=0.01)


def test_cases_needed_is_where_the_detectable_effect_meets_the_wanted_one() -> None:
    needed = float(cases_needed(0.2, 0.05))
    assert minimum_detectable_effect(0.2 / math.sqrt(needed), needed - 1) <= 0.05
    assert minimum_detectable_effect(0.2 / math.sqrt(needed - 2), needed - 3) > 0.05


def test_degenerate_scatter_and_effect() -> None:
    assert cases_needed(0.0, 0.05) == 2
    assert cases_needed(0.1, 0.0) == math.inf
    assert np.isnan(minimum_detectable_effect(0.1, 0))
    assert minimum_detectable_effect(0.0, 10) == 0


def test_trials_cannot_average_out_what_differs_between_cases() -> None:
    few = trials_needed(0.0, 0.02, 30, 3, 0.05)
    assert 1 <= few <= 100
    assert trials_needed(0.05, 0.02, 30, 3, 0.05) == math.inf
    assert trials_needed(0.0, 0.02, 30, 3, 0.10) <= few
