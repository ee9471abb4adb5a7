"""What a sample with known chances says of everything that it was drawn from.

Each request is drawn by itself, with a chance that is known (Poisson sampling). A rate is the ratio of two
weighted sums, Σ part ÷ p over Σ whole ÷ p (Hájek): what was drawn with a small chance stands for many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eval_pipeline.statistics.arrays import ROUNDING, Values, level, numbers
from eval_pipeline.statistics.power import t_quantile

LEAST = 30
"""Below so many equally weighted requests nothing is concluded."""


class StratumShare(NamedTuple):
    """What a stratum contributes."""

    sampled: int
    value: float
    """The rate within it; NaN where nothing in it counts."""
    variance: float
    """Its part of the variance of the whole."""


class SampledRate(NamedTuple):
    """A rate, how sure it is, and on how much it rests. NaN where nothing was drawn that counts."""

    value: float
    low: float
    high: float
    variance: float
    sampled: int
    effective: float
    """So many requests of equal weight would say as much: (Σ w)² ÷ Σ w² (Kish)."""
    strata: dict[str, StratumShare]

    @property
    def enough(self) -> bool:
        """Whether it rests on enough to conclude anything."""
        return self.effective >= LEAST - ROUNDING


NOTHING = SampledRate(np.nan, np.nan, np.nan, np.nan, 0, 0.0, {})


def sampled_rate(
    part: ArrayLike,
    whole: ArrayLike,
    chances: ArrayLike,
    strata: Sequence[str],
    *,
    fraction: bool = True,
    confidence: float = 0.95,
) -> SampledRate:
    """Σ part ÷ p over Σ whole ÷ p, with its interval. What has no whole does not count.

    The variance is that of Poisson sampling by Taylor's linearisation, Σ (1 − p) · (w · e)² with
    e = (part − rate · whole) ÷ Σ w · whole, added up by stratum. Fractions get Wilson's interval with as many
    requests as that variance is worth (Korn and Graubard), others Student's.
    """
    sizes = [
        numbers(each, name, dimensions=1)
        for each, name in ((part, "parts"), (whole, "wholes"), (chances, "chances"))
    ]
    if len({len(strata), *map(len, sizes)}) != 1:
        raise ValueError("parts, wholes, chances and strata must be of the same requests")
    counts = sizes[1] > 0
    parts, wholes, drawn = (each[counts] for each in sizes)
    if not ((drawn > 0) & (drawn <= 1)).all():
        raise ValueError("what was drawn had a chance above 0 and at most 1")
    if not len(parts):
        return NOTHING
    names = np.asarray(strata, dtype=np.str_)[counts]
    weights = 1 / drawn
    total = float(np.sum(weights * wholes))
    value = float(np.sum(weights * parts)) / total
    squares = (1 - drawn) * (weights * (parts - value * wholes) / total) ** 2
    # A rate that was fitted to the same requests lies closer to them than the truth does.
    variance = float(np.sum(squares)) * len(parts) / max(len(parts) - 1, 1)
    effective = float(np.sum(weights)) ** 2 / float(np.sum(weights**2))
    low, high = _interval(value, variance, effective, float(np.mean(drawn < 1)), fraction, confidence)
    shares = {
        str(name): StratumShare(
            int(np.sum(own)),
            float(np.sum((weights * parts)[own]) / np.sum((weights * wholes)[own])),
            float(np.sum(squares[own])),
        )
        for name in np.unique(names)
        if (own := names == name).any()
    }
    return SampledRate(value, low, high, variance, len(parts), effective, shares)


def _interval(
    value: float, variance: float, effective: float, open_: float, fraction: bool, confidence: float
) -> tuple[float, float]:
    """Low and high end; both the value itself where everything was drawn."""
    if open_ == 0:
        return value, value
    tail = (1 - level(confidence, "the confidence")) / 2
    normal = float(t_quantile(np.inf, 1 - tail))
    student = float(t_quantile(max(effective - 1, 1.0), 1 - tail))
    if not fraction or not -ROUNDING <= value <= 1 + ROUNDING:
        reach = student * float(np.sqrt(variance))
        return value - reach, value + reach
    rate = min(max(value, 0.0), 1.0)
    alike = rate * (1 - rate) <= ROUNDING or variance <= ROUNDING**2
    worth = effective if alike else rate * (1 - rate) / variance * (normal / student) ** 2
    return wilson(rate, worth, confidence)


def wilson(rate: float, worth: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share of so many."""
    normal = float(t_quantile(np.inf, 1 - (1 - level(confidence, "the confidence")) / 2))
    shrink = 1 + normal**2 / worth
    centre = (rate + normal**2 / (2 * worth)) / shrink
    reach = normal / shrink * float(np.sqrt(rate * (1 - rate) / worth + normal**2 / (4 * worth**2)))
    return max(centre - reach, 0.0), min(centre + reach, 1.0)


class Difference(NamedTuple):
    """By how much one rate differs from another; NaN where that cannot be told."""

    before: float
    after: float
    difference: float
    low: float
    high: float
    p_value: float
    """Two-sided."""
    error: float
    """The standard error of the difference."""
    clusters: tuple[int, int]
    """Users or sessions on each side."""


class Side(NamedTuple):
    """One side of a comparison: requests with their weights, and whose they are."""

    part: Values
    whole: Values
    weights: Values
    clusters: Sequence[str]

    @classmethod
    def of(cls, part: ArrayLike, whole: ArrayLike, weights: ArrayLike, clusters: Sequence[str]) -> Side:
        """A side from numbers; what has no whole is left out."""
        sizes = [numbers(each, "a side", dimensions=1) for each in (part, whole, weights)]
        if len({len(clusters), *map(len, sizes)}) != 1:
            raise ValueError("parts, wholes, weights and clusters must be of the same requests")
        counts = sizes[1] > 0
        kept = [name for name, counted in zip(clusters, counts, strict=True) if counted]
        return cls(sizes[0][counts], sizes[1][counts], sizes[2][counts], kept)

    @property
    def value(self) -> float:
        """Σ w · part ÷ Σ w · whole."""
        total = float(np.sum(self.weights * self.whole))
        return float(np.sum(self.weights * self.part)) / total if total > 0 else np.nan

    def influence(self) -> dict[str, float]:
        """What each cluster adds to the rate, with the correction for few clusters; they sum to 0."""
        names, places = np.unique(np.asarray(self.clusters, dtype=np.str_), return_inverse=True)
        residuals = self.weights * (self.part - self.value * self.whole)
        sums = np.bincount(places, residuals, len(names)) / float(np.sum(self.weights * self.whole))
        scale = np.sqrt(len(names) / max(len(names) - 1, 1))
        return dict(zip(map(str, names), map(float, sums * scale), strict=True))


def compare_sides(before: Side, after: Side, confidence: float = 0.95) -> Difference:
    """Two samples, whose requests come in clusters: those of a user are alike, and count as one observation.

    The variance is the clusters' own (Taylor's linearisation, with C ÷ (C − 1) on each side); whoever is on
    both sides counts once, with the difference. Degrees of freedom are Welch's.
    """
    from scipy import special

    values = before.value, after.value
    if not len(before.part) or not len(after.part):
        return Difference(*values, np.nan, np.nan, np.nan, np.nan, np.nan, (0, 0))
    sides = before.influence(), after.influence()
    counts = len(sides[0]), len(sides[1])
    difference = values[1] - values[0]
    unknown = Difference(*values, difference, np.nan, np.nan, np.nan, np.nan, counts)
    if min(counts) < 2:
        return unknown
    first, second = sides
    joined = [second.get(name, 0.0) - first.get(name, 0.0) for name in sorted({*first, *second})]
    variance = float(np.sum(np.square(joined)))
    own = [float(np.sum(np.square(list(each.values())))) for each in sides]
    if variance <= ROUNDING**2:
        # All are alike on each side: no less than by tossing a coin for everybody on the smaller one.
        chance = 1.0 if abs(difference) <= ROUNDING else min(2 * 0.5 ** min(counts), 1.0)
        return unknown._replace(p_value=chance, low=difference, high=difference, error=0.0)
    freedom = sum(own) ** 2 / sum(each**2 / (count - 1) for each, count in zip(own, counts, strict=True))
    error = float(np.sqrt(variance))
    reach = float(t_quantile(freedom, 1 - (1 - level(confidence, "the confidence")) / 2)) * error
    p_value = 2 * float(special.stdtr(freedom, -abs(difference) / error))
    return unknown._replace(
        low=difference - reach, high=difference + reach, p_value=min(p_value, 1.0), error=error
    )
