"""Repeated looks: the error that is spent is the error that is promised."""

from __future__ import annotations

import numpy as np
import pytest

from eval_pipeline.statistics.looks import LEVELS, Plan, nominal_levels


def test_one_look_changes_nothing() -> None:
    assert Plan(3, 3, 3).adjusted([0.01, 0.5], 3, 2.0).tolist() == [0.01, 0.5]


def test_two_equal_looks_have_pococks_level() -> None:
    """At two looks and 5 % two-sided, the level of both is 0.0294 (Pocock 1977)."""
    spent_first = np.log(0.0147 / 0.025) / np.log(0.5)
    levels = nominal_levels((0.5, 1.0), spent_first)
    first, last = (np.interp(0.025, LEVELS, levels[:, look]) for look in (0, 1))
    assert first == pytest.approx(0.0147, rel=0.01)
    assert last == pytest.approx(0.0147, rel=0.02)


@pytest.mark.parametrize("plan", [Plan(1, 5, 5), Plan(2, 4, 1), Plan(1, 2, 100)])
@pytest.mark.parametrize("exponent", [0.5, 2.0])
def test_false_alarms_over_all_looks_add_up_to_the_level(plan: Plan, exponent: float) -> None:
    from scipy import special

    random = np.random.default_rng(1)
    shares = np.array(plan.information)
    steps = random.normal(size=(200_000, len(shares))) * np.sqrt(np.diff(shares, prepend=0.0))
    p_values = special.ndtr(-np.cumsum(steps, axis=1) / np.sqrt(shares))
    looks = range(plan.minimum, plan.maximum + 1)
    rejected = [
        plan.adjusted(p_values[:, place], trials, exponent) <= 0.05 for place, trials in enumerate(looks)
    ]
    assert np.any(rejected, axis=0).mean() == pytest.approx(0.05, abs=0.002)


def test_adjustment_keeps_order_and_never_flatters() -> None:
    plan, p_values = Plan(1, 5, 3), np.array([1e-12, 1e-6, 0.001, 0.02, 0.3, 0.9, np.nan])
    for trials in range(1, 6):
        adjusted = plan.adjusted(p_values, trials, 2.0)
        assert (np.diff(adjusted[:-1]) > 0).all() or adjusted[-2] == 1
        assert (adjusted[:-1] >= p_values[:-1] * 0.999).all()
        assert np.isnan(adjusted[-1])


def test_a_plan_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="make no plan"):
        Plan(3, 2)
    with pytest.raises(ValueError, match="no trial"):
        Plan(1, 2, 0)
    with pytest.raises(ValueError, match="outside of the plan"):
        Plan(2, 4).adjusted(0.5, 1, 2.0)
