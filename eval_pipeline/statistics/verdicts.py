"""From paired cases to verdicts, metric by metric.

- *identical*: no case differs. A fact: it has no interval, and says nothing of what would have been seen.
- *regressed*: the metric fell by what is noticeable or more, and a one-sided test, corrected by Holm for
  all metrics of the family and for repeated looks, says at level `alpha` that chance does not explain it.
- *improved*: likewise upwards.
- *unchanged*: a move by the tolerance or more is excluded in both directions, each at level `alpha`. Had the
  metric moved by that much, this would be said with a chance of at most `alpha`, over all looks.
- *no worse*: only a fall by the tolerance is excluded.
- *inconclusive*: everything else; above all a fall beyond the tolerance that may be chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval_pipeline.statistics.arrays import ROUNDING, Counts, Values, level
from eval_pipeline.statistics.estimates import Estimate
from eval_pipeline.statistics.looks import Plan
from eval_pipeline.statistics.multiplicity import holm
from eval_pipeline.statistics.pairs import Moments
from eval_pipeline.statistics.power import cases_needed, trials_needed

Verdict = Literal["improved", "identical", "unchanged", "no worse", "inconclusive", "regressed"]

CHANGE_EXPONENT = 2.0
"""How late the error of finding a change is spent over looks: mostly at the end, as a single look would."""
NO_CHANGE_EXPONENT = 0.5
"""How late the error of excluding a move is spent: mostly at the beginning, so that trials can stop early."""


@dataclass(frozen=True)
class Rules:
    """What counts as a change, for each metric."""

    tolerance: Values
    """The fall that must not go unseen."""
    noticeable: Values
    """The smallest change that is called one."""
    direction: Values
    """1 where higher is better, −1 where lower is."""
    alpha: float = 0.05

    @classmethod
    def of(
        cls,
        tolerance: ArrayLike,
        *,
        noticeable: ArrayLike = 0.0,
        direction: ArrayLike = 1.0,
        alpha: float = 0.05,
    ) -> Rules:
        """Rules from numbers; a number that is given once serves all metrics."""
        sizes = [np.asarray(each, dtype=np.float64) for each in (tolerance, noticeable, direction)]
        if not (np.isfinite(sizes[0]) & (sizes[0] >= 0)).all() or not (sizes[1] >= 0).all():
            raise ValueError("tolerance and noticeable change must be numbers and not negative")
        if not np.isin(sizes[2], (1.0, -1.0)).all():
            raise ValueError("a direction is 1 (higher is better) or -1 (lower is better)")
        return cls(sizes[0], sizes[1], sizes[2], level(alpha, "alpha"))


@dataclass(frozen=True)
class Judgement:
    """What became of each metric. NaN where a number cannot be told."""

    before: Values
    after: Values
    difference: Values
    low: Values
    high: Values
    cases: Counts
    p_value: Values
    """Two-sided, of the metric by itself."""
    adjusted_p: Values
    """One-sided, in the direction of the difference, corrected for the family of metrics and for looks."""
    minimum_detectable_effect: Values
    """The smallest true fall that these cases and trials show with 80 % power."""
    verdict: NDArray[np.str_]
    cases_needed: Values
    """How many cases would show a fall by the tolerance, with as many trials."""
    trials_needed: Values
    """How many trials would show it on these cases; infinite where none suffice, NaN where unknown."""


def judge(moments: Moments, rules: Rules, plan: Plan | None = None) -> Judgement:
    """The verdicts on a family of metrics; with a `plan`, as one of its looks."""
    return judge_together([Estimate(moments, plan)], [rules])[0]


def judge_together(estimates: Sequence[Estimate], rules: Sequence[Rules]) -> list[Judgement]:
    """The verdicts on the same metrics in several comparisons, which are one family."""
    family = sum(each.moments.cases.shape[-1] for each in estimates)
    p_values = adjusted_p_values(estimates, rules)
    return [
        _judgement(estimate, each, p_worse, p_better, each.alpha / max(family, 1))
        for estimate, each, (p_worse, p_better) in zip(estimates, rules, p_values, strict=True)
    ]


def _judgement(
    estimate: Estimate, rules: Rules, p_worse: Values, p_better: Values, share: float
) -> Judgement:
    moments = estimate.moments
    gain = rules.direction * moments.difference
    low, high = estimate.interval()
    return Judgement(
        before=moments.before,
        after=moments.after,
        difference=moments.difference,
        low=low,
        high=high,
        cases=moments.cases,
        p_value=estimate.p_value,
        adjusted_p=np.where(gain < 0, p_worse, p_better),
        minimum_detectable_effect=estimate.detectable(share),
        verdict=verdicts(estimate, rules, p_worse, p_better),
        cases_needed=cases_needed(moments.spread, rules.tolerance, alpha=share),
        trials_needed=trials_needed(
            estimate.case_variance(moments.trial_variance),
            moments.trial_variance,
            moments.cases,
            moments.trials[0],
            rules.tolerance,
            alpha=share,
        ),
    )


def adjusted_p_values(estimates: Sequence[Estimate], rules: Sequence[Rules]) -> list[tuple[Values, Values]]:
    """One-sided p-values for worse and for better, corrected for looks and for the family.

    Each comparison has its own looks; Holm corrects what they leave over all metrics of all comparisons.
    """
    ends = np.cumsum([each.moments.cases.shape[-1] for each in estimates])[:-1]
    by_look = [_look_p_values(each, rule) for each, rule in zip(estimates, rules, strict=True)]
    worse, better = (
        np.split(holm(np.concatenate(p_values, axis=-1)), ends, axis=-1)
        for p_values in zip(*by_look, strict=True)
    )
    return list(zip(worse, better, strict=True))


def _look_p_values(estimate: Estimate, rules: Rules) -> tuple[Values, Values]:
    trials = estimate.moments.trials[1]
    higher = rules.direction > 0
    worse, better = (
        estimate.looks.adjusted(p_values, trials, CHANGE_EXPONENT)
        for p_values in (
            _worse_on_equal_weights(estimate, rules, np.where(higher, estimate.p_fell, estimate.p_rose)),
            np.where(higher, estimate.p_rose, estimate.p_fell),
        )
    )
    return worse, better


def _worse_on_equal_weights(estimate: Estimate, rules: Rules, p_value: Values) -> Values:
    """Where one case is heavy, the test on equal case weights has a say as well.

    Two tests share one level by Simes: min(2 · the smaller, the larger). Equal weights alone convince only
    where the difference, the same without the heaviest case and the same on equal weights all fall beyond
    the tolerance.
    """
    moments = estimate.moments
    equal = np.where(rules.direction > 0, moments.equal_p_fall, moments.equal_p_rise)
    differences = (moments.difference, moments.without_heaviest, moments.equal_difference)
    with np.errstate(invalid="ignore"):
        all_fall = np.all(
            [rules.direction * each < -rules.tolerance - ROUNDING for each in differences], axis=0
        )
    alone = np.where(all_fall, 2 * equal, 1.0)
    shared = np.minimum(np.minimum(2 * p_value, np.maximum(p_value, equal)), np.minimum(alone, 1.0))
    return np.where(np.isfinite(equal) & np.isfinite(p_value), shared, p_value)


def verdicts(estimate: Estimate, rules: Rules, p_worse: Values, p_better: Values) -> NDArray[np.str_]:
    """The verdict on each metric. A metric that is gone has regressed, one that is new has improved."""
    moments = estimate.moments
    gain = rules.direction * moments.difference
    no_fall, no_rise = (
        estimate.looks.adjusted(
            estimate.p_moved_by(rules.tolerance, sign * rules.direction),
            moments.trials[1],
            NO_CHANGE_EXPONENT,
        )
        <= rules.alpha
        for sign in (-1.0, 1.0)
    )
    was, is_ = np.isfinite(moments.before), np.isfinite(moments.after)
    noticed = np.abs(gain) >= rules.noticeable - ROUNDING
    regressed = (gain < 0) & noticed & (p_worse <= rules.alpha)
    improved = (gain > 0) & noticed & (p_better <= rules.alpha)
    return np.select(
        [
            was & ~is_,
            ~was & is_,
            (~was & ~is_) | estimate.identical,
            regressed,
            improved,
            no_fall & no_rise,
            no_fall,
        ],
        ["regressed", "improved", "identical", "regressed", "improved", "unchanged", "no worse"],
        "inconclusive",
    )
