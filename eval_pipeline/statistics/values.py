"""Intervals of single values, where nothing is compared: how far other cases would have moved them."""

import numpy as np

from eval_pipeline.statistics.arrays import ROUNDING, Counts, Flags, Values, level
from eval_pipeline.statistics.pairs import LeaveOneOut, paired
from eval_pipeline.statistics.power import t_quantile


def value_intervals(
    side: LeaveOneOut, fractions: Flags, confidence: float = 0.95
) -> tuple[Values, Values, Counts]:
    """Low and high end for each metric, and on how many cases it rests; NaN below two cases.

    A value is its difference from nothing, so what each case contributes is known. Fractions get Wilson's
    interval with as many cases as their scatter is worth, fewer where few cases tell the scatter (Korn and
    Graubard); cases that are right or wrong, or all alike, are worth what they are. Others get Student's.
    """
    nothing = LeaveOneOut(
        np.zeros_like(side.whole), np.zeros_like(side.without), side.alone * 0.0, side.items
    )
    moments = paired(nothing, side).moments
    value, cases = moments.after, moments.cases
    tail = (1 - level(confidence, "the confidence")) / 2
    normal, student = t_quantile(np.inf, 1 - tail), t_quantile(np.maximum(moments.effective, 2) - 1, 1 - tail)
    error = moments.spread / np.sqrt(np.maximum(cases, 1))
    fraction = fractions & (value >= -ROUNDING) & (value <= 1 + ROUNDING)
    rate = np.clip(value, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = rate * (1 - rate) / error**2 * (normal / student) ** 2
    plain = moments.binary | (error <= ROUNDING) | (rate * (1 - rate) <= ROUNDING)
    worth = np.where(plain, moments.effective, worth)
    shrink = 1 + normal**2 / worth
    centre = np.where(fraction, (rate + normal**2 / (2 * worth)) / shrink, value)
    wilson = normal / shrink * np.sqrt(rate * (1 - rate) / worth + normal**2 / (4 * worth**2))
    reach = np.where(fraction, wilson, student * error)
    known = cases >= 2
    low = np.where(fraction, np.maximum(centre - reach, 0.0), centre - reach)
    high = np.where(fraction, np.minimum(centre + reach, 1.0), centre + reach)
    return np.where(known, low, np.nan), np.where(known, high, np.nan), cases
