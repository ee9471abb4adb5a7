"""Whether things that carry a mark are met more often in a part than chance explains, exactly."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from eval_pipeline.statistics.arrays import Values


class Stratum(NamedTuple):
    """A set of things: how many there are, how many lie in the part, how many are marked, how many both."""

    total: int
    inside: int
    marked: int
    both: int


def excess_p(strata: Iterable[Stratum]) -> float:
    """The chance that at least so many marked things lie in the part, if marks fell at random in each set.

    With one set it is Fisher's exact test, one-sided; with several their sum, given the margins of each.
    """
    distribution = np.ones(1)
    observed = 0
    for stratum in strata:
        total, inside, marked, both = stratum
        if max(inside, marked) > total or not max(0, inside + marked - total) <= both <= min(inside, marked):
            raise ValueError(f"{stratum} does not add up")
        distribution = np.convolve(distribution, _hypergeometric(stratum))
        observed += stratum.both
    return min(1.0, float(distribution[observed:].sum()))


def _hypergeometric(stratum: Stratum) -> Values:
    """How likely 0, 1, 2 … of the marked things lie in the part."""
    total, inside, marked, _ = stratum
    ways = [
        _log_binomial(marked, both) + _log_binomial(total - marked, inside - both)
        if both <= marked and inside - both <= total - marked
        else -math.inf
        for both in range(min(inside, marked) + 1)
    ]
    return np.exp(np.array(ways) - _log_binomial(total, inside))


def _log_binomial(whole: int, part: int) -> float:
    return math.lgamma(whole + 1) - math.lgamma(part + 1) - math.lgamma(whole - part + 1)
