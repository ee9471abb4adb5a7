"""Between trials: whether every metric is settled, could not be settled, or deserves another trial."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.statistics.arrays import Flags, Values
from eval_pipeline.statistics.estimates import Estimate
from eval_pipeline.statistics.looks import LEVELS, Plan, nominal_levels
from eval_pipeline.statistics.power import t_quantile
from eval_pipeline.statistics.verdicts import (
    CHANGE_EXPONENT,
    NO_CHANGE_EXPONENT,
    Rules,
    adjusted_p_values,
    verdicts,
)

Reason = Literal["settled", "futile", "out_of_trials"]

LEAST_CHANCE = 0.20
"""Below this chance that the trials left settle every metric, they are not worth their calls …"""
LEAST_CHANCE_AFTERWARDS = 0.50
"""The same once some metric has regressed, when the other verdicts change little for anyone …"""
LEAST_CHANCE_REGRESSED = 0.30
"""… unless some metric has at least this chance of being shown to have regressed."""


@dataclass(frozen=True)
class Progress:
    """Where comparisons stand after a trial. The last axis is a family: metrics, comparison by comparison."""

    verdict: NDArray[np.str_]
    chance: Values
    """For each metric, the chance that the trials left settle it; 1 where it is settled."""
    chance_regressed: Values
    """The chance that they show it to have regressed; 0 where it is settled."""
    exhausted: bool
    """Whether no trial is left."""

    @property
    def settled(self) -> Flags:
        """Whether every metric of a comparison has a verdict other than inconclusive."""
        return np.asarray((self.verdict != "inconclusive").all(axis=-1), dtype=np.bool_)

    @property
    def worthwhile(self) -> Flags:
        """Whether the trials left are likely to show a regression, or to settle every metric."""
        alarming = (self.chance_regressed >= LEAST_CHANCE_REGRESSED).any(axis=-1)
        known = (self.verdict == "regressed").any(axis=-1)
        wanted = np.where(known, LEAST_CHANCE_AFTERWARDS, LEAST_CHANCE)
        return np.asarray(alarming | (self.chance.prod(axis=-1) >= wanted), dtype=np.bool_)

    @property
    def reason(self) -> Reason | None:
        """Why one comparison stops here; None to ask for another trial."""
        if self.settled:
            return "settled"
        if self.exhausted:
            return "out_of_trials"
        return None if self.worthwhile else "futile"


def progress(estimates: Sequence[Estimate], rules: Sequence[Rules]) -> Progress:
    """Where the comparisons of one side stand after the trials that it has; they are one family."""
    p_values = adjusted_p_values(estimates, rules)
    family = sum(each.moments.cases.shape[-1] for each in estimates)
    chances = [_chances(each, rule, family) for each, rule in zip(estimates, rules, strict=True)]
    verdict = np.concatenate(
        [verdicts(each, rule, *both) for each, rule, both in zip(estimates, rules, p_values, strict=True)],
        axis=-1,
    )
    regressed, other = (np.concatenate(parts, axis=-1) for parts in zip(*chances, strict=True))
    settled = verdict != "inconclusive"
    return Progress(
        verdict,
        np.where(settled, 1.0, np.minimum(regressed + other, 1.0)),
        np.where(settled, 0.0, regressed),
        all(each.moments.trials[1] >= each.looks.maximum for each in estimates),
    )


class _Chances(NamedTuple):
    regressed: Values
    other: Values


def _chances(estimate: Estimate, rules: Rules, family: int) -> _Chances:
    """The predictive probabilities of what the last look says of a metric.

    What trials cannot average out stays; the difference moves by what they can.
    """
    moments, plan = estimate.moments, estimate.looks
    now = estimate.standard_error**2
    last = np.minimum(_variance_at_the_end(estimate, plan), now)
    end, wander = np.sqrt(last), np.sqrt(np.maximum(now - last, 0.0))
    share = rules.alpha / max(family, 1)
    change = t_quantile(estimate.freedom, 1 - _last_level(plan, share, CHANGE_EXPONENT))
    exclude = t_quantile(estimate.freedom, 1 - _last_level(plan, rules.alpha, NO_CHANGE_EXPONENT))
    gain = rules.direction * moments.difference
    size = np.maximum(change * end, rules.noticeable)
    return _Chances(
        _normal_tail(-size - gain, wander),
        _normal_tail(gain - np.minimum(exclude * end - rules.tolerance, size), wander),
    )


def _normal_tail(distance: Values, deviation: Values) -> Values:
    """The chance that a normal deviation does not use up the distance; 0 where nothing is known."""
    from scipy import special

    with np.errstate(divide="ignore", invalid="ignore"):
        chance = special.ndtr(distance / deviation)
    chance = np.where(deviation > 0, chance, (distance >= 0).astype(np.float64))
    return np.asarray(np.where(np.isfinite(chance), chance, 0.0), dtype=np.float64)


def _variance_at_the_end(estimate: Estimate, plan: Plan) -> Values:
    """The difference's variance after the last trial; all of it is noise of trials where nothing is known."""
    moments = estimate.moments
    first, second = moments.trials
    known = np.isfinite(moments.trial_variance)
    all_noise = moments.spread**2 / (1 / first + 1 / second)
    noise = np.where(known, moments.trial_variance, all_noise)
    stays = np.where(known, estimate.case_variance(noise), 0.0)
    return (stays + noise * (1 / first + 1 / plan.maximum)) / np.maximum(moments.cases, 1)


def _last_level(plan: Plan, level: float, exponent: float) -> float:
    """The one-sided level of the last look for an overall level."""
    if plan.minimum == plan.maximum:
        return level
    nominal = nominal_levels(plan.information, exponent)[:, -1]
    return float(np.exp(np.interp(np.log(level), np.log(LEVELS), np.log(nominal))))
