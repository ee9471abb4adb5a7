"""Tests of one paired difference, each selectable, and bounds of a rate.

Every test takes one value per case on each side, in the same order, and honours `alpha`.
"""

import math
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval_pipeline.statistics.arrays import ROUNDING, Values, level, numbers, pair

TestName = Literal["paired_t", "wilcoxon", "bootstrap", "mcnemar", "permutation"]

DIGITS = 9
RESAMPLES = 10_000
EXACT_SIGN_FLIPS = 16
"""Up to so many cases every assignment of signs is tried."""
EXACT_RANKS = 13
"""Up to so many cases that differ, Wilcoxon's p is exact even where ranks are tied."""
SIGN_FLIPS = 20_000
WEIGHTS_AT_ONCE = 2_000_000


class Outcome(NamedTuple):
    """A test of after − before. What a test does not yield is None."""

    test: str
    cases: int
    difference: float
    statistic: float | None
    p_value: float | None
    low: float | None
    high: float | None
    significant: bool
    alpha: float


def significance_test(
    before: ArrayLike,
    after: ArrayLike,
    test: TestName = "paired_t",
    alpha: float = 0.05,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Outcome:
    """One of the tests, by name; two-sided.

    Without a case there is no difference, which is an error. One case yields no p-value. Identical
    values have p 1; a constant shift has no scatter to measure it by, so its p is the permutation's.
    """
    first, second = pair(before, after)
    level(alpha, "alpha")
    if not len(first):
        raise ValueError("there is no case to compare")
    # Differences that are equal stay equal: what floats add to them would part tied ranks and signs.
    differences = np.round(second - first, DIGITS)
    if len(differences) == 1:
        return _outcome(test, differences, alpha, None)
    if np.ptp(differences) <= ROUNDING:
        return _constant_shift(test, differences, alpha)
    tests: dict[TestName, Callable[[], Outcome]] = {
        "paired_t": lambda: _paired_t(differences, alpha),
        "wilcoxon": lambda: _wilcoxon(differences, alpha),
        "bootstrap": lambda: _bootstrap(differences, alpha, seed, resamples),
        "permutation": lambda: _permutation(differences, alpha, seed),
        "mcnemar": lambda: _mcnemar(first, second, alpha),
    }
    if test not in tests:
        raise ValueError(f"{test!r} is not a test; there are {', '.join(tests)}")
    return tests[test]()


def _outcome(
    test: str,
    differences: Values,
    alpha: float,
    p_value: float | None,
    statistic: float | None = None,
    interval: tuple[float, float] | None = None,
) -> Outcome:
    """What a test says; without a p-value, whether its interval leaves 0 out."""
    low, high = interval or (None, None)
    if p_value is not None:
        significant = p_value <= alpha
    else:
        significant = interval is not None and not interval[0] <= 0 <= interval[1]
    mean = float(differences.mean())
    return Outcome(test, len(differences), mean, statistic, p_value, low, high, significant, alpha)


def _constant_shift(test: str, differences: Values, alpha: float) -> Outcome:
    shift = float(differences.mean())
    p_value = 1.0 if abs(shift) <= ROUNDING else 2.0 ** (1 - len(differences))
    return _outcome(test, differences, alpha, p_value, interval=(shift, shift))


def _paired_t(differences: Values, alpha: float) -> Outcome:
    from scipy import special

    cases = len(differences)
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(cases)
    statistic = mean / error
    p_value = float(2 * special.stdtr(cases - 1, -abs(statistic)))
    reach = float(special.stdtrit(cases - 1, 1 - alpha / 2)) * error
    return _outcome("paired_t", differences, alpha, p_value, statistic, (mean - reach, mean + reach))


def _wilcoxon(differences: Values, alpha: float) -> Outcome:
    from scipy import stats

    moved = differences[np.abs(differences) > ROUNDING]
    if len(moved) > EXACT_RANKS:
        result = stats.wilcoxon(moved)
        return _outcome("wilcoxon", differences, alpha, float(result.pvalue), float(result.statistic))
    ranks = stats.rankdata(np.abs(moved))
    rose, fell = float(ranks[moved > 0].sum()), float(ranks[moved < 0].sum())
    (signs,) = _all_signs(len(moved))
    sums = (signs > 0) @ ranks
    p_value = 2 * min(float((sums >= rose - ROUNDING).mean()), float((sums <= rose + ROUNDING).mean()))
    return _outcome("wilcoxon", differences, alpha, min(p_value, 1.0), min(rose, fell))


def _bootstrap(differences: Values, alpha: float, seed: int, resamples: int) -> Outcome:
    means = bootstrap_means(differences[:, np.newaxis], seed=seed, resamples=resamples)[:, 0]
    low, high = (float(each) for each in np.quantile(means, [alpha / 2, 1 - alpha / 2]))
    return _outcome("bootstrap", differences, alpha, None, interval=(low, high))


def bootstrap_weights(cases: int, *, seed: int, resamples: int = RESAMPLES) -> Iterator[NDArray[np.float32]]:
    """How often each case is drawn in each resample, `[resample, case]`, in blocks that fit in memory.

    All metrics of a comparison share these weights: a resample of every sum is one matrix product.
    """
    if cases < 1 or resamples < 1:
        raise ValueError("a bootstrap needs at least one case and one resample")
    random = np.random.default_rng(seed)
    block = max(1, WEIGHTS_AT_ONCE // cases)
    for start in range(0, resamples, block):
        weights = np.empty((min(block, resamples - start), cases), dtype=np.float32)
        drawn = random.integers(0, cases, size=weights.shape, dtype=np.min_scalar_type(cases))
        for row, cases_drawn in enumerate(drawn):
            weights[row] = np.bincount(cases_drawn, minlength=cases)
        yield weights


def bootstrap_means(values: ArrayLike, *, seed: int, resamples: int = RESAMPLES) -> Values:
    """Resampled means over cases, `[resample, metric]`, of `values[case, metric]`."""
    table = numbers(values, "the values", dimensions=2)
    centre = table.mean(axis=0)
    # Single precision is as good as double for what remains around the centre, and twice as fast.
    deviations = (table - centre).astype(np.float32)
    weights = bootstrap_weights(len(table), seed=seed, resamples=resamples)
    moved = np.concatenate([block @ deviations for block in weights])
    return np.asarray(centre + moved / len(table), dtype=np.float64)


def _permutation(differences: Values, alpha: float, seed: int) -> Outcome:
    """Which of the sides is before is exchanged case by case: the sign of its difference."""
    observed = abs(float(differences.sum()))
    cases = len(differences)
    exact = cases <= EXACT_SIGN_FLIPS
    sums = (
        np.abs(signs @ differences) for signs in (_all_signs(cases) if exact else _some_signs(cases, seed))
    )
    reached = sum(int((each >= observed - cases * ROUNDING).sum()) for each in sums)
    p_value = reached / 2**cases if exact else (reached + 1) / (SIGN_FLIPS + 1)
    return _outcome("permutation", differences, alpha, p_value, float(differences.mean()))


def _all_signs(cases: int) -> Iterator[Values]:
    bits = np.arange(2**cases)[:, np.newaxis] >> np.arange(cases) & 1
    yield np.asarray(2 * bits - 1, dtype=np.float64)


def _some_signs(cases: int, seed: int) -> Iterator[Values]:
    """Random signs, in blocks that fit in memory."""
    random = np.random.default_rng(seed)
    block = max(1, WEIGHTS_AT_ONCE // cases)
    for start in range(0, SIGN_FLIPS, block):
        yield random.choice([-1.0, 1.0], size=(min(block, SIGN_FLIPS - start), cases))


def _mcnemar(before: Values, after: Values, alpha: float) -> Outcome:
    if not is_binary(np.concatenate([before, after])):
        raise ValueError("McNemar's test is for values that are 0 or 1")
    lost, won = int((before - after > 0.5).sum()), int((after - before > 0.5).sum())
    return _outcome("mcnemar", after - before, alpha, mcnemar(lost, won), float(min(lost, won)))


def is_binary(values: Values) -> bool:
    """Whether every value is 0 or 1."""
    return bool((np.abs(np.abs(values - 0.5) - 0.5) <= ROUNDING).all())


def mcnemar(lost: int, won: int) -> float:
    """McNemar's exact two-sided p from the discordant counts; 1 where there are none."""
    from scipy import special

    if lost < 0 or won < 0:
        raise ValueError("discordant counts cannot be negative")
    return min(1.0, 2.0 * float(special.bdtr(min(lost, won), lost + won, 0.5)))


class Bounds(NamedTuple):
    """The ends of an interval."""

    low: float
    high: float


def wilson(successes: float, total: float, confidence: float = 0.95) -> Bounds | None:
    """Wilson's interval of a rate, honest near 0 and 1; None where nothing was counted."""
    level(confidence, "the confidence")
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} of {total} is no rate")
    if not total:
        return None
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate, shrink = successes / total, 1 + z**2 / total
    centre = (rate + z**2 / (2 * total)) / shrink
    reach = z / shrink * math.sqrt(rate * (1 - rate) / total + z**2 / (4 * total**2))
    return Bounds(centre - reach if successes else 0.0, centre + reach if successes < total else 1.0)


def predicted_hits(draws: int, hits: int, seen: int, confidence: float) -> int:
    """How many of some draws hit at most, where so many of the draws seen before did.

    The quantile of the beta-binomial distribution with Jeffreys' prior on the one rate that all draws have.
    """
    level(confidence, "the confidence")
    first, second = hits + 0.5, seen - hits + 0.5
    whole = _log_beta(first, second)
    total = 0.0
    for count in range(draws):
        ways = -math.log(draws + 1) - _log_beta(draws - count + 1, count + 1)
        total += math.exp(ways + _log_beta(count + first, draws - count + second) - whole)
        if total >= confidence:
            return count
    return draws


def _log_beta(one: float, other: float) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)
