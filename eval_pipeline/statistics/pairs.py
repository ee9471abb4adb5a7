"""What each case says of a difference: the per-case values that every interval and test rests on.

A metric is any function of summed counts. Leaving out one case at a time shows what the case contributes
(its pseudo-value, k·θ − (k−1)·θ without the case); for a mean over cases this is the case's own value, for
ratios and other formulas it is the jackknife's linearisation. One method serves means, ratios and F1 alike.
Pseudo-values before and after are paired by case, and averaged over trials: a case is a cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eval_pipeline.statistics.arrays import ROUNDING, Counts, Flags, Values, numbers

Formula = Callable[[Values], Values]
"""Summed counts `[set, column]` → the metrics of each set `[set, metric]`; NaN where one is undefined."""


@dataclass(frozen=True)
class LeaveOneOut:
    """One side of a comparison: its metrics, and the same without each case."""

    whole: Values
    """`[trial, …metric]`"""
    without: Values
    """`[case, trial, …metric]`"""
    applies: Flags
    """`[case, …metric]`: whether the case has anything to say on the metric."""

    @property
    def value(self) -> Values:
        """The mean over trials; undefined where it is undefined in any."""
        return np.asarray(self.whole.mean(axis=0), dtype=np.float64)


def of_means(values: ArrayLike) -> LeaveOneOut:
    """Means over cases, from `values[case, trial, …metric]`; NaN where a case has no value."""
    array = _trials(values, "the values")
    if np.isinf(array).any():
        raise ValueError("the values must not be infinite")
    present = ~np.isnan(array)
    return _of_ratios(np.where(present, array, 0.0), present.astype(np.float64))


def of_ratios(numerators: ArrayLike, denominators: ArrayLike) -> LeaveOneOut:
    """Ratios of sums, Σ numerator ÷ Σ denominator, from counts `[case, trial, …metric]`."""
    above = numbers(_trials(numerators, "the numerators"), "the numerators")
    below = numbers(_trials(denominators, "the denominators"), "the denominators")
    if above.shape != below.shape:
        raise ValueError(f"numerators {above.shape} and denominators {below.shape} do not belong together")
    return _of_ratios(above, below)


def of_formula(formula: Formula, counts: ArrayLike) -> LeaveOneOut:
    """Metrics that any formula makes of summed `counts[case, trial, column]`."""
    rows = numbers(counts, "the counts", dimensions=3)
    cases, trials, columns = rows.shape
    total = rows.sum(axis=0)
    whole = formula(total)
    without = formula((total - rows).reshape(cases * trials, columns)).reshape(cases, trials, -1)
    alone = formula(rows.reshape(cases * trials, columns)).reshape(cases, trials, -1)
    return LeaveOneOut(whole, without, np.asarray(np.isfinite(alone).any(axis=1), dtype=np.bool_))


def _trials(values: ArrayLike, what: str) -> Values:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim < 3:
        raise ValueError(f"{what} must have the axes case, trial and metric, not {array.ndim} axes")
    if array.shape[1] == 0:
        raise ValueError(f"{what} have no trial")
    return array


def _of_ratios(above: Values, below: Values) -> LeaveOneOut:
    top, bottom = above.sum(axis=0), below.sum(axis=0)
    return LeaveOneOut(
        _divide(top, bottom),
        _divide(top - above, bottom - below),
        ((above != 0) | (below != 0)).any(axis=1),
    )


def _divide(above: Values, below: Values) -> Values:
    result = np.full(above.shape, np.nan)
    np.divide(above, below, out=result, where=np.abs(below) > ROUNDING)
    return result


@dataclass(frozen=True)
class Pairs:
    """Two sides on the same cases, case by case. Trailing axes are metrics; the last is the family."""

    value_before: Values
    value_after: Values
    before: Values
    """Pseudo-values `[case, trial, …metric]`; 0 where the metric does not apply to the case."""
    after: Values
    applies: Flags
    """`[case, …metric]`"""

    @property
    def differences(self) -> Values:
        """After − before for every case, over its trials; 0 where the metric does not apply."""
        return np.asarray(self.after.mean(axis=1) - self.before.mean(axis=1), dtype=np.float64)

    @property
    def moments(self) -> Moments:
        """What intervals, tests and verdicts need to know of the cases."""
        cases, differences = self.applies.sum(axis=0), self.differences
        total, squares = differences.sum(axis=0), (differences**2).sum(axis=0)
        deviations = np.where(self.applies, differences - total / np.maximum(cases, 1), 0.0)
        deviations **= 2
        return Moments(
            trials=(self.before.shape[1], self.after.shape[1]),
            before=self.value_before,
            after=self.value_after,
            cases=cases,
            total=total,
            squares=squares,
            spread=np.where(cases >= 2, np.sqrt(deviations.sum(axis=0) / np.maximum(cases - 1, 1)), np.nan),
            rose=(differences > ROUNDING).sum(axis=0),
            fell=(differences < -ROUNDING).sum(axis=0),
            binary=_binary(self.before) & _binary(self.after) & (cases > 0),
            trial_variance=self._trial_variance(cases),
        )

    def _trial_variance(self, cases: Counts) -> Values:
        sides = [side for side in (self.before, self.after) if side.shape[1] > 1]
        freedom = cases * sum(side.shape[1] - 1 for side in sides)
        squares = np.zeros(cases.shape)
        for side in sides:
            squares += ((side - side.mean(axis=1, keepdims=True)) ** 2).sum(axis=(0, 1))
        result = np.full(cases.shape, np.nan)
        np.divide(squares, freedom, out=result, where=freedom > 0)
        return result


def _binary(side: Values) -> Flags:
    return np.asarray((np.abs(np.abs(side - 0.5) - 0.5) <= ROUNDING).all(axis=(0, 1)), dtype=np.bool_)


@dataclass(frozen=True)
class Moments:
    """What a comparison shows of each metric, over its cases. Every array has the shape `[…metric]`."""

    trials: tuple[int, int]
    """Trials before and after."""
    before: Values
    after: Values
    cases: Counts
    """How many cases the metric applies to."""
    total: Values
    """The sum of the cases' differences."""
    squares: Values
    """The sum of their squares."""
    spread: Values
    """Their standard deviation; NaN below two cases."""
    rose: Counts
    """How many cases rose."""
    fell: Counts
    binary: Flags
    """Whether every case of every trial is right or wrong, with nothing between."""
    trial_variance: Values
    """The variance of one trial of a case around the case's mean, over both sides; NaN if unknown."""

    @property
    def difference(self) -> Values:
        """After − before."""
        return self.after - self.before

    def select(self, *index: Any) -> Moments:
        """The same for some of the metrics, as NumPy selects them."""
        chosen = {
            each.name: getattr(self, each.name)[index] for each in fields(self) if each.name != "trials"
        }
        return replace(self, **chosen)


def paired(before: LeaveOneOut, after: LeaveOneOut) -> Pairs:
    """Pair two sides whose cases stand in the same order; a metric's cases are those of either side."""
    if (
        before.without.shape[:1] + before.without.shape[2:]
        != after.without.shape[:1] + after.without.shape[2:]
    ):
        raise ValueError(
            f"the sides do not fit: {_shape(before)} before and {_shape(after)} after; align the cases"
        )
    applies = before.applies | after.applies
    cases = applies.sum(axis=0)
    sides = [_pseudo_values(side, cases, applies) for side in (before, after)]
    return Pairs(before.value, after.value, sides[0], sides[1], applies)


def _shape(side: LeaveOneOut) -> str:
    cases, _, *metrics = side.without.shape
    return f"{cases} cases × {'×'.join(map(str, metrics))} metrics"


def _pseudo_values(side: LeaveOneOut, cases: Counts, applies: Flags) -> Values:
    values = np.where(cases >= 2, cases * side.whole - (cases - 1) * side.without, side.whole)
    return np.where(applies[:, np.newaxis], values, 0.0)
