"""Intervals of single values: Wilson's and Student's where they apply, and coverage where neither does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from eval_pipeline.statistics.pairs import of_means, of_ratios
from eval_pipeline.statistics.significance import wilson
from eval_pipeline.statistics.values import value_intervals

FRACTION = np.array([True])


@pytest.mark.parametrize(("right", "cases"), [(21, 28), (1, 2), (0, 6), (6, 6), (50, 190)])
def test_cases_that_are_right_or_wrong_have_wilsons_interval(right: int, cases: int) -> None:
    values = np.zeros((cases, 1, 1))
    values[:right] = 1.0
    low, high, counted = value_intervals(of_means(values), FRACTION)
    assert (low[0], high[0]) == pytest.approx(wilson(right, cases))
    assert counted[0] == cases


def test_what_is_no_fraction_has_students_interval() -> None:
    values = np.array([3.0, 8.0, 1.0, 4.0, 12.0])
    low, high, _ = value_intervals(of_means(values.reshape(-1, 1, 1)), np.array([False]))
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high))


def test_one_case_tells_no_interval_and_cases_without_a_value_do_not_count() -> None:
    low, high, counted = value_intervals(of_means([[[0.4]]]), FRACTION)
    assert np.isnan([low[0], high[0]]).all()
    values = np.array([0.5, np.nan, 0.7, np.nan]).reshape(-1, 1, 1)
    assert value_intervals(of_means(values), FRACTION)[2] == [2]
    assert counted == [1]


def test_trials_of_a_case_are_no_further_cases() -> None:
    values = np.array([0.2, 0.9, 0.6, 0.7, 1.0]).reshape(-1, 1, 1)
    once, thrice = (value_intervals(of_means(np.repeat(values, each, axis=1)), FRACTION) for each in (1, 3))
    assert once[0] == pytest.approx(thrice[0])
    assert once[1] == pytest.approx(thrice[1])


@pytest.mark.parametrize("cases", [6, 12, 28])
@pytest.mark.parametrize("pooled", [False, True])
def test_it_holds_what_it_promises(cases: int, pooled: bool) -> None:
    """Graded scores, and rates over items of which cases hold few or many: 95 % within simulation error."""
    random = np.random.default_rng(cases)
    worlds = 1500
    if pooled:
        held = random.integers(1, 8, (cases, 1, worlds))
        skill = random.beta(8, 2, (cases, 1, worlds))
        side, truth = of_ratios(random.binomial(held, skill), held), 0.8
    else:
        side, truth = of_means(random.beta(3, 1.5, (cases, 1, worlds))), 3 / 4.5
    low, high, _ = value_intervals(side, np.full(worlds, True))
    assert 0.93 <= ((low <= truth) & (truth <= high)).mean() <= 0.99
