"""Slides in a history of runs: several declines in a row beyond noise, and a slope over the last runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval_pipeline.statistics.arrays import ROUNDING, Values, level, numbers

DECLINES = 3
"""So many declines in a row raise an alarm."""
SLOPE_RUNS = 10
LEAST_SLOPE_RUNS = 5
HORIZON = 30
"""The number of runs over which `alpha` limits false alarms: each run gets its share."""


@dataclass(frozen=True)
class Trend:
    """What the history of a metric shows at its latest run."""

    consecutive_declines: int
    """How often in a row the value fell, by however little. For information."""
    declines_beyond_noise: int
    """How often in a row it fell by more than the noise of the two runs."""
    slope: float | None
    """Change per run over the last runs; negative is worse."""
    slope_p: float | None
    """How often chance alone slopes down like this."""
    declining: bool
    """Three or more declines beyond noise in a row."""
    sliding: bool
    """A slope that chance does not explain."""

    @property
    def alarm(self) -> bool:
        """Whether someone should be told."""
        return self.declining or self.sliding


def trend(
    values: Sequence[float | None],
    noise: Sequence[float | None],
    *,
    direction: float = 1.0,
    alpha: float = 0.05,
    window: int = SLOPE_RUNS,
) -> Trend:
    """Judge a history, oldest run first. `noise` is the standard error of each run's value over its trials.

    A run without a value is skipped. Where the noise of a run is unknown, no decline is beyond it.
    """
    if len(values) != len(noise):
        raise ValueError(f"{len(values)} runs with {len(noise)} standard errors cannot be matched")
    if any(each is not None and not each >= 0 for each in noise):
        raise ValueError("a standard error must not be negative or NaN")
    level(alpha, "alpha")
    kept = [(value, error) for value, error in zip(values, noise, strict=True) if value is not None]
    heights = direction * numbers([value for value, _ in kept], "the values", dimensions=1)
    errors = [math.inf if error is None else error for _, error in kept]
    beyond = [
        before - after > max(math.hypot(first, second), ROUNDING)
        for before, after, first, second in zip(heights, heights[1:], errors, errors[1:], strict=False)
    ]
    declines = _last_streak(beyond)
    slope, p_value = _slope(heights[-window:])
    return Trend(
        consecutive_declines=_last_streak([fall < -ROUNDING for fall in np.diff(heights).tolist()]),
        declines_beyond_noise=declines,
        slope=slope,
        slope_p=p_value,
        declining=declines >= DECLINES,
        sliding=p_value is not None and p_value <= alpha / HORIZON,
    )


def _last_streak(flags: Sequence[bool]) -> int:
    streak = 0
    for flag in reversed(flags):
        if not flag:
            break
        streak += 1
    return streak


def _slope(heights: Values) -> tuple[float | None, float | None]:
    """The least-squares slope per run and its one-sided p; a perfect line downwards has p 0."""
    runs = len(heights)
    if runs < LEAST_SLOPE_RUNS:
        return None, None
    from scipy import special

    places = np.arange(runs) - (runs - 1) / 2
    slope = float(places @ heights / (places @ places))
    residuals = heights - heights.mean() - slope * places
    error = math.sqrt(float(residuals @ residuals) / (runs - 2) / float(places @ places))
    if error <= ROUNDING:
        return slope, 0.0 if slope < -ROUNDING else 1.0
    return slope, float(special.stdtr(runs - 2, slope / error))
