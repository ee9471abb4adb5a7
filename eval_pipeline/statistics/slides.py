"""Slides in a history of runs: several declines in a row beyond noise, and a slope over the last runs.

The noise between two runs is the standard error of their paired difference, case by case. What it rests on
is counted, too: a few cases that flip now and then tell little about how far chance goes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eval_pipeline.statistics.arrays import ROUNDING, Counts, Flags, Values, level, numbers

DECLINES = 3
"""So many declines in a row raise an alarm."""
BEYOND = 1.2
"""A decline counts from so many standard errors of the difference between its two runs."""
SLOPE_RUNS = 20
LEAST_SLOPE_RUNS = 5
HORIZON = 30
"""The number of runs over which `alpha` limits false alarms: each run gets its share."""
UNUSUAL = 0.05
"""Scatter around the slope that the noise of cases exceeds this rarely is believed instead of it."""


@dataclass(frozen=True)
class Trend:
    """What the history of a metric shows at its latest run."""

    consecutive_declines: int
    """How often in a row the value fell, by however little. For information."""
    declines_beyond_noise: int
    """How often in a row it fell by more than the noise between the two runs."""
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


class Course(NamedTuple):
    """What histories show at their latest run; every array has the shape `[…history]`."""

    declines: Counts
    beyond_noise: Counts
    slope: Values
    """NaN where there are too few runs."""
    slope_p: Values

    def declining(self) -> Flags:
        """Three or more declines beyond noise in a row."""
        return np.asarray(self.beyond_noise >= DECLINES)

    def sliding(self, alpha: float) -> Flags:
        """A slope that chance does not explain."""
        return np.asarray(self.slope_p <= alpha / HORIZON)


def trend(
    values: Sequence[float],
    errors: Sequence[float | None] = (),
    freedom: Sequence[float] = (),
    *,
    direction: float = 1.0,
    alpha: float = 0.01,
) -> Trend:
    """Judge a history, oldest run first.

    `errors` are the standard errors of the differences between each run and the one before, None where
    unknown: no decline is beyond that. `freedom` says on how many cases each of them rests.
    """
    level(alpha, "alpha")
    heights = direction * numbers(values, "the values", dimensions=1)
    noise = np.array([math.nan if each is None else each for each in errors], dtype=np.float64)
    if len(noise) != len(freedom) or len(noise) != max(len(heights) - 1, 0):
        raise ValueError(f"{len(heights)} runs with {len(noise)} steps between them cannot be matched")
    if (noise < 0).any() or np.isinf(noise).any():
        raise ValueError("a standard error must not be negative or infinite")
    course = course_of(heights, noise, freedom)
    slope, slope_p = (None if np.isnan(each) else float(each) for each in (course.slope, course.slope_p))
    return Trend(
        int(course.declines),
        int(course.beyond_noise),
        slope,
        slope_p,
        bool(course.declining()),
        bool(course.sliding(alpha)),
    )


def course_of(heights: Values, errors: Values, freedom: ArrayLike) -> Course:
    """What histories show, from `heights[run, …history]` and the noise `[step, …history]` between runs."""
    falls = -np.diff(heights, axis=0)
    steps = slice(max(len(heights) - SLOPE_RUNS, 0), None)
    slope, slope_p = _slope(heights[-SLOPE_RUNS:], errors[steps], np.asarray(freedom)[steps])
    return Course(
        _streak(falls > ROUNDING), _streak(falls > np.maximum(BEYOND * errors, ROUNDING)), slope, slope_p
    )


def _streak(flags: Flags) -> Counts:
    """How many of the last flags are set, without a gap."""
    return np.asarray(np.cumprod(flags[::-1], axis=0).sum(axis=0), dtype=np.int64)


def _slope(heights: Values, errors: Values, freedom: Values) -> tuple[Values, Values]:
    """The least-squares slope per run and its one-sided p; a perfect line downwards has p 0.

    The noise of a run is that of the cases, unless runs scatter around the line clearly more than that.
    """
    runs = len(heights)
    if runs < LEAST_SLOPE_RUNS:
        return np.full(heights.shape[1:], math.nan), np.full(heights.shape[1:], math.nan)
    from scipy import special

    places = np.arange(runs) - (runs - 1) / 2
    square = places @ places
    slope = np.tensordot(places, heights, axes=1) / square
    residuals = heights - heights.mean(axis=0) - np.multiply.outer(places, slope)
    scatter = (residuals**2).sum(axis=0) / (runs - 2)
    known = np.isfinite(errors)
    steps = known.sum(axis=0)
    noise = np.full(slope.shape, math.nan)
    squares = np.where(known, errors**2, 0.0).sum(axis=0)
    np.divide(squares, 2 * steps, out=noise, where=steps > 0)  # a difference has the noise of two runs
    usual = noise * special.chdtri(runs - 2, UNUSUAL) / (runs - 2)
    from_cases = scatter <= np.maximum(usual, ROUNDING**2)
    cases = np.maximum(np.where(known, freedom, 0.0).sum(axis=0), 1.0)
    error = np.sqrt(np.where(from_cases, noise, scatter) / square)
    certain = error <= ROUNDING
    p_value = special.stdtr(
        np.where(from_cases, cases, runs - 2), np.where(certain, 0.0, slope) / np.where(certain, 1.0, error)
    )
    return slope, np.where(certain, np.where(slope < -ROUNDING, 0.0, 1.0), p_value)
