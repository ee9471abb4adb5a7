"""What each case says of a difference: the per-case values that every interval and test rests on.

A metric is any function of summed counts. Leaving out one case at a time shows what the case contributes.
Where a case holds a share w of what the metric counts, its contribution is k·(θ − (1 − w)·θ without it):
for a mean over k cases (w = 1/k) the case's own value, for a ratio of sums k·(its numerator ÷ all
denominators), for other formulas the same to first order. One method serves means, ratios and F1 alike.
Contributions before and after are paired by case, and averaged over trials: a case is a cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eval_pipeline.statistics.arrays import ROUNDING, Counts, Flags, Values, numbers
from eval_pipeline.statistics.flips import families, sign_flips

HEAVY = 0.10
"""A case that holds more than this of what a metric counts is heavy …"""
HEAVY_BESIDE_EQUALS = 1.5
"""… if that is also so many times what it would hold if all cases held the same."""


@dataclass(frozen=True)
class LeaveOneOut:
    """One side of a comparison: its metrics, the same without each case, and of each case alone."""

    whole: Values
    """`[trial, …metric]`"""
    without: Values
    """`[case, trial, …metric]`"""
    alone: Values
    """`[case, trial, …metric]`; NaN where the metric says nothing of the case."""
    items: Values
    """`[case, trial, …metric]`: how much of what the metric counts the case holds; 0 for plain sums."""

    @property
    def value(self) -> Values:
        """The mean over trials; undefined where it is undefined in any."""
        return np.asarray(self.whole.mean(axis=0), dtype=np.float64)

    @cached_property
    def applies(self) -> Flags:
        """`[case, …metric]`: whether the case has anything to say on the metric."""
        return np.asarray(np.isfinite(self.alone).any(axis=1), dtype=np.bool_)

    @cached_property
    def shares(self) -> Values:
        """`[case, …metric]`: the share of the items that each case holds; NaN where there are none.

        Cases that have nothing to say on the metric hold none, whatever its formula reads of them.
        """
        held = np.where(self.applies, self.items.mean(axis=1), 0.0)
        return _divide(held, np.broadcast_to(held.sum(axis=0), held.shape))


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
        _divide(top, bottom), _divide(top - above, bottom - below), _divide(above, below), np.abs(below)
    )


def _divide(above: Values, below: Values) -> Values:
    result = np.full(above.shape, np.nan)
    np.divide(above, below, out=result, where=np.abs(below) > ROUNDING)
    return result


@dataclass(frozen=True)
class Pairs:
    """Two sides on the same cases, case by case. Trailing axes are metrics; the last is the family."""

    sides: tuple[LeaveOneOut, LeaveOneOut]
    applies: Flags
    """`[case, …metric]`: a metric's cases are those of either side."""
    shares: Values
    """`[case, …metric]`: the share of each case in what the metric counts, on average of both sides; 0
    for plain sums."""

    @cached_property
    def cases(self) -> Counts:
        """How many cases each metric applies to."""
        return np.asarray(self.applies.sum(axis=0), dtype=np.int64)

    @cached_property
    def contributions(self) -> tuple[Values, Values]:
        """What each case contributes to the value before and after, `[case, trial, …metric]`."""
        before, after = (self._contributions(side) for side in self.sides)
        return before, after

    def _contributions(self, side: LeaveOneOut) -> Values:
        left = 1 - self.shares[:, np.newaxis]
        rest = np.where(left > ROUNDING, left * side.without, 0.0)
        values = np.where(self.cases >= 2, self.cases * (side.whole - rest), side.whole)
        return np.where(self.applies[:, np.newaxis], values, 0.0)

    @cached_property
    def differences(self) -> Values:
        """After − before for every case, over its trials; 0 where the metric does not apply."""
        before, after = self.contributions
        return np.asarray(after.mean(axis=1) - before.mean(axis=1), dtype=np.float64)

    @property
    def influences(self) -> Values:
        """By how much each case moves the difference: the difference without the case is smaller by that."""
        before, after = (side.value - side.without.mean(axis=1) for side in self.sides)
        return np.where(self.applies, after - before, 0.0)

    @property
    def moments(self) -> Moments:
        """What intervals, tests and verdicts need to know of the cases."""
        cases, differences = self.cases, self.differences
        before, after = self.sides
        trials = (before.whole.shape[0], after.whole.shape[0])
        own = after.alone.mean(axis=1) - before.alone.mean(axis=1)
        total = differences.sum(axis=0)
        weights = np.where(self._summed, 1 / np.maximum(cases, 1), self.shares)
        deviations = np.where(self.applies, differences - weights * total, 0.0)
        deviations **= 2
        left = np.maximum(1 - weights, ROUNDING)
        binary = _binary(before.alone) & _binary(after.alone) & (cases > 0) & ~self.unequal
        fall, rise = sign_flips(differences)
        heaviest, share, without, *equal = self._weighed()
        return Moments(
            trials=trials,
            before=before.value,
            after=after.value,
            cases=cases,
            effective=np.where(self._summed, cases, 1 / np.maximum((self.shares**2).sum(axis=0), ROUNDING)),
            total=total,
            squares=(differences**2).sum(axis=0),
            cubes=(differences**3).sum(axis=0),
            spread=np.where(
                cases >= 2, np.sqrt((deviations / left).sum(axis=0) / np.maximum(cases, 1)), np.nan
            ),
            rose=(own > ROUNDING).sum(axis=0),
            fell=(own < -ROUNDING).sum(axis=0),
            differing=(~(np.abs(differences) <= ROUNDING)).sum(axis=0),
            binary=binary,
            reach=_reach(before.alone, after.alone),
            trial_variance=self._trial_variance(),
            p_fall=fall,
            p_rise=rise,
            heaviest=heaviest,
            share=share,
            without_heaviest=without,
            equal_difference=equal[0],
            equal_p_fall=equal[1],
            equal_p_rise=equal[2],
        )

    @cached_property
    def _summed(self) -> Flags:
        """Whether a metric is a plain sum, to which every case adds its own without a share of a whole."""
        return np.asarray(self.shares.sum(axis=0) <= ROUNDING, dtype=np.bool_)

    @cached_property
    def unequal(self) -> Flags:
        """Whether cases hold different shares of what a metric counts."""
        return np.asarray(self.shares.max(axis=0, initial=0.0) * self.cases > 1 + ROUNDING, dtype=np.bool_)

    def _weighed(self) -> tuple[Counts, Values, Values, Values, Values, Values]:
        """The heaviest case on either side, its share, and the difference without it and on equal weights.

        Equal weights are the mean over the cases that both sides have a value of, with its sign flips.
        """
        before, after = self.sides
        held = np.maximum(np.nan_to_num(before.shares), np.nan_to_num(after.shares))
        heaviest = held.argmax(axis=0) if len(held) else np.zeros(self.cases.shape, dtype=np.int64)
        share = held.max(axis=0, initial=0.0)
        results = np.full((4, *self.cases.shape), np.nan)
        some = self.unequal & (share > HEAVY) & (share * self.cases > HEAVY_BESIDE_EQUALS)
        if some.any():
            place = heaviest[some]
            rest = (after.without.mean(axis=1) - before.without.mean(axis=1))[:, some]
            results[0][some] = np.take_along_axis(rest, place[np.newaxis], axis=0)[0]
            own = (after.alone.mean(axis=1) - before.alone.mean(axis=1))[:, some]
            known = np.isfinite(own)
            results[1][some] = _divide(np.where(known, own, 0.0).sum(axis=0), known.sum(axis=0).astype(float))
            flips = sign_flips(np.where(known, own, 0.0), families(some.shape)[some])
            results[2][some], results[3][some] = flips
        return heaviest, share, *results

    def _trial_variance(self) -> Values:
        sides = [side for side in self.contributions if side.shape[1] > 1]
        freedom = self.cases * sum(side.shape[1] - 1 for side in sides)
        squares = np.zeros(self.cases.shape)
        for side in sides:
            squares += ((side - side.mean(axis=1, keepdims=True)) ** 2).sum(axis=(0, 1))
        return _divide(squares, np.broadcast_to(freedom, squares.shape).astype(np.float64))


def _binary(alone: Values) -> Flags:
    """Whether every value is right or wrong, with nothing between; cases without any do not count."""
    right_or_wrong = (np.abs(np.abs(alone - 0.5) - 0.5) <= ROUNDING) | np.isnan(alone)
    return np.asarray(right_or_wrong.all(axis=(0, 1)), dtype=np.bool_)


def _reach(before: Values, after: Values) -> Values:
    low, high = (
        np.stack([reduce(side, axis=(0, 1), initial=start) for side in (before, after)])
        for reduce, start in ((np.fmin.reduce, np.inf), (np.fmax.reduce, -np.inf))
    )
    least, most = low.min(axis=0), high.max(axis=0)
    fractions = (least >= -ROUNDING) & (most <= 1 + ROUNDING)
    with np.errstate(invalid="ignore"):
        return np.where(fractions, 1.0, most - least)


@dataclass(frozen=True)
class Moments:
    """What a comparison shows of each metric, over its cases. Every array has the shape `[…metric]`."""

    trials: tuple[int, int]
    """Trials before and after."""
    before: Values
    after: Values
    cases: Counts
    """How many cases the metric applies to."""
    effective: Values
    """How many equal cases would weigh as these do: 1 ÷ Σ share²."""
    total: Values
    """The sum of the cases' differences."""
    squares: Values
    """The sum of their squares."""
    cubes: Values
    """The sum of their cubes, which tells how skewed they are."""
    spread: Values
    """Their standard deviation around what each would contribute to the difference by its share, every
    square divided by 1 − share: for a mean the usual one. NaN below two cases."""
    rose: Counts
    """How many cases have a higher value of their own."""
    fell: Counts
    differing: Counts
    """How many cases contribute to a difference."""
    binary: Flags
    """Whether every case of every trial is right or wrong, with nothing between, and all weigh the same."""
    reach: Values
    """By how much a case may differ: 1 for values between 0 and 1, else the range of the values there are."""
    trial_variance: Values
    """The variance of one trial of a case around the case's mean, over both sides; NaN if unknown."""
    p_fall: Values
    """The sign-flip test: how often chance alone brings a sum so low …"""
    p_rise: Values
    """… and so high."""
    heaviest: Counts
    """The place of the case that holds most of what the metric counts, on either side."""
    share: Values
    """How much of it that is."""
    without_heaviest: Values
    """The difference without that case; NaN where none is heavy, as in what follows."""
    equal_difference: Values
    """The difference of the means over cases."""
    equal_p_fall: Values
    equal_p_rise: Values

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


def side_by_side(parts: Sequence[Moments]) -> Moments:
    """What comparisons of the same cases show of some metrics each, as one."""
    joined: dict[str, Any] = {
        each.name: np.concatenate([getattr(part, each.name) for part in parts], axis=-1)
        for each in fields(Moments)
        if each.name != "trials"
    }
    return replace(parts[0], **joined)


def paired(before: LeaveOneOut, after: LeaveOneOut) -> Pairs:
    """Pair two sides whose cases stand in the same order."""
    if (
        before.without.shape[:1] + before.without.shape[2:]
        != after.without.shape[:1] + after.without.shape[2:]
    ):
        raise ValueError(
            f"the sides do not fit: {_shape(before)} before and {_shape(after)} after; align the cases"
        )
    applies = before.applies | after.applies
    held = [
        np.where(np.isnan(side.shares), other.shares, side.shares)
        for side, other in ((before, after), (after, before))
    ]
    return Pairs((before, after), applies, np.nan_to_num((held[0] + held[1]) / 2))


def _shape(side: LeaveOneOut) -> str:
    cases, _, *metrics = side.without.shape
    return f"{cases} cases × {'×'.join(map(str, metrics))} metrics"
