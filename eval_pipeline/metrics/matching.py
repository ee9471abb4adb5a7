"""One-to-one matching that does not depend on order, and the pairs of spans that overlap."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Weights = tuple[float, ...]
Matrix = NDArray[np.int64]

_FINEST = 10**9
_LARGEST = 2**52


class Candidate(NamedTuple):
    """A row and a column that may be matched, and how well they fit: the most important weight first."""

    row: int
    column: int
    weights: Weights = ()


def maximum_matching(candidates: Iterable[tuple[int, int, Weights]]) -> list[tuple[int, int]]:
    """The matched (row, column) pairs, sorted: most matches, then the lexicographically greatest weights.

    Every row and every column is matched at most once. Among all matchings with the most pairs, it is
    one whose sum of first weights is greatest, among those one whose sum of second weights is
    greatest, and so on. Whole numbers are summed exactly, others in steps of 1e-9. The order of
    candidates never matters; where a pair is named twice, its greater weights count.
    """
    fits: dict[tuple[int, int], Weights] = {}
    for row, column, weights in candidates:
        known = fits.get((row, column))
        fits[row, column] = weights if known is None else max(known, weights)
    if len({len(weights) for weights in fits.values()}) > 1:
        raise ValueError("every candidate needs the same number of weights")
    matched: list[tuple[int, int]] = []
    for component in _components(sorted(fits)):
        matched += _settle(component, fits)
    return sorted(matched)


def _components(pairs: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Pairs that share a row or a column, directly or through others, together."""
    by_row: dict[int, list[tuple[int, int]]] = {}
    by_column: dict[int, list[tuple[int, int]]] = {}
    for pair in pairs:
        by_row.setdefault(pair[0], []).append(pair)
        by_column.setdefault(pair[1], []).append(pair)
    seen: set[tuple[int, int]] = set()
    for pair in pairs:
        if pair in seen:
            continue
        seen.add(pair)
        component = [pair]
        for row, column in component:
            # Each line is read once: what was taken from it needs no second look.
            for other in (*by_row.pop(row, ()), *by_column.pop(column, ())):
                if other not in seen:
                    seen.add(other)
                    component.append(other)
        yield component


def _settle(
    component: Sequence[tuple[int, int]], fits: dict[tuple[int, int], Weights]
) -> list[tuple[int, int]]:
    """The best matching of one component; a solver is needed only where several pairs can stand together."""
    rows, columns = (sorted({pair[axis] for pair in component}) for axis in (0, 1))
    if len(rows) == 1 or len(columns) == 1:
        greatest = max(fits[pair] for pair in component)
        return [min(pair for pair in component if fits[pair] == greatest)]
    row_places, column_places = ({key: at for at, key in enumerate(keys)} for keys in (rows, columns))
    cells = (
        np.array([row_places[row] for row, _ in component]),
        np.array([column_places[column] for _, column in component]),
    )
    levels = np.array([(1, *fits[pair]) for pair in component], dtype=float).T
    shape = (len(rows), len(columns))
    matrices = [_matrix(level, cells, shape) for level in levels]
    wide = shape[0] <= shape[1]
    chosen = _lexicographic_assignment(matrices if wide else [matrix.T for matrix in matrices])
    results = [(row, column) if wide else (column, row) for row, column in enumerate(chosen)]
    named = [(rows[row], columns[column]) for row, column in results]
    return [pair for pair in named if pair in fits]


def _matrix(
    level: NDArray[np.float64], cells: tuple[NDArray[np.int64], ...], shape: tuple[int, int]
) -> Matrix:
    """One level of weights as whole numbers, 0 where there is no candidate."""
    matrix = np.zeros(shape, dtype=np.int64)
    greatest = float(np.abs(level).max()) or 1.0
    # All sums of the solver stay below 2^53, where floating point is exact.
    most = _LARGEST / (8 * greatest * (min(shape) + 1) ** 2)
    whole = bool(np.all(level == np.round(level))) and most >= 1
    matrix[cells] = level if whole else np.rint(level * min(_FINEST, most))
    return matrix


def _lexicographic_assignment(levels: Sequence[Matrix]) -> list[int]:
    """The column of each row, no column twice: greatest in the first level, then in the second, and so on.

    The assignments that are best on a level are those that use only tight edges of an optimal dual
    solution and leave no column with a price unused. The next level is solved among them alone: what
    would leave them costs more than the level can bring.
    """
    from scipy.optimize import linear_sum_assignment

    shape = levels[0].shape
    allowed = np.ones(shape, dtype=bool)
    needed = np.zeros(shape[1], dtype=bool)
    assigned = np.arange(shape[0])
    for weights in levels:
        most = (int(weights.max()) - int(weights.min())) * shape[0] + 1
        costs = most * (~allowed).astype(np.int64) - most * needed - weights
        assigned = linear_sum_assignment(costs.astype(float))[1]
        reduced, prices = _duals(costs, assigned)
        allowed = reduced == 0
        needed = prices < 0
    return [int(column) for column in assigned]


def _duals(costs: Matrix, assigned: NDArray[np.int64]) -> tuple[Matrix, NDArray[np.int64]]:
    """Reduced costs (0 on tight edges) and column prices (0 on free columns, never above) of an optimum."""
    surplus = costs - costs[np.arange(len(assigned)), assigned][:, None]
    prices = np.zeros(costs.shape[1], dtype=np.int64)
    while True:
        lowered = np.minimum(prices, (surplus + prices[assigned][:, None]).min(axis=0))
        if np.array_equal(lowered, prices):
            return surplus + prices[assigned][:, None] - prices, prices
        prices = lowered


class Overlaps(NamedTuple):
    """Pairs of spans that share at least one position: their indices, and how many they share."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    length: NDArray[np.int64]


def overlaps(
    first_starts: ArrayLike, first_ends: ArrayLike, second_starts: ArrayLike, second_ends: ArrayLike
) -> Overlaps:
    """Every pair of spans of two lists that overlap, in time that grows with the lists and the pairs found.

    Spans are half open and may nest; both lists are sorted by start. Of two spans that overlap, either
    the second starts within the first, or the first starts within the second and after it.
    """
    starts = (np.asarray(first_starts, dtype=np.int64), np.asarray(second_starts, dtype=np.int64))
    ends = (np.asarray(first_ends, dtype=np.int64), np.asarray(second_ends, dtype=np.int64))
    inner = _starting_between(starts[0], ends[0], starts[1], "left")
    outer = _starting_between(starts[1], ends[1], starts[0], "right")
    first = np.concatenate([inner[0], outer[1]])
    second = np.concatenate([inner[1], outer[0]])
    length = np.minimum(ends[0][first], ends[1][second]) - np.maximum(starts[0][first], starts[1][second])
    order = np.lexsort((second, first))
    order = order[length[order] > 0]
    return Overlaps(first[order], second[order], length[order])


def _starting_between(
    starts: NDArray[np.int64], ends: NDArray[np.int64], others: NDArray[np.int64], side: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each span, the other starts that lie in it: pairs of indices."""
    low = np.searchsorted(others, starts, "left" if side == "left" else "right")
    counts = np.maximum(np.searchsorted(others, ends, "left") - low, 0)
    spans = np.repeat(np.arange(len(starts)), counts)
    within = np.arange(len(spans)) - np.repeat(np.cumsum(counts) - counts, counts)
    return spans, low[spans] + within
