"""How far each metric moved: its standard error, intervals, and p-values of every direction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eval_pipeline.statistics.arrays import ROUNDING, Flags, Values, level
from eval_pipeline.statistics.looks import Plan
from eval_pipeline.statistics.pairs import Moments
from eval_pipeline.statistics.power import f_quantile, minimum_detectable_effect, t_quantile

POOLING = 0.25
FEW = 30
"""From so many cases on, their own scatter says enough of itself for an interval."""
ENOUGH = 5
"""So many cases that differ show by how much cases differ."""
SKEWED = 1.25
"""By how much sign flips count as less where sides have different numbers of trials."""
FLIPPED_FROM = 10
"""From so many cases on, signs can be flipped in enough ways to say something of many metrics."""


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
        F-test at 25 %, a customary limit), both are estimates of the same and are pooled. Cases of unequal
        weight have the degrees of freedom of so many equal ones.
        """
        moments = self.moments
        first, second = moments.trials
        weighing = np.maximum(moments.effective, 2.0)
        own = np.where(moments.cases >= 2, weighing - 1.0, np.nan)
        more = weighing * (first + second - 2)
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
    def identical(self) -> Flags:
        """Whether nothing differs in any case."""
        still = (self.moments.differing == 0) & (np.abs(self.moments.difference) <= ROUNDING)
        return np.asarray(still & (self.moments.cases >= 1), dtype=np.bool_)

    @cached_property
    def standard_error(self) -> Values:
        """Of the difference: the cases' standard deviation ÷ √cases."""
        return np.asarray(np.sqrt(self._pooled[0] / np.maximum(self.moments.cases, 1)), dtype=np.float64)

    @cached_property
    def _sparse(self) -> Flags:
        """Whether cases are right or wrong, or most do not differ: they may agree by luck, all of them."""
        moments = self.moments
        return np.asarray(
            moments.binary | (2 * (moments.rose + moments.fell) <= moments.cases), dtype=np.bool_
        )

    @cached_property
    def _bounded(self) -> tuple[Values, Values, Values]:
        """Centre, standard error and degrees of freedom of an interval.

        Where cases may agree by luck, two cases more, one won and one lost, keep intervals from closing on
        nothing (Bonett and Price).
        """
        moments = self.moments
        few = moments.cases < FEW
        own = np.where(few, self.standard_error, moments.spread / np.sqrt(np.maximum(moments.cases, 1)))
        freedom = np.where(few, self.freedom, np.maximum(moments.effective, 2.0) - 1.0)
        cases = moments.cases + 2.0
        centre = moments.total / cases
        squares = (moments.squares + 2 * self._square_of_a_flip) / cases
        error = np.sqrt(np.maximum(squares - centre**2, 0.0) / cases)
        return (
            np.where(self._sparse, centre, moments.difference),
            np.where(self._sparse, error, own),
            np.where(self._sparse & (moments.cases >= 2), np.inf, freedom),
        )

    @property
    def _skew(self) -> Values:
        """The skewness of the cases' differences ÷ √cases, with the two cases more; 0 where it is not needed.

        A few cases that fell far and were not drawn leave a mean that is too high beside a scatter that is
        too small.
        """
        moments = self.moments
        cases = moments.cases + 2.0
        centre, squares = moments.total / cases, (moments.squares + 2 * self._square_of_a_flip) / cases
        third = moments.cubes / cases - 3 * centre * squares + 2 * centre**3
        with np.errstate(divide="ignore", invalid="ignore"):
            skew = third / np.maximum(squares - centre**2, 0.0) ** 1.5 / np.sqrt(cases)
        return np.where(self._sparse & np.isfinite(skew), skew, 0.0)

    @property
    def _square_of_a_flip(self) -> Values:
        """By how much a case differs that does, squared: what was seen if enough was, else the most there is.

        Right or wrong differ by 1. Independent trials of a case would make that smaller, copies would not:
        the share of the variance that lies between trials tells. Halfway between that and what was seen,
        trials of any kind exclude neither too much nor too little.
        """
        moments = self.moments
        first, second = moments.trials
        rate = np.clip((moments.before + moments.after) / 2, 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            seen = moments.squares / (moments.rose + moments.fell)
            between = np.nan_to_num(np.clip(moments.trial_variance / (rate * (1 - rate)), 0.0, 1.0))
            most = moments.reach**2 * moments.cases / moments.effective
        binary = 1 - between * (1 - (1 / first + 1 / second) / 2)
        enough = moments.rose + moments.fell >= ENOUGH
        return np.where(
            moments.binary, np.where(enough, (seen + binary) / 2, binary), np.where(enough, seen, most)
        )

    def interval(self, confidence: float = 0.95) -> tuple[Values, Values]:
        """The confidence interval of after − before; NaN below two cases, and where nothing differs.

        It agrees with the tests: where they leave no fall to chance, it does not reach beyond 0.
        """
        centre, error, freedom = self._bounded
        tail = (1 - level(confidence, "the confidence")) / 2
        reach = t_quantile(freedom, 1 - tail) * error
        low = np.minimum(centre - reach, self.moments.difference)
        high = np.maximum(centre + reach, self.moments.difference)
        low = np.where(self.p_rose <= tail, np.maximum(low, 0.0), low)
        high = np.where(self.p_fell <= tail, np.minimum(high, 0.0), high)
        return np.where(self.identical, np.nan, low), np.where(self.identical, np.nan, high)

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
        """Sign flips; below ten cases paired t; exact McNemar for one trial of right or wrong.

        Sides with different numbers of trials could not simply change places: their noise is skewed
        differently. There sign flips of right or wrong convince only together with t, others a little less.
        """
        from scipy import special

        moments = self.moments
        difference = sign * moments.difference
        with np.errstate(divide="ignore", invalid="ignore"):
            by_t = special.stdtr(self.freedom, difference / self.standard_error)
        flips = moments.p_fall if sign > 0 else moments.p_rise
        many = flips
        if moments.trials[0] != moments.trials[1]:
            many = np.where(moments.binary, np.maximum(flips, by_t), np.minimum(SKEWED * flips, 1.0))
        chosen = np.where(self.constant, flips, np.where(moments.cases >= FLIPPED_FROM, many, by_t))
        won = moments.rose if sign > 0 else moments.fell
        discordant = special.bdtr(won.astype(np.float64), moments.rose + moments.fell, 0.5)
        chosen = np.where(moments.binary & (moments.trials == (1, 1)), discordant, chosen)
        chosen = np.where(self.identical, 1.0, chosen)
        return np.asarray(np.where(np.isfinite(self.freedom), chosen, np.nan), dtype=np.float64)

    def p_moved_by(self, size: Values, sign: Values) -> Values:
        """How often a metric that moved by `size` in a direction would look as far from it, or farther.

        Where cases may agree by luck, Hall's transformation allows for their skewness. At least the share of
        sign flips that leave every case on its side: few cases exclude nothing.
        """
        from scipy import special

        centre, error, freedom = self._bounded
        margin, skew = size - sign * centre, -sign * self._skew
        with np.errstate(divide="ignore", invalid="ignore"):
            far = margin / error
            p_value = special.stdtr(freedom, -(far + skew / 6 + skew * far**2 / 3 + skew**2 * far**3 / 27))
        p_value = np.where(error <= ROUNDING, np.where(margin > 0, 0.0, 1.0), p_value)
        return np.asarray(np.maximum(p_value, 0.5**self.moments.cases), dtype=np.float64)

    def detectable(self, alpha: float) -> Values:
        """The smallest true fall that a one-sided test finds with 80 % power; NaN without any scatter."""
        _, error, freedom = self._bounded
        effect = minimum_detectable_effect(error, freedom, alpha=alpha)
        return np.where((error > ROUNDING) & ~self.identical, effect, np.nan)

    def case_variance(self, trial_variance: Values) -> Values:
        """The part of the cases' scatter that trials do not average out."""
        trials = sum(1 / each for each in self.moments.trials)
        return np.maximum(self.moments.spread**2 - trial_variance * trials, 0.0)
