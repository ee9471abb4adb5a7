"""How far two numbers go together, by rank, and where the truth may lie."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eval_pipeline.statistics.arrays import Values

LEAST = 10
"""Below so many pairs nothing is concluded."""
_Z = 1.959963984540054


class Correlation(NamedTuple):
    """Spearman's ρ with its interval at 95 %."""

    value: float
    low: float
    high: float
    pairs: int

    @property
    def clear(self) -> bool:
        """Whether the whole interval is on one side of zero."""
        return self.low > 0 or self.high < 0


def spearman(first: Sequence[float], second: Sequence[float]) -> Correlation | None:
    """ρ = the correlation of ranks, ties at their mean rank; None below ten pairs, or where one is constant.

    Its interval is Fisher's, with the variance (1 + ρ²/2) ÷ (n − 3) that Bonett and Wright give for ranks.
    """
    if len(first) != len(second):
        raise ValueError("each value needs its counterpart")
    count = len(first)
    if count < LEAST:
        return None
    one, two = ranks(first), ranks(second)
    one, two = one - one.mean(), two - two.mean()
    scale = math.sqrt(float((one**2).sum() * (two**2).sum()))
    if scale == 0.0:
        return None
    value = min(1.0, max(-1.0, float((one * two).sum()) / scale))
    if abs(value) == 1.0:
        return Correlation(value, value, value, count)
    spread = _Z * math.sqrt((1 + value**2 / 2) / (count - 3))
    centre = math.atanh(value)
    return Correlation(value, math.tanh(centre - spread), math.tanh(centre + spread), count)


def ranks(values: Sequence[float]) -> Values:
    """The rank of each value, from 1 on; equal ones share the mean of theirs."""
    _, places, counts = np.unique(np.asarray(values, dtype=float), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[places]
