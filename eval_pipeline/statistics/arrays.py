"""What every function here asks of its arrays: numbers, of shapes that fit, never broadcast in silence."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


ROUNDING = 1e-9
"""What is smaller than this is the rounding of floats, not a difference."""


def numbers(values: ArrayLike, what: str, *, dimensions: int | None = None) -> Values:
    """Values as floats; NaN, infinity and the wrong number of axes are errors."""
    array = np.asarray(values, dtype=np.float64)
    if dimensions is not None and array.ndim != dimensions:
        raise ValueError(f"{what} must have {dimensions} axes, not {array.ndim}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} must be finite numbers; leave out what is undefined")
    return array


def pair(before: ArrayLike, after: ArrayLike) -> tuple[Values, Values]:
    """Two vectors with one value per case, in the same order."""
    first = numbers(before, "the values before", dimensions=1)
    second = numbers(after, "the values after", dimensions=1)
    if len(first) != len(second):
        raise ValueError(
            f"{len(first)} values before and {len(second)} after cannot be paired: align the cases"
        )
    return first, second


def level(value: float, what: str) -> float:
    """A probability strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{what} must lie between 0 and 1, not be {value}")
    return value
