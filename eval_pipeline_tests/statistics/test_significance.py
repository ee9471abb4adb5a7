"""Tests of one difference: agreement with SciPy and statsmodels, and stated answers for degenerate input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from eval_pipeline.statistics.significance import (
    TestName,
    bootstrap_means,
    bootstrap_weights,
    mcnemar,
    predicted_hits,
    significance_test,
    wilson,
)

TESTS: tuple[TestName, ...] = ("paired_t", "wilcoxon", "bootstrap", "permutation")
SCORES = arrays(np.float64, st.integers(2, 12), elements=st.floats(0, 1, width=32))


def sides(seed: int, cases: int, shift: float = 0.05) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    before = random.random(cases)
    return before, before + random.normal(shift, 0.1, cases)


@pytest.mark.parametrize("seed", range(10))
def test_paired_t_agrees_with_scipy(seed: int) -> None:
    before, after = sides(seed, 3 + 7 * seed)
    found, expected = significance_test(before, after), stats.ttest_rel(after, before)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("seed", range(10))
def test_wilcoxon_agrees_with_scipy(seed: int) -> None:
    before, after = sides(seed, 5 + 7 * seed)
    found, expected = significance_test(before, after, "wilcoxon"), stats.wilcoxon(after, before)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))


@pytest.mark.parametrize("seed", range(3))
def test_permutation_agrees_with_scipy(seed: int) -> None:
    before, after = sides(seed, 4 + 2 * seed)
    expected = stats.permutation_test(
        (after, before), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=10**6
    )
    assert significance_test(before, after, "permutation").p_value == pytest.approx(expected.pvalue)


def test_sign_flip_of_many_cases_is_near_the_t_test() -> None:
    before, after = sides(3, 200, shift=0.012)
    found = significance_test(before, after, "permutation", seed=1)
    assert found.p_value == pytest.approx(significance_test(before, after).p_value, abs=0.01)
    assert found == significance_test(before, after, "permutation", seed=1)


@pytest.mark.parametrize("seed", range(3))
def test_bootstrap_agrees_with_scipy(seed: int) -> None:
    before, after = sides(seed, 80)
    found = significance_test(before, after, "bootstrap", seed=seed)
    expected = stats.bootstrap(
        (after - before,), np.mean, n_resamples=10_000, method="percentile", random_state=seed
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.002)


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (0, 1), (1, 6), (7, 7), (3, 12), (40, 60)])
def test_mcnemar_agrees_with_statsmodels(lost: int, won: int) -> None:
    from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels

    expected = mcnemar_of_statsmodels([[5, lost], [won, 5]], exact=True).pvalue if lost + won else 1.0
    assert mcnemar(lost, won) == pytest.approx(expected)
    before = np.array([1.0] * lost + [0.0] * won + [1.0, 0.0])
    after = np.array([0.0] * lost + [1.0] * won + [1.0, 0.0])
    assert significance_test(before, after, "mcnemar").p_value == pytest.approx(expected)


@given(st.integers(1, 500), st.floats(0, 1), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_wilson_agrees_with_statsmodels(total: int, share: float, confidence: float) -> None:
    from statsmodels.stats.proportion import proportion_confint

    successes = round(share * total)
    expected = proportion_confint(successes, total, alpha=1 - confidence, method="wilson")
    assert wilson(successes, total, confidence) == pytest.approx(expected)


def test_no_canary_in_a_hundred_concepts_still_allows_three_to_four_percent() -> None:
    bounds = wilson(0, 100)
    assert bounds is not None
    assert bounds.low == 0
    assert 0.03 < bounds.high < 0.04
    assert wilson(0, 0) is None


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    ("before", "after", "difference", "p_value"),
    [
        ([0.5, 0.5], [0.5, 0.5], 0.0, 1.0),
        ([0.1, 0.2, 0.9], [0.1, 0.2, 0.9], 0.0, 1.0),
        ([0.1, 0.2], [0.3, 0.4], 0.2, 0.5),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.0, 0.1, 0.2, 0.3, 0.4, 0.5], -0.1, 1 / 32),
    ],
)
def test_without_scatter_the_sign_flip_speaks(
    test: TestName, before: list[float], after: list[float], difference: float, p_value: float
) -> None:
    found = significance_test(before, after, test)
    assert (found.difference, found.p_value) == pytest.approx((difference, p_value))
    assert (found.low, found.high) == pytest.approx((difference, difference))
    assert found.significant == (p_value <= 0.05)


@pytest.mark.parametrize("test", TESTS)
def test_one_case_has_a_difference_and_no_p_value(test: TestName) -> None:
    found = significance_test([0.4], [0.6], test)
    assert found.difference == pytest.approx(0.2)
    assert (found.p_value, found.low, found.high, found.significant) == (None, None, None, False)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([], [], "no case"),
        ([0.1, 0.2], [0.1], "2 values before and 1 after"),
        ([0.1, float("nan")], [0.1, 0.2], "finite"),
        ([0.1, 0.2], [0.1, float("inf")], "finite"),
        ([[0.1], [0.2]], [0.1, 0.2], "1 axes, not 2"),
        (0.5, [0.1, 0.2], "1 axes, not 0"),
        ([0.1, 0.2], [], "2 values before and 0 after"),
    ],
)
def test_what_cannot_be_paired_is_refused(before: Any, after: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        significance_test(before, after)


def test_wrong_names_levels_and_values_are_refused() -> None:
    with pytest.raises(ValueError, match="is not a test"):
        significance_test([0.1, 0.2], [0.2, 0.5], "anova")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="alpha must lie between"):
        significance_test([0.1, 0.2], [0.2, 0.5], alpha=1.5)
    with pytest.raises(ValueError, match="0 or 1"):
        significance_test([0.1, 0.2], [0.2, 0.5], "mcnemar")
    with pytest.raises(ValueError, match="no rate"):
        wilson(3, 2)
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 2)
    with pytest.raises(ValueError, match="at least one case"):
        next(bootstrap_weights(0, seed=1))


@pytest.mark.parametrize("test", ["paired_t", "bootstrap"])
def test_alpha_is_honoured(test: TestName) -> None:
    before, after = sides(2, 40, shift=0.03)
    strict, lax = (significance_test(before, after, test, alpha) for alpha in (0.001, 0.3))
    assert strict.low is not None
    assert lax.low is not None
    assert strict.low < lax.low
    assert (strict.significant, lax.significant) == (False, True)


@settings(max_examples=40, deadline=None)
@given(SCORES, st.integers(0, 2**32 - 1), st.sampled_from(["paired_t", "wilcoxon", "permutation"]))
def test_swapping_the_sides_flips_the_sign(before: Any, seed: int, test: TestName) -> None:
    after = np.random.default_rng(seed).permutation(before)
    there, back = significance_test(before, after, test), significance_test(after, before, test)
    assert there.difference == pytest.approx(-back.difference, abs=1e-12)
    assert there.p_value == pytest.approx(back.p_value)
    if there.low is not None and back.high is not None:
        assert there.low == pytest.approx(-back.high, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(SCORES, st.integers(0, 2**32 - 1), st.floats(0.5, 20), st.floats(-5, 5))
def test_scale_and_shift_of_both_sides_change_nothing(
    before: Any, seed: int, scale: float, shift: float
) -> None:
    before = np.round(before, 3)
    after = np.random.default_rng(seed).permutation(before)
    plain = significance_test(before, after)
    moved = significance_test(scale * before + shift, scale * after + shift)
    assert moved.difference == pytest.approx(scale * plain.difference, abs=1e-9)
    assert moved.p_value == pytest.approx(plain.p_value, abs=1e-6)


def test_all_metrics_share_the_weights_of_a_resample() -> None:
    values = np.random.default_rng(1).random((30, 3))
    together = bootstrap_means(values, seed=5, resamples=200)
    alone = bootstrap_means(values[:, 1:2], seed=5, resamples=200)
    assert together[:, 1] == pytest.approx(alone[:, 0])
    weights = np.concatenate(list(bootstrap_weights(30, seed=5, resamples=200)))
    assert weights.shape == (200, 30)
    assert (weights.sum(axis=1) == 30).all()


@given(st.integers(1, 60), st.integers(0, 200), st.integers(0, 200), st.sampled_from([0.5, 0.9, 0.99]))
def test_predicted_hits_are_the_quantile_of_the_beta_binomial(
    draws: int, hits: int, misses: int, confidence: float
) -> None:
    predicted = predicted_hits(draws, hits, hits + misses, confidence)
    known = stats.betabinom(draws, hits + 0.5, misses + 0.5)
    assert known.cdf(predicted) >= confidence - 1e-9
    assert predicted == 0 or known.cdf(predicted - 1) < confidence + 1e-9
