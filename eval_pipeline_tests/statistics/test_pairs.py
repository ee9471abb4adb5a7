"""Pairing: what each case contributes to a difference of means, of ratios, and of anything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from eval_pipeline.statistics.estimates import Estimate
from eval_pipeline.statistics.pairs import LeaveOneOut, Moments, of_means, of_ratios, paired

Values = NDArray[np.float64]


def moments(before: LeaveOneOut, after: LeaveOneOut) -> Moments:
    return paired(before, after).moments


def of_formula(formula: Callable[[Values], Values], counts: Values) -> LeaveOneOut:
    """Metrics that any formula makes of summed `counts[case, trial, column]`, the last columns its items."""
    cases, trials, columns = counts.shape
    total = counts.sum(axis=0)
    without, alone = (
        formula(rows.reshape(cases * trials, columns)).reshape(cases, trials, -1)
        for rows in (total - counts, counts)
    )
    items = counts[..., 1:].sum(axis=-1, keepdims=True)
    return LeaveOneOut(formula(total), without, alone, np.broadcast_to(items, alone.shape))


def f1(sums: Values) -> Values:
    """2·tp ÷ (predicted + expected)."""
    with np.errstate(invalid="ignore"):
        return (2 * sums[:, 0] / (sums[:, 1] + sums[:, 2]))[:, np.newaxis]


def counts(seed: int, cases: int = 12, trials: int = 3) -> Values:
    random = np.random.default_rng(seed)
    predicted, expected = random.integers(1, 9, (2, cases, trials))
    return np.stack([random.binomial(np.minimum(predicted, expected), 0.7), predicted, expected], -1).astype(
        float
    )


def test_of_a_mean_each_case_contributes_its_own_value() -> None:
    values = np.random.default_rng(1).random((2, 7, 3, 2))
    pairs = paired(of_means(values[0]), of_means(values[1]))
    assert pairs.contributions[0] == pytest.approx(values[0])
    assert pairs.differences == pytest.approx((values[1] - values[0]).mean(axis=1))


def test_the_interval_of_a_mean_is_the_paired_t_interval_of_case_means() -> None:
    before = np.random.default_rng(2).random((15, 1, 3)) + np.random.default_rng(4).normal(0, 0.1, (15, 4, 3))
    after = before + np.random.default_rng(3).normal(0, 0.5, (15, 1, 3))
    estimate = Estimate(moments(of_means(before), of_means(after)))
    expected = stats.ttest_rel(after.mean(axis=1), before.mean(axis=1))
    interval = expected.confidence_interval(0.95)
    low, high = estimate.interval()
    assert low == pytest.approx(interval.low)
    assert high == pytest.approx(interval.high)


def test_of_a_ratio_each_case_contributes_what_it_adds_to_the_numerator() -> None:
    """Cases of 1, 2 and 7 items: of 3 ÷ 10 before and 5 ÷ 10 after each holds its own part."""
    items = np.array([1.0, 2.0, 7.0])[:, np.newaxis, np.newaxis]
    before, after = (np.array(each)[:, np.newaxis, np.newaxis] for each in ([1.0, 1.0, 1.0], [0.0, 2.0, 3.0]))
    pairs = paired(of_ratios(before, items), of_ratios(after, items))
    assert pairs.differences[:, 0] == pytest.approx(3 * (after - before)[:, 0, 0] / 10)
    assert pairs.shares[:, 0] == pytest.approx([0.1, 0.2, 0.7])
    found = pairs.moments
    assert found.effective == pytest.approx(1 / (0.01 + 0.04 + 0.49))
    assert (found.heaviest.tolist(), found.share.tolist()) == ([2], [0.7])
    assert found.without_heaviest == pytest.approx([2 / 3 - 2 / 3])
    assert found.equal_difference == pytest.approx([(-1 + 0.5 + 2 / 7) / 3])
    assert pairs.influences[:, 0] == pytest.approx([0.2 - (5 - 2) / 9, 0.2 - (3 - 2) / 8, 0.2 - 0.0])


def test_a_plain_sum_has_no_shares() -> None:
    """Without items every case adds its own: three cases of one more each are three more."""
    before, after = np.array([4.0, 2.0, 0.0]), np.array([5.0, 3.0, 1.0])
    sides = [
        LeaveOneOut(
            np.array([[each.sum()]]),
            (each.sum() - each)[:, np.newaxis, np.newaxis],
            each[:, np.newaxis, np.newaxis],
            np.zeros((3, 1, 1)),
        )
        for each in (before, after)
    ]
    pairs = paired(*sides)
    assert pairs.differences[:, 0] == pytest.approx([3.0, 3.0, 3.0])
    assert pairs.moments.spread == pytest.approx([0.0])
    assert pairs.moments.p_rise == pytest.approx([1 / 8])
    assert not pairs.unequal.any()


def test_a_mean_is_a_ratio_and_a_ratio_is_a_formula() -> None:
    random = np.random.default_rng(3)
    above, below = random.random((2, 9, 2, 1)), random.integers(1, 5, (2, 9, 2, 1)).astype(float)
    ratio = moments(*(of_ratios(above[side], below[side]) for side in (0, 1)))
    formula = moments(
        *(
            of_formula(
                lambda sums: sums[:, :1] / sums[:, 1:], np.concatenate([above[side], below[side]], axis=-1)
            )
            for side in (0, 1)
        )
    )
    assert formula.difference == pytest.approx(ratio.difference)
    assert formula.spread == pytest.approx(ratio.spread)
    means = moments(*(of_means(above[side]) for side in (0, 1)))
    ones = moments(*(of_ratios(above[side], np.ones_like(above[side])) for side in (0, 1)))
    assert ones.spread == pytest.approx(means.spread)


def test_the_scatter_of_f1_agrees_with_a_bootstrap() -> None:
    before, after = counts(4, cases=200), counts(5, cases=200)
    estimate = Estimate(moments(of_formula(f1, before), of_formula(f1, after)))
    random = np.random.default_rng(6)
    drawn = random.multinomial(200, np.full(200, 1 / 200), size=3000).astype(float)
    resampled = [
        np.mean([f1(drawn @ side[:, trial])[:, 0] for trial in range(3)], axis=0) for side in (before, after)
    ]
    assert estimate.standard_error[0] == pytest.approx((resampled[1] - resampled[0]).std(), rel=0.08)


def test_cases_to_which_a_metric_does_not_apply_are_not_counted() -> None:
    values = np.random.default_rng(7).random((2, 6, 2, 1))
    with_gaps = np.concatenate([values, np.full((2, 4, 2, 1), np.nan)], axis=1)
    plain = moments(of_means(values[0]), of_means(values[1]))
    gaps = moments(of_means(with_gaps[0]), of_means(with_gaps[1]))
    assert gaps.cases.tolist() == [6]
    assert gaps.spread == pytest.approx(plain.spread)
    assert gaps.trial_variance == pytest.approx(plain.trial_variance)


def test_what_a_formula_reads_of_other_cases_is_no_share_of_the_metric() -> None:
    """As of the questions that cannot be answered, by a formula that also reads how many can be."""
    own = np.array([[1.0, 0.0, 0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]])
    one = np.ones((6, 1, 1))
    sides = [of_ratios(each[:, np.newaxis, np.newaxis], one) for each in own]
    beside = [
        LeaveOneOut(
            side.whole,
            np.concatenate([side.without, np.broadcast_to(side.whole, (9, 1, 1))]),
            np.concatenate([side.alone, np.full((9, 1, 1), np.nan)]),
            np.concatenate([side.items, np.full((9, 1, 1), 2.0)]),
        )
        for side in sides
    ]
    expected, found = (Estimate(paired(*each).moments) for each in (sides, beside))
    for each in (expected, found):
        assert each.moments.total == pytest.approx([1.0])
    assert np.array(found.interval()) == pytest.approx(np.array(expected.interval()))


def test_a_value_that_hangs_on_one_case_has_no_interval() -> None:
    """Precision where a single case predicted anything: without it nothing is left to divide by."""
    above, below = np.zeros((5, 1, 1)), np.zeros((5, 1, 1))
    above[0], below[0] = 1, 2
    found = Estimate(moments(of_ratios(above, below), of_ratios(np.ones((5, 1, 1)), np.full((5, 1, 1), 2.0))))
    assert found.moments.difference == pytest.approx([0.0])
    assert np.isnan(found.interval()[0]).all()
    assert np.isnan(found.p_value).all()


@pytest.mark.parametrize("cases", [0, 1])
def test_too_few_cases_have_no_interval(cases: int) -> None:
    side = of_means(np.full((cases, 2, 1), 0.5))
    found = Estimate(moments(side, side))
    assert found.moments.cases.tolist() == [cases]
    assert np.isnan(found.interval()).all()
    assert np.isnan(found.p_value).all()


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: paired(of_means(np.ones((3, 1, 1))), of_means(np.ones((4, 1, 1)))), "3 cases × 1 metrics"),
        (lambda: paired(of_means(np.ones((3, 1, 1))), of_means(np.ones((3, 1, 2)))), "do not fit"),
        (lambda: paired(of_means(np.ones((1, 1, 1))), of_means(np.ones((3, 1, 1)))), "do not fit"),
        (lambda: of_means(np.ones((3, 1))), "axes case, trial and metric"),
        (lambda: of_means(np.ones((3, 0, 1))), "no trial"),
        (lambda: of_means(np.full((3, 1, 1), np.inf)), "infinite"),
        (lambda: of_ratios(np.ones((3, 1, 1)), np.ones((3, 1, 2))), "do not belong together"),
        (lambda: of_ratios(np.full((3, 1, 1), np.nan), np.ones((3, 1, 1))), "finite"),
    ],
)
def test_what_does_not_fit_is_refused(build: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        build()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.randoms())
def test_the_order_of_cases_and_trials_does_not_matter(seed: int, random: Any) -> None:
    before, after = counts(seed), counts(seed + 1)
    cases, trials = random.sample(range(12), 12), random.sample(range(3), 3)
    plain = moments(of_formula(f1, before), of_formula(f1, after))
    shuffled = moments(of_formula(f1, before[cases]), of_formula(f1, after[cases][:, trials]))
    assert shuffled.difference == pytest.approx(plain.difference)
    assert shuffled.spread == pytest.approx(plain.spread)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_swapping_the_sides_flips_the_difference_and_nothing_else(seed: int) -> None:
    before, after = of_formula(f1, counts(seed)), of_formula(f1, counts(seed + 1, trials=2))
    there, back = Estimate(moments(before, after)), Estimate(moments(after, before))
    assert there.moments.difference == pytest.approx(-back.moments.difference)
    assert there.interval()[0] == pytest.approx(-back.interval()[1])
    assert there.p_fell == pytest.approx(back.p_rose)
