"""The sign-flip test: how often a sum of differences is so low if each could as well have the other sign.

Where before and after are alike, they could change places in every case, and the case's difference would
change its sign. Over all 2^k assignments of signs this gives the exact distribution of the sum, however
unequal the cases are and however heavy their tails.
"""

from collections.abc import Iterator

import numpy as np

from eval_pipeline.statistics.arrays import ROUNDING, Counts, Flags, Values

EXACT = 12
"""Where no more cases differ, every assignment of signs is counted; beyond, a saddlepoint is near."""
GRAINS = (1 / 6, 1 / 5, 1 / 4, 1 / 3, 1 / 2, 1.0)
"""Of cases that are right or wrong in some trials, or half right."""
STEPS = 12
"""Of Newton's method towards the saddlepoint."""
NUMBERS_AT_ONCE = 4_000_000


def sign_flips(differences: Values, family: Counts | None = None) -> tuple[Values, Values]:
    """The chances of a sum so low, and so high, for `differences[case, …metric]`.

    1 where all are 0, NaN where any is unknown. `family` numbers the family of each metric, whose members are
    computed in step; by default the last axis is one.
    """
    cases = len(differences)
    table = np.reshape(differences, (cases, int(np.prod(differences.shape[1:]))))
    number = np.ravel(families(differences.shape[1:]) if family is None else family)
    table = np.where(np.abs(table) <= ROUNDING, 0.0, table)
    few = (table != 0).sum(axis=0) <= EXACT
    p_values = np.empty((2, table.shape[1]))
    for part in _blocks(few, 2**EXACT):
        p_values[:, part] = _counted(table[:, part])
    for part in _blocks(~few, cases):
        p_values[:, part] = _saddlepoint(table[:, part], number[part])
    p_values[:, ~np.isfinite(table).all(axis=0)] = np.nan
    below, above = p_values.reshape(2, *differences.shape[1:])
    return below, above


def families(shape: tuple[int, ...]) -> Counts:
    """The number of each metric's family, where the last axis of a shape is one."""
    return np.repeat(np.arange(int(np.prod(shape[:-1]))), shape[-1]).reshape(shape)


def _blocks(chosen: Flags, size: int) -> Iterator[Counts]:
    """The places of the chosen metrics, as many at once as fit in memory."""
    places = np.flatnonzero(chosen)
    block = max(1, NUMBERS_AT_ONCE // max(size, 1))
    for start in range(0, len(places), block):
        yield places[start : start + block]


def _counted(table: Values) -> tuple[Values, Values]:
    """The shares of all assignments of signs; at most `EXACT` cases of each metric differ."""
    if len(table) > EXACT:
        last = np.argpartition(np.abs(table), len(table) - EXACT, axis=0)[len(table) - EXACT :]
        table = np.take_along_axis(table, last, axis=0)
    sums = np.zeros((1, table.shape[1]))
    for row in table:
        sums = np.concatenate([sums + row, sums - row])
    total = table.sum(axis=0)
    slack = ROUNDING * np.maximum(1.0, np.abs(table).sum(axis=0))
    return (sums <= total + slack).mean(axis=0), (sums >= total - slack).mean(axis=0)


def _saddlepoint(table: Values, family: Counts) -> tuple[Values, Values]:
    """Lugannani and Rice's tail of Σ ±d, whose cumulant function is K(t) = Σ log cosh(t·d).

    With K′(t) = |Σ d|, w = √(2 (t·|Σ d| − K)) and u = t·√K″ the tail is Φ(−w) + φ(w)·(1/u − 1/w).
    Where differences are multiples of a grain, the sum moves by two of them: one corrects for continuity.
    """
    from scipy import special

    total = table.sum(axis=0)
    scale = np.sqrt((table**2).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.where(scale > 0, np.abs(table) / scale, 0.0)
        target = np.where(scale > 0, np.maximum(np.abs(total) - _grain(table), 0.0) / scale, 0.0)
    most = sizes.sum(axis=0)
    reach = np.minimum(target, most * (1 - 1e-6))
    point = _solve(sizes, reach, family)
    tangents = np.tanh(point * sizes)
    curve = (sizes**2 * (1 - tangents**2)).sum(axis=0)
    cumulant = (point * sizes - np.log(2.0) + np.log1p(np.exp(-2 * point * sizes))).sum(axis=0)
    w = np.sqrt(np.maximum(2 * (point * reach - cumulant), 0.0))
    u = point * np.sqrt(curve)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = special.ndtr(-w) + np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi) * (1 / u - 1 / w)
    tail = np.where(w > 1e-3, tail, special.ndtr(-w))
    least = 0.5 ** (sizes > 0).sum(axis=0)
    together = np.abs(total) >= most * scale * (1 - ROUNDING)
    tail = np.clip(np.where(together, least, tail), least, 0.5)
    far = np.where(scale > 0, 1 - tail, 1.0)
    tail = np.where(scale > 0, tail, 1.0)
    return np.where(total < 0, tail, far), np.where(total > 0, tail, far)


def _grain(table: Values) -> Values:
    """The largest of some common grains that all differences are multiples of; 0 where there is none."""
    result = np.zeros(table.shape[1])
    for grain in GRAINS:
        parts = table / grain
        result[(np.abs(parts - np.rint(parts)) <= ROUNDING).all(axis=0)] = grain
    return result


def _solve(sizes: Values, target: Values, family: Counts) -> Values:
    """The point at which K′ is the target, by Newton's method within a bracket.

    A family goes on until all of its metrics are there, whatever other families are computed beside it.
    """
    low, high = np.zeros(len(target)), np.full(len(target), np.inf)
    point = target.copy()
    there = np.zeros(len(target), dtype=np.bool_)
    for _ in range(STEPS):
        tangents = np.tanh(point * sizes)
        slope = (sizes * tangents).sum(axis=0)
        curve = (sizes**2 * (1 - tangents**2)).sum(axis=0)
        below = slope < target
        low, high = np.where(below, point, low), np.where(below, high, point)
        with np.errstate(divide="ignore", invalid="ignore"):
            following = point + (target - slope) / curve
        outside = ~((following > low) & (following < high))
        middle = np.where(np.isfinite(high), (low + high) / 2, 2 * low + 1)
        last, point = point, np.where(there, point, np.where(outside, middle, following))
        moves = ~(np.abs(point - last) <= ROUNDING * (1 + last))
        there = np.bincount(family, moves)[family] == 0
        if there.all():
            break
    return point
