"""Trend rules: what counts as a decline, and what a slope shows that no step does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from eval_pipeline.statistics.slides import trend


def quiet(values: list[float], noise: float | None = 0.01) -> list[float | None]:
    return [noise] * len(values)


def test_three_declines_beyond_noise_raise_an_alarm() -> None:
    values = [0.80, 0.77, 0.74, 0.71]
    found = trend(values, quiet(values))
    assert (found.consecutive_declines, found.declines_beyond_noise, found.declining) == (3, 3, True)
    assert found.alarm


def test_small_declines_are_shown_and_not_alerted() -> None:
    values = [0.80, 0.799, 0.798, 0.797]
    found = trend(values, quiet(values))
    assert (found.consecutive_declines, found.declines_beyond_noise, found.alarm) == (3, 0, False)


def test_a_rise_ends_the_streak() -> None:
    values = [0.80, 0.70, 0.60, 0.65]
    assert trend(values, quiet(values)).consecutive_declines == 0
    values = [0.80, 0.70, 0.75, 0.65, 0.55]
    assert trend(values, quiet(values)).declines_beyond_noise == 2


def test_where_lower_is_better_a_rise_is_a_decline() -> None:
    values = [0.01, 0.05, 0.09, 0.13]
    assert trend(values, quiet(values), direction=-1).alarm
    assert not trend(values, quiet(values)).alarm


def test_a_slow_slide_shows_in_the_slope() -> None:
    values = [0.80, 0.795, 0.797, 0.788, 0.785, 0.787, 0.778, 0.775, 0.777, 0.768]
    found = trend(values, quiet(values, 0.02))
    assert not found.declining
    assert found.sliding
    expected = stats.linregress(range(10), values, alternative="less")
    assert found.slope == pytest.approx(expected.slope)
    assert found.slope_p == pytest.approx(expected.pvalue)


def test_only_the_last_runs_count_for_the_slope() -> None:
    values = [0.5] * 5 + [0.9] * 10
    found = trend(values, quiet(values))
    assert found.slope == pytest.approx(0.0)
    assert not found.sliding


@pytest.mark.parametrize("values", [[], [0.8], [0.8, 0.7], [0.8] * 12])
def test_little_history_or_none_is_no_trend(values: list[float]) -> None:
    assert not trend(values, quiet(values)).alarm


def test_unknown_noise_and_missing_runs() -> None:
    found = trend([0.80, None, 0.75, 0.70, 0.65], [None, None, None, None, None])
    assert (found.consecutive_declines, found.declines_beyond_noise, found.alarm) == (3, 0, False)


def test_histories_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be matched"):
        trend([0.8, 0.7], [0.1])
    with pytest.raises(ValueError, match="negative"):
        trend([0.8, 0.7], [0.1, -0.1])
    with pytest.raises(ValueError, match="finite"):
        trend([0.8, float("nan")], [0.1, 0.1])


def test_unchanged_histories_stay_silent() -> None:
    random = np.random.default_rng(11)
    histories, alarms = 150, 0
    for _ in range(histories):
        values = random.normal(0.8, 0.02, 30).tolist()
        alarms += any(trend(values[:run], quiet(values[:run], 0.02)).alarm for run in range(4, 31))
    assert alarms / histories <= 0.07
