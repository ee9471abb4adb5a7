"""From paired cases to verdicts: improved, unchanged, inconclusive or regressed, metric by metric.

- *regressed*: the metric fell by what is noticeable or more, and a one-sided test, corrected by Holm for
  all metrics of the family and for repeated looks, says at level `alpha` that chance does not explain it.
- *improved*: likewise upwards.
- *unchanged*: nothing differs in any case; or a fall by the tolerance is excluded. Had the metric fallen
  by that much, this would be said with a chance of at most 1 − `assurance`.
- *inconclusive*: everything else; above all a fall beyond the tolerance that may be chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval_pipeline.statistics.arrays import ROUNDING, Counts, Flags, Values, level
from eval_pipeline.statistics.looks import Plan
from eval_pipeline.statistics.multiplicity import holm
from eval_pipeline.statistics.pairs import Moments
from eval_pipeline.statistics.power import (
    POWER,
    cases_needed,
    f_quantile,
    minimum_detectable_effect,
    t_quantile,
    trials_needed,
)

Verdict = Literal["improved", "unchanged", "inconclusive", "regressed"]

POOLING = 0.25
CHANGE_EXPONENT = 2.0
"""How late the error of finding a change is spent over looks: mostly at the end, as a single look would."""
NO_CHANGE_EXPONENT = 0.5
"""How late the error of excluding a fall is spent: mostly at the beginning, so that trials can stop early."""


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
    assurance: float = POWER

    @classmethod
    def of(
        cls,
        tolerance: ArrayLike,
        *,
        noticeable: ArrayLike = 0.0,
        direction: ArrayLike = 1.0,
        alpha: float = 0.05,
        assurance: float = POWER,
    ) -> Rules:
        """Rules from numbers; a number that is given once serves all metrics."""
        sizes = [np.asarray(each, dtype=np.float64) for each in (tolerance, noticeable, direction)]
        if np.isnan(sizes[0]).any() or (sizes[0] < 0).any() or not (sizes[1] >= 0).all():
            raise ValueError("tolerance and noticeable change must not be negative")
        if not np.isin(sizes[2], (1.0, -1.0)).all():
            raise ValueError("a direction is 1 (higher is better) or -1 (lower is better)")
        level(alpha, "alpha")
        return cls(sizes[0], sizes[1], sizes[2], alpha, level(assurance, "the assurance"))


@dataclass(frozen=True)
class Estimate:
    """Differences with their scatter, and the p-values of both directions. One entry per metric."""

    moments: Moments
    plan: Plan | None = None
    """The looks of which this is one; None for a single look."""

    @property
    def looks(self) -> Plan:
        """The plan; where there is none, that of a single look."""
        before, after = self.moments.trials
        return self.plan or Plan(after, after, before)

    @cached_property
    def _pooled(self) -> tuple[Values, Values]:
        """The variance of a case's difference, and its degrees of freedom; NaN below two cases.

        Few cases tell their scatter badly. Where it is not beyond what the noise of trials explains (by an
        F-test at 25 %, a customary limit), both are estimates of the same and are pooled.
        """
        moments = self.moments
        first, second = moments.trials
        own = np.where(moments.cases >= 2, moments.cases - 1.0, np.nan)
        more = moments.cases.astype(np.float64) * (first + second - 2)
        noise = moments.trial_variance * (1 / first + 1 / second)
        with np.errstate(invalid="ignore"):
            pool = (noise > ROUNDING**2) & (moments.spread**2 <= f_quantile(own, more, 1 - POOLING) * noise)
            variance = np.where(
                pool, (own * moments.spread**2 + more * noise) / (own + more), moments.spread**2
            )
        return variance, np.where(pool, own + more, own)

    @property
    def freedom(self) -> Values:
        """Degrees of freedom of the standard error."""
        return self._pooled[1]

    @cached_property
    def constant(self) -> Flags:
        """Whether all cases differ by the same."""
        return np.asarray(self.moments.spread <= ROUNDING, dtype=np.bool_)

    @cached_property
    def exact(self) -> Flags:
        """Whether the p-values are exact: of a constant shift, or of one trial of right or wrong."""
        return self.constant | (self.moments.binary & (self.moments.trials == (1, 1)))

    @cached_property
    def identical(self) -> Flags:
        """Whether nothing differs in any case."""
        still = (self.moments.rose + self.moments.fell == 0) & np.isfinite(self.moments.total)
        return np.asarray(still & (self.moments.cases >= 1), dtype=np.bool_)

    @cached_property
    def standard_error(self) -> Values:
        """Of the difference: the cases' standard deviation ÷ √cases."""
        return np.asarray(np.sqrt(self._pooled[0] / np.maximum(self.moments.cases, 1)), dtype=np.float64)

    @cached_property
    def _bounded(self) -> tuple[Values, Values, Values]:
        """Centre, standard error and degrees of freedom of an interval.

        Cases that are right or wrong may agree by luck, all of them. Two cases more, one won and one lost,
        keep such intervals from closing on nothing (Bonett and Price); trials make them smaller.
        """
        first, second = self.moments.trials
        added = (1 / first + 1 / second) / 2
        cases = self.moments.cases + 2.0
        centre = self.moments.total / cases
        squares = (self.moments.squares + 2 * added) / cases
        error = np.sqrt(np.maximum(squares - centre**2, 0.0) / cases)
        binary = self.moments.binary
        return (
            np.where(binary, centre, self.moments.difference),
            np.where(binary, error, self.standard_error),
            np.where(binary & (self.moments.cases >= 2), np.inf, self.freedom),
        )

    def interval(self, confidence: float = 0.95) -> tuple[Values, Values]:
        """The confidence interval of after − before; NaN below two cases."""
        centre, error, freedom = self._bounded
        reach = t_quantile(freedom, 0.5 + level(confidence, "the confidence") / 2) * error
        low, high = centre - reach, centre + reach
        return np.minimum(low, self.moments.difference), np.maximum(high, self.moments.difference)

    @cached_property
    def slack(self) -> Values:
        """By how much p-values are raised before anything rests on them.

        The scatter of few cases makes for heavier tails than t has where some weigh more than others.
        """
        rough = ~self.exact & ~(self.freedom > self.moments.cases)
        return np.where(rough, 1 + 2 / np.maximum(self.moments.cases, 1), 1.0)

    @cached_property
    def p_fell(self) -> Values:
        """How often chance alone brings a fall like this one."""
        return self._one_sided(1.0)

    @cached_property
    def p_rose(self) -> Values:
        """How often chance alone brings a rise like this one."""
        return self._one_sided(-1.0)

    @cached_property
    def p_value(self) -> Values:
        """Two-sided, of each metric by itself; NaN below two cases."""
        return np.asarray(np.minimum(2 * np.minimum(self.p_fell, self.p_rose), 1.0), dtype=np.float64)

    def _one_sided(self, sign: float) -> Values:
        """Paired t; exact McNemar for one trial of right or wrong; the sign flip for a constant shift."""
        from scipy import special

        difference = sign * self.moments.difference
        with np.errstate(divide="ignore", invalid="ignore"):
            by_t = special.stdtr(self.freedom, difference / self.standard_error)
        flips = np.where(difference < 0, 0.5**self.moments.cases, 1.0)
        chosen = np.where(self.constant, flips, by_t)
        won = self.moments.rose if sign > 0 else self.moments.fell
        discordant = special.bdtr(won.astype(np.float64), self.moments.rose + self.moments.fell, 0.5)
        chosen = np.where(self.exact & ~self.constant, discordant, chosen)
        return np.asarray(np.where(self.identical & (self.freedom > 0), 1.0, chosen), dtype=np.float64)

    def p_fell_by(self, size: Values, direction: Values) -> Values:
        """How often a metric that got worse by `size` would look as good as this one, or better."""
        from scipy import special

        centre, error, freedom = self._bounded
        margin = direction * centre + size
        with np.errstate(divide="ignore", invalid="ignore"):
            p_value = special.stdtr(freedom, -margin / error)
        return np.asarray(np.where(error <= ROUNDING, np.where(margin > 0, 0.0, 1.0), p_value))

    def detectable(self, alpha: float) -> Values:
        """The smallest true fall that a one-sided test finds with 80 % power; NaN without any scatter."""
        _, error, freedom = self._bounded
        effect = minimum_detectable_effect(error, freedom, alpha=alpha)
        return np.where(error > ROUNDING, effect, np.nan)

    def case_variance(self, trial_variance: Values) -> Values:
        """The part of the cases' scatter that trials do not average out."""
        trials = sum(1 / each for each in self.moments.trials)
        return np.maximum(self.moments.spread**2 - trial_variance * trials, 0.0)


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
    return judge_together([Estimate(moments, plan)], rules)[0]


def judge_together(estimates: Sequence[Estimate], rules: Rules) -> list[Judgement]:
    """The verdicts on the same metrics in several comparisons, which are one family."""
    family = sum(each.moments.cases.shape[-1] for each in estimates)
    p_values = adjusted_p_values(estimates, rules)
    return [
        _judgement(estimate, rules, p_worse, p_better, rules.alpha / max(family, 1))
        for estimate, (p_worse, p_better) in zip(estimates, p_values, strict=True)
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


def adjusted_p_values(estimates: Sequence[Estimate], rules: Rules) -> list[tuple[Values, Values]]:
    """One-sided p-values for worse and for better, corrected for looks and for the family.

    Each comparison has its own looks; Holm corrects what they leave over all metrics of all comparisons.
    """
    ends = np.cumsum([each.moments.cases.shape[-1] for each in estimates])[:-1]
    by_look = [_look_p_values(each, rules) for each in estimates]
    worse, better = (
        np.split(holm(np.concatenate(p_values, axis=-1)), ends, axis=-1)
        for p_values in zip(*by_look, strict=True)
    )
    return list(zip(worse, better, strict=True))


def _look_p_values(estimate: Estimate, rules: Rules) -> tuple[Values, Values]:
    trials = estimate.moments.trials[1]
    higher = rules.direction > 0
    fell, rose = estimate.p_fell * estimate.slack, estimate.p_rose * estimate.slack
    worse, better = (
        estimate.looks.adjusted(np.minimum(p_values, 1.0), trials, CHANGE_EXPONENT)
        for p_values in (np.where(higher, fell, rose), np.where(higher, rose, fell))
    )
    return worse, better


def verdicts(estimate: Estimate, rules: Rules, p_worse: Values, p_better: Values) -> NDArray[np.str_]:
    """The verdict on each metric. A metric that is gone has regressed, one that is new has improved."""
    moments = estimate.moments
    gain = rules.direction * moments.difference
    p_unseen = estimate.looks.adjusted(
        estimate.p_fell_by(rules.tolerance, rules.direction), moments.trials[1], NO_CHANGE_EXPONENT
    )
    was, is_ = np.isfinite(moments.before), np.isfinite(moments.after)
    noticed = np.abs(gain) >= rules.noticeable - ROUNDING
    regressed = (gain < 0) & noticed & (p_worse <= rules.alpha)
    improved = (gain > 0) & noticed & (p_better <= rules.alpha)
    unchanged = estimate.identical | (p_unseen <= 1 - rules.assurance)
    return np.select(
        [was & ~is_, ~was & is_, ~was & ~is_, regressed, improved, unchanged],
        ["regressed", "improved", "unchanged", "regressed", "improved", "unchanged"],
        "inconclusive",
    )
