"""What a comparison could have seen, and how many cases or trials it would take."""

import numpy as np
from numpy.typing import ArrayLike

from eval_pipeline.statistics.arrays import Values, level

POWER = 0.80
MOST_TRIALS = 100


def t_quantile(freedom: ArrayLike, probability: float) -> Values:
    """The quantile of Student's t for each number of degrees of freedom; NaN where there is none."""
    from scipy import special

    # The quantile is slow and metrics mostly share their degrees of freedom.
    degrees, places = np.unique(np.asarray(freedom, dtype=np.float64), return_inverse=True)
    quantiles = special.stdtrit(np.where(degrees >= 1, degrees, np.nan), probability)
    return np.asarray(quantiles[places], dtype=np.float64).reshape(np.shape(freedom))


def f_quantile(above: Values, below: Values, probability: float) -> Values:
    """The quantile of F for each pair of degrees of freedom; NaN where there are none."""
    from scipy import special

    both, places = np.unique(np.stack([above.ravel(), below.ravel()]), axis=1, return_inverse=True)
    known = (both >= 1).all(axis=0)
    quantiles = special.fdtri(*np.where(known, both, np.nan), probability)
    return np.asarray(quantiles[places.ravel()], dtype=np.float64).reshape(above.shape)


def detectable(freedom: ArrayLike, alpha: float, power: float) -> Values:
    """How many standard errors a true change must measure to be found with that power, one-sided."""
    return t_quantile(freedom, 1 - level(alpha, "alpha")) + t_quantile(freedom, level(power, "the power"))


def minimum_detectable_effect(
    standard_error: ArrayLike, freedom: ArrayLike, *, alpha: float = 0.05, power: float = POWER
) -> Values:
    """The smallest true drop that a one-sided test finds with that power: (t₁₋α + t_power) · its error."""
    return detectable(freedom, alpha, power) * np.asarray(standard_error, dtype=np.float64)


def cases_needed(
    spread: ArrayLike, effect: ArrayLike, *, alpha: float = 0.05, power: float = POWER
) -> Values:
    """How many cases it takes to find a drop of `effect` with that power: 2 or more, or infinite."""
    deviation = np.asarray(spread, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = deviation / np.asarray(effect, dtype=np.float64)
    ratio = np.where(deviation == 0, 0.0, ratio)
    needed = np.maximum((detectable(1e9, alpha, power) * ratio) ** 2, 2.0)
    for _ in range(8):
        needed = np.maximum((detectable(np.maximum(np.ceil(needed) - 1, 1), alpha, power) * ratio) ** 2, 2.0)
    return np.ceil(needed)


def trials_needed(
    case_variance: ArrayLike,
    trial_variance: ArrayLike,
    cases: ArrayLike,
    trials_before: int,
    effect: ArrayLike,
    *,
    alpha: float = 0.05,
    power: float = POWER,
) -> Values:
    """How many trials it takes to find a drop of `effect` on these cases; infinite where none suffice.

    Trials average out what differs between trials of a case, never what differs between cases.
    """
    counts = np.asarray(cases, dtype=np.float64)
    wanted = np.asarray(effect, dtype=np.float64) / detectable(counts - 1, alpha, power)
    spare = wanted**2 * counts - np.asarray(case_variance) - np.asarray(trial_variance) / trials_before
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.ceil(np.asarray(trial_variance) / spare)
    return np.where((spare > 0) & (needed <= MOST_TRIALS), np.maximum(needed, 1.0), np.inf)
