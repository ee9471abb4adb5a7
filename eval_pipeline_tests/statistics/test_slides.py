"""Trend rules: what counts as a decline, and what a slope shows that no step does."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eval_pipeline.statistics.slides import SLOPE_RUNS, Trend, course_of, trend

MANY = 1000.0


def judged(
    values: Sequence[float], error: float | None = 0.01, freedom: float = MANY, direction: float = 1.0
) -> Trend:
    """A history with the same noise between all runs."""
    steps = max(len(values) - 1, 0)
    return trend(values, [error] * steps, [freedom] * steps, direction=direction)


def test_three_declines_beyond_noise_raise_an_alarm() -> None:
    found = judged([0.80, 0.77, 0.74, 0.71])
    assert (found.consecutive_declines, found.declines_beyond_noise, found.declining) == (3, 3, True)
    assert found.alarm


def test_the_slide_that_one_trial_used_to_hide() -> None:
    """200 right-or-wrong cases, asked once: 10 % of them flip between two nights by chance alone."""
    values = [0.715, 0.676, 0.605, 0.563]
    assert judged(values, math.sqrt(0.10 / 200)).alarm
    assert judged(values, 0.0).alarm
    assert not judged(values, None).alarm


def test_small_declines_are_shown_and_not_alerted() -> None:
    found = judged([0.80, 0.799, 0.798, 0.797])
    assert (found.consecutive_declines, found.declines_beyond_noise, found.alarm) == (3, 0, False)


def test_a_decline_counts_from_1_2_standard_errors() -> None:
    assert judged([0.80, 0.7881, 0.7762, 0.7643]).declines_beyond_noise == 0
    assert judged([0.80, 0.7879, 0.7758, 0.7637]).declines_beyond_noise == 3


def test_a_rise_ends_the_streak() -> None:
    assert judged([0.80, 0.70, 0.60, 0.65]).consecutive_declines == 0
    assert judged([0.80, 0.70, 0.75, 0.65, 0.55]).declines_beyond_noise == 2


def test_where_lower_is_better_a_rise_is_a_decline() -> None:
    assert judged([0.01, 0.05, 0.09, 0.13], direction=-1).alarm
    assert not judged([0.01, 0.05, 0.09, 0.13]).alarm


SLOW = [0.80, 0.795, 0.797, 0.788, 0.785, 0.787, 0.778, 0.775, 0.777, 0.768]


def test_a_slow_slide_shows_in_the_slope() -> None:
    """By hand: Σ x² is 82.5 over ten runs, and a run has 1 / √2 of the noise of a difference."""
    found = judged(SLOW, 0.005, 50)
    slope = stats.linregress(range(10), SLOW).slope
    assert not found.declining
    assert found.sliding
    assert found.slope == pytest.approx(slope)
    assert found.slope_p == pytest.approx(stats.t.cdf(slope / (0.005 / math.sqrt(2 * 82.5)), 9 * 50))


@pytest.mark.parametrize("error", [0.0, 0.0001, None])
def test_where_runs_scatter_more_than_cases_do_their_scatter_counts(error: float | None) -> None:
    expected = stats.linregress(range(10), SLOW, alternative="less")
    assert judged(SLOW, error).slope_p == pytest.approx(expected.pvalue)


def test_few_cases_that_flip_prove_nothing() -> None:
    """One case of fifteen is right for five nights and wrong for five: one flip is all that is known."""
    values = [1.0] * 5 + [14 / 15] * 5
    errors: list[float | None] = [0.0] * 9
    errors[4] = 1 / 15
    once = trend(values, errors, [0.0] * 4 + [1.0] + [0.0] * 4)
    often = trend(values, errors, [MANY] * 9)
    assert not once.alarm
    assert often.alarm, "as if the noise were known for certain"


def test_only_the_last_runs_count_for_the_slope() -> None:
    found = judged([0.9] * 5 + [0.5] * SLOPE_RUNS)
    assert found.slope == pytest.approx(0.0)
    assert not found.sliding


@pytest.mark.parametrize("values", [[], [0.8], [0.8, 0.7], [0.8] * 12])
@pytest.mark.parametrize("error", [0.0, 0.01, None])
def test_little_history_or_none_is_no_trend(values: list[float], error: float | None) -> None:
    assert not judged(values, error).alarm


def test_histories_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be matched"):
        trend([0.8, 0.7, 0.6], [0.1], [1])
    with pytest.raises(ValueError, match="negative"):
        trend([0.8, 0.7], [-0.1], [1])
    with pytest.raises(ValueError, match="finite"):
        trend([0.8, float("nan")], [0.1], [1])


values_ = st.lists(st.floats(0, 1), min_size=0, max_size=30)


@given(values_, st.floats(0, 0.2), st.floats(0.1, 10), st.floats(-1, 1))
def test_neither_units_nor_levels_matter(
    values: list[float], error: float, scale: float, shift: float
) -> None:
    rounded = [round(value, 3) for value in values]
    one = judged(rounded, round(error, 3))
    other = judged([scale * value + shift for value in rounded], scale * round(error, 3))
    assert one.consecutive_declines == other.consecutive_declines
    assert one.slope_p == pytest.approx(other.slope_p, abs=1e-6)


@given(values_, st.floats(0, 0.2), st.floats(0.001, 0.2))
def test_more_noise_never_makes_an_alarm_of_declines(values: list[float], error: float, more: float) -> None:
    assert judged(values, error + more).declines_beyond_noise <= judged(values, error).declines_beyond_noise
    assert judged(values, error).declines_beyond_noise <= judged(values, error).consecutive_declines


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30).map(sorted), st.floats(0, 0.2))
def test_what_only_rises_never_alarms(values: list[float], error: float) -> None:
    assert not judged(values, error).alarm


def test_many_histories_at_once_are_the_same_as_each_alone() -> None:
    random = np.random.default_rng(5)
    heights = 0.8 - 0.004 * np.arange(25)[:, np.newaxis] + random.normal(0, 0.01, (25, 6))
    errors = random.uniform(0.005, 0.03, (24, 6))
    freedom = random.uniform(1, 50, (24, 6))
    together = course_of(heights, errors, freedom)
    for place in range(6):
        alone = trend(heights[:, place].tolist(), errors[:, place].tolist(), freedom[:, place].tolist())
        assert alone.slope_p == pytest.approx(together.slope_p[place])
        assert alone.declines_beyond_noise == together.beyond_noise[place]
