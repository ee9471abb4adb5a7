"""Verdicts: what each means, at its edges and on degenerate input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from eval_pipeline.statistics.estimates import Estimate
from eval_pipeline.statistics.looks import Plan
from eval_pipeline.statistics.pairs import Moments, of_means, of_ratios, paired
from eval_pipeline.statistics.stopping import progress
from eval_pipeline.statistics.verdicts import Rules, judge, judge_together

Values = NDArray[np.float64]
RULES = Rules.of(0.05, noticeable=0.01)


def compared(before: Any, after: Any) -> Moments:
    """Sides with one metric; a list is one trial of each case."""
    sides = [np.asarray(each, dtype=float) for each in (before, after)]
    sides = [each[:, np.newaxis] if each.ndim == 1 else each for each in sides]
    return paired(*(of_means(each[..., np.newaxis]) for each in sides)).moments


def noisy(seed: int, cases: int, shift: float, noise: float, trials: int = 1) -> Moments:
    random = np.random.default_rng(seed)
    base = random.uniform(0.3, 0.7, (cases, 1))
    return compared(
        base + random.normal(0, noise, (cases, trials)),
        base + shift + random.normal(0, noise, (cases, trials)),
    )


def verdict(moments: Moments, rules: Rules = RULES) -> str:
    return str(judge(moments, rules).verdict[0])


@pytest.mark.parametrize(
    ("shift", "noise", "expected"),
    [
        (-0.10, 0.02, "regressed"),
        (-0.02, 0.01, "regressed"),  # below the tolerance, yet surely there: a person looks
        (0.10, 0.02, "improved"),
        (0.0, 0.02, "unchanged"),
        (-0.005, 0.001, "unchanged"),  # surely there, and too small to be called a change
        (-0.06, 0.2, "inconclusive"),
        (-0.10, 0.8, "inconclusive"),
    ],
)
def test_verdicts(shift: float, noise: float, expected: str) -> None:
    assert verdict(noisy(1, 40, shift, noise)) == expected


def test_a_drop_beyond_the_tolerance_that_may_be_chance_is_inconclusive_and_says_what_it_takes() -> None:
    found = judge(noisy(1, 15, -0.12, 0.2), RULES)
    assert found.difference[0] < -0.05
    assert found.verdict[0] == "inconclusive"
    assert found.adjusted_p[0] > 0.05
    assert found.minimum_detectable_effect[0] > 0.05
    assert found.cases_needed[0] > 15


def test_where_lower_is_better_a_rise_is_a_regression() -> None:
    rules = Rules.of(0.05, noticeable=0.01, direction=-1)
    assert verdict(noisy(1, 40, 0.10, 0.02), rules) == "regressed"
    assert verdict(noisy(1, 40, -0.10, 0.02), rules) == "improved"


def test_identical_scores_are_a_fact_without_an_interval() -> None:
    found = judge(compared([0.2, 0.8, 0.5], [0.2, 0.8, 0.5]), RULES)
    assert (found.difference[0], found.p_value[0], found.adjusted_p[0]) == (0, 1, 1)
    assert found.verdict[0] == "identical"
    unknown = [found.low[0], found.high[0], found.minimum_detectable_effect[0]]
    assert np.isnan(unknown).all()  # nothing shows what noise there would be


@pytest.mark.parametrize(("cases", "p_value"), [(2, 0.5), (3, 0.25), (5, 1 / 16)])
def test_a_constant_shift_has_the_sign_flips_p(cases: int, p_value: float) -> None:
    before = np.linspace(0.3, 0.9, cases)
    found = judge(compared(before, before - 0.1), RULES)
    assert found.p_value[0] == pytest.approx(p_value)
    assert found.adjusted_p[0] == pytest.approx(p_value / 2)
    assert found.verdict[0] == ("regressed" if cases == 5 else "inconclusive")


def test_one_trial_of_right_or_wrong_gets_mcnemars_p() -> None:
    before, after = [1.0] * 10 + [0.0] * 3, [0.0] * 6 + [1.0] * 5 + [0.0] * 2
    found = judge(compared(before, after), RULES)
    assert found.p_value[0] == pytest.approx(0.125)  # 6 lost, 1 won
    assert found.adjusted_p[0] == pytest.approx(0.0625)


def test_right_or_wrong_over_several_trials_gets_the_clustered_test() -> None:
    """What a case adds beyond its trials counts: t on case means, not McNemar on all answers."""
    before = np.repeat([[1.0], [1.0], [0.0], [1.0], [1.0]], 3, axis=1)
    after = np.repeat([[1.0], [0.0], [0.0], [0.0], [1.0]], 3, axis=1)
    after[4, 0] = 0
    expected = stats.ttest_rel(after.mean(axis=1), before.mean(axis=1)).pvalue
    assert Estimate(compared(before, after)).p_value == pytest.approx([expected])


def test_scatter_within_the_noise_of_trials_is_pooled_with_it() -> None:
    """Four cases that happen to agree do not make a small difference significant."""
    random = np.random.default_rng(6)
    before = random.normal(0.5, 0.2, (4, 3))
    after = random.normal(0.5, 0.2, (4, 3))
    after += (before.mean(axis=1) - after.mean(axis=1) - [0.019, 0.02, 0.021, 0.02])[:, np.newaxis]
    found = Estimate(compared(before, after))
    assert found.moments.spread[0] < 0.001
    assert found.freedom == pytest.approx([3 + 4 * 4])
    assert found.p_value[0] > 0.5


def test_scatter_beyond_the_noise_of_trials_is_not_pooled() -> None:
    random = np.random.default_rng(6)
    before = random.normal(0.5, 0.01, (6, 3))
    after = before + random.normal(0, 0.3, (6, 1))
    found = Estimate(compared(before, after))
    assert found.freedom == pytest.approx([5])
    expected = stats.ttest_rel(after.mean(axis=1), before.mean(axis=1)).pvalue
    assert found.p_value == pytest.approx([expected])


def test_agreement_by_luck_does_not_close_the_interval() -> None:
    """Nine of ten right answers agree, and the tenth is won: that excludes no drop of five points."""
    found = judge(compared([1.0] * 9 + [0.0], np.ones(10)), RULES)
    assert found.low[0] < -0.1
    assert found.high[0] > 0.2
    assert found.verdict[0] == "inconclusive"
    assert found.minimum_detectable_effect[0] > 0.1


def test_copies_of_an_answer_exclude_nothing_that_one_does_not() -> None:
    before, after = np.ones((40, 1)), np.ones((40, 1))
    before[0], after[1] = 0, 0
    once, often = (judge(compared(before.repeat(n, 1), after.repeat(n, 1)), RULES) for n in (1, 5))
    assert once.low == pytest.approx(often.low)
    assert once.verdict[0] == often.verdict[0] == "inconclusive"


@pytest.mark.parametrize(("cases", "expected"), [(8, "inconclusive"), (100, "unchanged")])
def test_few_cases_that_barely_differ_exclude_no_rare_loss(cases: int, expected: str) -> None:
    """One case of eight moved by a hundredth; each of the others could still be lost one day."""
    before = np.linspace(0.5, 1.0, cases)
    after = before.copy()
    after[0] += 0.01
    assert verdict(compared(before, after)) == expected


@pytest.mark.parametrize("cases", [2, 3, 4])
def test_fewer_than_five_cases_exclude_nothing(cases: int) -> None:
    before = np.linspace(0.3, 0.9, cases)
    assert verdict(compared(before, before + 0.001)) == "inconclusive"


@pytest.mark.parametrize(
    ("shift", "direction", "expected"),
    [(0.03, 1, "no worse"), (-0.03, -1, "no worse"), (-0.03, 1, "inconclusive")],
)
def test_what_may_have_moved_only_for_the_better_is_no_worse(
    shift: float, direction: int, expected: str
) -> None:
    before = np.linspace(0.3, 0.7, 12)
    after = before + shift + 0.06 * np.array([-1, 1] * 6)
    assert verdict(compared(before, after), Rules.of(0.05, noticeable=0.04, direction=direction)) == expected


def test_the_exclusion_is_two_one_sided_t_tests() -> None:
    before, after = np.random.default_rng(3).normal(0.6, 0.05, (2, 25))
    estimate = Estimate(compared(before, after))
    differences = after - before
    for sign, side in ((-1.0, "greater"), (1.0, "less")):
        expected = stats.ttest_1samp(differences, sign * 0.05, alternative=side).pvalue
        assert estimate.p_moved_by(np.array([0.05]), np.array([sign])) == pytest.approx([expected])


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_exclusion_allows_for_skewed_differences_of_right_or_wrong(sign: float) -> None:
    """Five trials before, one after: of thirty cases three fell far, nine rose a little."""
    before = np.array([[1.0] * 5] * 3 + [[1.0] * 4 + [0.0]] * 9 + [[1.0] * 5] * 18)
    estimate = Estimate(compared(before, np.array([0.0] * 3 + [1.0] * 27)))
    differences = np.array([-1.0] * 3 + [0.2] * 9 + [0.0] * 18)
    # Two cases more: halfway between what differing cases differ by and what one trial may.
    rate, within = (141 / 150 + 0.9) / 2, (9 * 0.8) / (30 * 4)
    flip = 1 - within / (rate * (1 - rate)) * (1 - (1 / 5 + 1) / 2)
    added = np.sqrt((flip + (3 + 9 * 0.04) / 12) / 2)
    sample = sign * np.concatenate([differences, [added, -added]])
    root = np.sqrt(len(sample))
    far = (0.05 - sample.mean()) / (sample.std() / root)
    skew = -stats.skew(sample) / root
    expected = stats.norm.sf(far + skew / 6 + skew * far**2 / 3 + skew**2 * far**3 / 27)
    assert estimate.p_moved_by(np.array([0.05]), np.array([sign])) == pytest.approx([expected])
    plain = stats.norm.sf(far)
    assert (expected > plain) == (sign < 0)  # what fell far makes it harder to exclude a fall


@pytest.mark.parametrize("cases", [0, 1])
def test_too_few_cases_are_inconclusive_unless_nothing_differs(cases: int) -> None:
    found = judge(compared(np.full(cases, 0.9), np.full(cases, 0.2)), RULES)
    assert np.isnan(found.p_value[0])
    assert found.verdict[0] == ("identical" if cases == 0 else "inconclusive")
    assert verdict(compared([0.5], [0.5])) == "identical"


def test_ten_of_ten_that_fell_are_seen_beside_an_outlier() -> None:
    """By t an outlier hides the fall of every other case (p 0.07); sign flips see it (2 in 1024)."""
    before = np.full(10, 0.9)
    after = before - [0.9, *np.linspace(0.03, 0.05, 9)]
    found = judge(compared(before, after), RULES)
    assert stats.ttest_rel(after, before).pvalue > 0.1
    assert found.p_value[0] == pytest.approx(2 / 1024)
    assert found.verdict[0] == "regressed"
    assert found.high[0] == 0  # the interval agrees with the test


def pooled(before: Any, after: Any, sizes: Any) -> Moments:
    """Ratios of sums, as rates of cases of some sizes."""
    items = np.asarray(sizes, dtype=float)[:, np.newaxis, np.newaxis]
    rates = [np.asarray(each, dtype=float)[:, np.newaxis, np.newaxis] for each in (before, after)]
    return paired(*(of_ratios(each * items, items) for each in rates)).moments


def test_equal_weights_convince_where_a_giant_case_hides_a_fall() -> None:
    """One case holds half of the items and rose by 50 points; thirty others all fell by about 80."""
    sizes = np.array([1.0] * 30 + [30.0])
    before = np.array([0.9] * 30 + [0.3])
    after = np.array([*np.linspace(0.05, 0.15, 30), 0.8])
    found = pooled(before, after, sizes)
    assert (found.share[0], found.difference[0]) == (pytest.approx(0.5), pytest.approx(-0.15))
    assert Estimate(found).p_fell[0] > 0.2
    assert verdict(found) == "regressed"
    assert judge(found, RULES).adjusted_p[0] < 1e-6
    assert verdict(found, Rules.of(0.20, noticeable=0.01)) == "inconclusive"  # the whole fell by less


def test_a_family_of_two_comparisons_is_corrected_like_twice_as_many_metrics() -> None:
    first, second = noisy(1, 20, -0.05, 0.1), noisy(2, 20, 0.02, 0.1)
    both = judge_together([Estimate(first), Estimate(second)], [RULES, RULES])
    alone = judge(first, RULES)
    assert both[0].adjusted_p == pytest.approx(2 * alone.adjusted_p)
    assert both[0].minimum_detectable_effect > alone.minimum_detectable_effect


def test_a_metric_that_is_gone_has_regressed() -> None:
    there, gone = np.ones((4, 1, 1)), np.zeros((4, 1, 1))
    assert verdict(paired(of_ratios(there, there), of_ratios(gone, gone)).moments) == "regressed"
    assert verdict(paired(of_ratios(gone, gone), of_ratios(there, there)).moments) == "improved"
    assert verdict(paired(of_ratios(gone, gone), of_ratios(gone, gone)).moments) == "identical"


def test_trials_are_a_cluster_and_not_more_cases() -> None:
    """Repeating every trial tells nothing new: the interval stays as wide."""
    before, after = np.random.default_rng(5).random((2, 12, 1))
    once, often = (
        Estimate(compared(before.repeat(times, 1), after.repeat(times, 1))).interval()[0] for times in (1, 9)
    )
    assert once == pytest.approx(often)


def test_directions_may_differ_within_a_family() -> None:
    """Two metrics fell: one that should rise and one that should fall."""
    random = np.random.default_rng(2)
    before = random.uniform(0.3, 0.7, (20, 1, 2))
    after = before - 0.1 + random.normal(0, 0.02, before.shape)
    found = judge(
        paired(of_means(before), of_means(after)).moments,
        Rules.of(0.05, noticeable=0.01, direction=np.array([1.0, -1.0])),
    )
    assert found.verdict.tolist() == ["regressed", "improved"]


def test_more_metrics_ask_for_more_evidence() -> None:
    random = np.random.default_rng(8)
    before = random.uniform(0.3, 0.7, (20, 1, 14))
    after = before + random.normal(0, 0.1, before.shape)
    after[..., 0] -= 0.06
    family = judge(paired(of_means(before), of_means(after)).moments, RULES)
    alone = judge(paired(of_means(before[..., :1]), of_means(after[..., :1])).moments, RULES)
    assert family.adjusted_p[0] > alone.adjusted_p[0]
    assert family.minimum_detectable_effect[0] > alone.minimum_detectable_effect[0]


def test_rules_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        Rules.of(-0.1)
    with pytest.raises(ValueError, match="negative"):
        Rules.of(float("nan"))
    with pytest.raises(ValueError, match="direction"):
        Rules.of(0.1, direction=0.5)
    with pytest.raises(ValueError, match="alpha"):
        Rules.of(0.1, alpha=0)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30), st.floats(-0.2, 0.2), st.floats(0.001, 0.3))
def test_swapping_the_sides_swaps_the_changes(seed: int, cases: int, shift: float, noise: float) -> None:
    random = np.random.default_rng(seed)
    before = random.random(cases)
    after = before + shift + random.normal(0, noise, cases)
    there, back = judge(compared(before, after), RULES), judge(compared(after, before), RULES)
    assert there.adjusted_p == pytest.approx(back.adjusted_p)
    opposite = {"regressed": "improved", "improved": "regressed"}
    if there.verdict[0] in opposite:
        assert back.verdict[0] == opposite[str(there.verdict[0])]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 50))
def test_the_unit_does_not_matter(seed: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    before, after = random.random((2, 10))
    points = Rules.of(0.05 * scale, noticeable=0.01 * scale)
    assert verdict(compared(scale * before, scale * after), points) == verdict(compared(before, after))


def look(difference: float, noise: float, trials: int, cases: int = 40) -> Moments:
    """The first trials of a comparison with a side that has five, at exactly that difference."""
    before, after = np.random.default_rng(4).normal(0.6, noise, (2, cases, 5))
    after = after[:, :trials]
    return compared(before, after - after.mean() + before.mean() + difference)


PLAN = Plan(1, 5, 5)


@pytest.mark.parametrize(
    ("difference", "noise", "trials", "reason"),
    [
        (0.0, 0.02, 1, "settled"),
        (-0.2, 0.1, 1, "settled"),
        (-0.06, 0.9, 4, "futile"),
        (-0.08, 0.25, 1, None),
        (-0.05, 1.5, 5, "out_of_trials"),
    ],
)
def test_reasons_to_stop(difference: float, noise: float, trials: int, reason: str | None) -> None:
    assert progress([Estimate(look(difference, noise, trials), PLAN)], [RULES]).reason == reason


def test_what_differs_between_cases_makes_trials_futile() -> None:
    random = np.random.default_rng(9)
    before = np.full((12, 5), 0.6) + random.normal(0, 0.001, (12, 5))
    after = before[:, :2] + random.normal(-0.06, 0.3, (12, 1))
    found = progress([Estimate(compared(before, after), PLAN)], [RULES])
    assert found.reason == "futile"
    assert found.chance[0] < 0.1


def test_a_single_trial_on_each_side_leaves_hope() -> None:
    """Nothing tells noise of trials from differences between cases yet."""
    moments = noisy(10, 40, -0.06, 0.12)
    assert np.isnan(moments.trial_variance).all()
    found = progress([Estimate(moments, Plan(1, 5, 1))], [RULES])
    assert found.reason in (None, "settled")
