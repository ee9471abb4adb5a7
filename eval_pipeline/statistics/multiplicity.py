"""Many tests at once: Holm for the metrics that gate, Benjamini–Hochberg for the groups that inform."""

import numpy as np
from numpy.typing import ArrayLike

from eval_pipeline.statistics.arrays import Values


def holm(p_values: ArrayLike) -> Values:
    """Adjusted p-values along the last axis; the chance of any false alarm stays below their level.

    NaN (no test was possible) stays NaN and does not count.
    """
    ordered, order, tests = _sorted(p_values)
    left = np.maximum(tests - np.arange(ordered.shape[-1]), 1)
    adjusted = np.minimum(np.maximum.accumulate(ordered * left, axis=-1), 1.0)
    return _restored(adjusted, order)


def benjamini_hochberg(p_values: ArrayLike) -> Values:
    """Adjusted p-values along the last axis; among what they select, the share of false ones stays below.

    NaN (no test was possible) stays NaN and does not count.
    """
    ordered, order, tests = _sorted(p_values)
    scaled = ordered * tests / np.arange(1, ordered.shape[-1] + 1)
    scaled = np.where(np.isnan(scaled), np.inf, scaled)
    adjusted = np.minimum(np.flip(np.minimum.accumulate(np.flip(scaled, -1), axis=-1), -1), 1.0)
    return _restored(np.where(np.isnan(ordered), np.nan, adjusted), order)


def _sorted(p_values: ArrayLike) -> tuple[Values, np.ndarray[tuple[int, ...], np.dtype[np.intp]], Values]:
    values = np.atleast_1d(np.asarray(p_values, dtype=np.float64))
    if ((values < 0) | (values > 1)).any():
        raise ValueError("p-values lie between 0 and 1")
    order = np.argsort(values, axis=-1, kind="stable")
    tests = (~np.isnan(values)).sum(axis=-1, keepdims=True).astype(np.float64)
    return np.take_along_axis(values, order, -1), order, tests


def _restored(adjusted: Values, order: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> Values:
    result = np.empty_like(adjusted)
    np.put_along_axis(result, order, adjusted, -1)
    return result
