"""What every function here asks of its arrays: numbers, of shapes that fit, never broadcast in silence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


ROUNDING = 1e-9
"""What is smaller than this is the rounding of floats, not a difference."""


class Alignment(NamedTuple):
    """Which rows of two sides belong together, in the order of the ids."""

    before: NDArray[np.intp]
    after: NDArray[np.intp]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]


def align(before: Sequence[str], after: Sequence[str]) -> Alignment:
    """Pair two lists of case ids; ids of one side only are named and left out."""
    places = [{name: place for place, name in enumerate(ids)} for ids in (before, after)]
    for side, ids, place in zip(("before", "after"), (before, after), places, strict=True):
        if len(place) != len(ids):
            twice = next(name for name in ids if list(ids).count(name) > 1)
            raise ValueError(f"the case {twice!r} stands twice on the side {side!r}")
    first, second = places
    shared = sorted(first.keys() & second.keys())
    return Alignment(
        np.array([first[name] for name in shared], dtype=np.intp),
        np.array([second[name] for name in shared], dtype=np.intp),
        tuple(sorted(first.keys() - second.keys())),
        tuple(sorted(second.keys() - first.keys())),
    )


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
