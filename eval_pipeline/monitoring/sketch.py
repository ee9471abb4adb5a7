"""Percentiles from counts in buckets that grow by a constant factor: they merge exactly.

A value x > 0 lies in bucket i = ⌈log(x) ÷ log(γ)⌉ with γ = (1 + α) ÷ (1 − α). The bucket stands for
2 γⁱ ÷ (γ + 1), which is off by at most α = 1 % of x (Masson, Rim, Lee: DDSketch, 2019).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

ACCURACY = 0.01
GAMMA = (1 + ACCURACY) / (1 - ACCURACY)
SMALLEST = 1e-9
ZERO = -(2**15)
"""The bucket of everything below `SMALLEST`."""


def bucket_sql(value: str) -> str:
    """The bucket of a value, as SQL."""
    logarithm = f"ceil(ln({value}) / {math.log(GAMMA)!r})::INTEGER"
    return f"CASE WHEN {value} < {SMALLEST} THEN {ZERO} ELSE {logarithm} END"


def bucket_of(value: float) -> int:
    """The bucket of a value."""
    return ZERO if value < SMALLEST else math.ceil(math.log(value) / math.log(GAMMA))


def value_of(bucket: int) -> float:
    """What a bucket stands for."""
    return 0.0 if bucket == ZERO else 2 * math.exp(bucket * math.log(GAMMA)) / (GAMMA + 1)


def quantile(counts: Mapping[int, int], share: float) -> float | None:
    """The least value that a share of all values is at most: that of rank ⌈share × n⌉; None of none."""
    wanted, reached = share * sum(counts.values()) - 1e-9, 0  # 0.07 × 100 is more than 7
    for bucket in sorted(counts):
        reached += counts[bucket]
        if reached >= wanted:
            return value_of(bucket)
    return None
