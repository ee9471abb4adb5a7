"""Worlds in which verdicts are tried: how cases, trials and sides scatter, with and without a drop.

Every world draws two sides before and one after, of five trials and some correlated metrics each. Without a
drop all three are alike. A drop is a true fall of the first metric, in that metric's own unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Values = NDArray[np.float64]
Kind = Literal["continuous", "binary", "hard"]
"""What METRICS asks of intervals: 93 to 97 %, 93 % on average, 90 % from thirty cases."""

MOST_TRIALS = 5
METRICS = 8
ALIKE = 0.5
"""The correlation between metrics."""
LEVEL, SCATTER, RATE = 0.75, 0.2, 0.8
"""Latent mean and standard deviation of graded scores; rate of right answers of binary ones."""
COPIES = 0.8
"""The share of trials that repeat the first one, where trials are strongly correlated."""
FLIPPING = 0.2
"""The share of right answers that turn wrong where a minority flips; as many turn right."""
RIGHT_BEFORE = 0.6


class Drawn(NamedTuple):
    """Scores `[case, trial, comparison, metric]` of both sides before, and of the side after by its drop."""

    before: tuple[Values, Values]
    after: Callable[[float], Values]
    """The scores of all metrics without a drop, or of the first one with it."""
    sizes: tuple[Values, Values, Values] | None = None
    """Of ratios: the items of both sides before and of the side after, `[case, trial, comparison, 1]`."""


@dataclass(frozen=True)
class World:
    """A way in which scores come about."""

    name: str
    kind: Kind
    draw: Callable[[np.random.Generator, int, int], Drawn]


def latent(random: np.random.Generator, cases: int, comparisons: int, correlation: float) -> list[Values]:
    """Normal scores of three sides; trials of a case share what `correlation` says, and so do the sides."""

    def normal(trials: int) -> Values:
        own = random.standard_normal((cases, trials, comparisons, METRICS))
        shared = random.standard_normal((cases, trials, comparisons, 1))
        return math.sqrt(1 - ALIKE) * own + math.sqrt(ALIKE) * shared

    by_case = math.sqrt(correlation) * normal(1)
    return [by_case + math.sqrt(1 - correlation) * normal(MOST_TRIALS) for _ in range(3)]


@lru_cache
def graded_shift(drop: float) -> float:
    """By how much the latent score must fall for the mean of graded scores to fall by `drop`."""
    low, high = 0.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        fell = clipped_mean(LEVEL) - clipped_mean(LEVEL - SCATTER * middle)
        low, high = (middle, high) if fell < drop else (low, middle)
    return low


def clipped_mean(level: float) -> float:
    """The mean of a normal score that is cut off at 0 and 1."""
    low, high = -level / SCATTER, (1 - level) / SCATTER
    density = [math.exp(-(bound**2) / 2) / math.sqrt(2 * math.pi) for bound in (low, high)]
    inside = special.ndtr(high) - special.ndtr(low)
    return float(level * inside + SCATTER * (density[0] - density[1]) + special.ndtr(-high))


def graded(scores: Values, drop: float) -> Values:
    """Latent scores as values between 0 and 1."""
    return np.clip(LEVEL + SCATTER * (scores - graded_shift(drop)), 0.0, 1.0)


def right_or_wrong(scores: Values, drop: float) -> Values:
    """Latent scores as right or wrong."""
    shift = special.ndtri(RATE) - special.ndtri(RATE - drop)
    return np.asarray(scores - shift > -special.ndtri(RATE), dtype=np.float64)


def _drawn(show: Callable[[Values, float], Values], sides: list[Values]) -> Drawn:
    first, second, after = sides

    def later(drop: float) -> Values:
        return show(after[..., :1] if drop else after, drop)

    return Drawn((show(first, 0.0), show(second, 0.0)), later)


def means(random: np.random.Generator, cases: int, comparisons: int) -> Drawn:
    """Graded scores, one case one vote."""
    return _drawn(graded, latent(random, cases, comparisons, 0.3))


def binary(random: np.random.Generator, cases: int, comparisons: int) -> Drawn:
    """Right or wrong."""
    return _drawn(right_or_wrong, latent(random, cases, comparisons, 0.3))


def correlated(random: np.random.Generator, cases: int, comparisons: int) -> Drawn:
    """Right or wrong by the difficulty of the case, with trials that mostly repeat the side's first."""
    sides = []
    for side in latent(random, cases, comparisons, 0.7):
        copied = random.random((cases, MOST_TRIALS, comparisons, 1)) < COPIES
        sides.append(np.where(copied, side[:, :1], side))
    return _drawn(right_or_wrong, sides)


def heavy_tails(random: np.random.Generator, cases: int, comparisons: int) -> Drawn:
    """What moves a case between sides has Student's t with 2.5 degrees of freedom."""
    by_case = 0.7 + 0.1 * random.standard_normal((cases, 1, comparisons, METRICS))
    sides = [
        by_case
        + 0.05 * random.standard_t(2.5, (cases, 1, comparisons, METRICS))
        + 0.03 * random.standard_normal((cases, MOST_TRIALS, comparisons, METRICS))
        for _ in range(3)
    ]
    return _drawn(lambda scores, drop: scores - drop, sides)


def minority_flips(random: np.random.Generator, cases: int, comparisons: int) -> Drawn:
    """Right or wrong, trials are copies; most cases stay and some flip, as many either way."""
    shape = (cases, 1, comparisons, METRICS)
    was = random.random(shape) < RIGHT_BEFORE
    chances = [random.random(shape) for _ in range(3)]

    def flipped(chance: Values, drop: float) -> Values:
        start = was[..., : chance.shape[-1]]
        lost = chance >= FLIPPING + drop / RIGHT_BEFORE
        won = chance < FLIPPING * RIGHT_BEFORE / (1 - RIGHT_BEFORE)
        return np.repeat(np.where(start, lost, won).astype(np.float64), MOST_TRIALS, axis=1)

    return _drawn(flipped, chances)


def _ratios(sizes: Callable[[np.random.Generator, int, int], Values]) -> Callable[..., Drawn]:
    """Ratios of sums of graded scores: gold items of some sizes, and up to half as many more predicted."""

    def draw(random: np.random.Generator, cases: int, comparisons: int) -> Drawn:
        items = sizes(random, cases, comparisons)
        more = [random.uniform(0, 0.5, (cases, MOST_TRIALS, comparisons, 1)) for _ in range(3)]
        first, second, after = (items + np.rint(items * each) for each in more)
        return means(random, cases, comparisons)._replace(sizes=(first, second, after))

    return draw


def _uniform(random: np.random.Generator, cases: int, comparisons: int) -> Values:
    return random.integers(1, 9, size=(cases, 1, comparisons, 1)).astype(np.float64)


def _lognormal(random: np.random.Generator, cases: int, comparisons: int) -> Values:
    return np.ceil(np.exp(random.normal(1.5, 1.5, (cases, 1, comparisons, 1))))


def _one_giant(random: np.random.Generator, cases: int, comparisons: int) -> Values:
    items = _uniform(random, cases, comparisons)
    items[0] = items[1:].sum(axis=0)
    return items


WORLDS = (
    World("means", "continuous", means),
    World("ratios", "continuous", _ratios(_uniform)),
    World("right or wrong", "binary", binary),
    World("correlated trials", "binary", correlated),
    World("heavy tails", "hard", heavy_tails),
    World("a minority flips", "hard", minority_flips),
    World("one giant case", "hard", _ratios(_one_giant)),
    World("lognormal sizes", "hard", _ratios(_lognormal)),
)
