"""Looking at the data after every trial, without more false alarms than one look would raise.

Alpha spending: after a share τ of the information, at most level · τ^exponent of the error has been spent.
Trials of the same cases share what differs between cases, and the side before; the share of information
is taken as if only trials differed. In truth looks are then more alike, and the error only smaller.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from eval_pipeline.statistics.arrays import Values

NODES = 200
BISECTIONS = 60
LEVELS = np.geomspace(1e-8, 0.5, 49)
FAR = 8.5
"""Standard deviations beyond which nothing happens."""


@dataclass(frozen=True)
class Plan:
    """How often the data may be looked at: after each trial from `minimum` to `maximum`."""

    minimum: int
    maximum: int
    before: int = 1
    """The trials of the side that is not asked again."""

    def __post_init__(self) -> None:
        if not 1 <= self.minimum <= self.maximum:
            raise ValueError(f"trials from {self.minimum} to {self.maximum} make no plan")
        if self.before < 1:
            raise ValueError("the side before has no trial")

    @property
    def information(self) -> tuple[float, ...]:
        """The share of the last look's information that each look has."""
        last = 1 / self.maximum + 1 / self.before
        looks = range(self.minimum, self.maximum + 1)
        return tuple(last / (1 / trials + 1 / self.before) for trials in looks)

    def adjusted(self, p_values: ArrayLike, trials: int, exponent: float) -> Values:
        """p-values after so many trials as the overall levels at which this look would reject them."""
        if not self.minimum <= trials <= self.maximum:
            raise ValueError(f"{trials} trials are outside of the plan ({self.minimum} to {self.maximum})")
        values = np.asarray(p_values, dtype=np.float64)
        if self.minimum == self.maximum:
            return values
        nominal = nominal_levels(self.information, exponent)[:, trials - self.minimum]
        known = np.clip(values, nominal[0], nominal[-1])
        result = np.exp(np.interp(np.log(known), np.log(nominal), np.log(LEVELS)))
        return np.minimum(np.where(np.isnan(values), np.nan, result * (values / known)), 1.0)


@lru_cache(maxsize=64)
def nominal_levels(information: tuple[float, ...], exponent: float) -> Values:
    """The one-sided level of each look, `[level, look]`, for each overall level of `LEVELS`.

    Found by integrating, look by look, over the paths that no earlier look stopped.
    """
    from scipy import special

    shares = np.asarray(information)
    spent = LEVELS[:, np.newaxis] * np.diff(shares**exponent, prepend=0.0)
    points, weights = np.polynomial.legendre.leggauss(NODES)
    nominal = np.empty_like(spent)
    nodes, mass = np.zeros((len(LEVELS), 1)), np.ones((len(LEVELS), 1))
    for look, step in enumerate(np.sqrt(np.diff(shares, prepend=0.0))):
        limit = _crossing(nodes, mass, step, spent[:, look])
        nominal[:, look] = special.ndtr(-limit / np.sqrt(shares[look]))
        lowest = -FAR * np.sqrt(shares[look])
        half = (limit[:, np.newaxis] - lowest) / 2
        following = lowest + half * (points + 1)
        density = np.exp(-(((following[:, :, np.newaxis] - nodes[:, np.newaxis]) / step) ** 2) / 2)
        mass = half * weights * (density @ mass[:, :, np.newaxis])[:, :, 0] / (step * np.sqrt(2 * np.pi))
        nodes = following
    return np.asarray(nominal, dtype=np.float64)


def _crossing(nodes: Values, mass: Values, step: float, target: Values) -> Values:
    """The limit that paths at `nodes` pass in the next step with the target's probability."""
    from scipy import special

    low, high = np.full(len(target), -FAR), np.full(len(target), FAR)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        passed = (mass * special.ndtr((nodes - middle[:, np.newaxis]) / step)).sum(axis=1)
        low, high = np.where(passed > target, middle, low), np.where(passed > target, high, middle)
    return np.asarray((low + high) / 2, dtype=np.float64)
