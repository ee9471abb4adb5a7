"""Metrics: functions of summed counts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from eval_pipeline.numbers import Unit
from eval_pipeline.suite.case import Case
from eval_pipeline.suite.counts import KeyedCount, Sums, Values, defined, divide

Direction = Literal["higher", "lower"]
Formula = Callable[[Sums], Values]
Population = Callable[[Case[Any, Any]], bool]


def everything(case: Case[Any, Any]) -> bool:
    """The population of a metric that applies to every case."""
    return True


def judged(case: Case[Any, Any]) -> bool:
    """The population of a judge's metrics: every case where a judge is on, and none where it is off."""
    return True


@dataclass(frozen=True)
class Metric:
    """One number: what it means, how it follows from counts, and when it applies."""

    name: str
    description: str
    formula: Formula
    direction: Direction = "higher"
    unit: Unit = "fraction"
    population: Population = everything
    on_error: float | None = None
    """For a mean over cases: the value that an errored case counts as."""
    explained_by: str = ""
    """The kinds of diagnoses, separated by blanks, that name what a bad value is made of."""
    aliases: tuple[str, ...] = ()
    """Shorter names that `--gates` takes as well."""


@dataclass(frozen=True)
class Ratio:
    """The formula Σ numerator ÷ Σ denominator."""

    numerator: str
    denominator: str

    def __call__(self, sums: Sums) -> Values:
        """The ratio on each set of rows."""
        return divide(sums[self.numerator], sums[self.denominator])


def ratio_of(numerator: str, denominator: str) -> Formula:
    """Σ numerator ÷ Σ denominator."""
    return Ratio(numerator, denominator)


def mean(
    name: str,
    description: str,
    *,
    on_error: float | None = None,
    direction: Direction = "higher",
    unit: Unit = "fraction",
    population: Population = everything,
    explained_by: str = "",
    aliases: tuple[str, ...] = (),
) -> Metric:
    """A metric that is the mean of per-case values: one case, one vote.

    It rests on the count pair of `mean_counts`: the value, and 1 where there is one. An errored case counts
    as the worst fraction, unless `on_error` says otherwise.
    """
    if on_error is None:
        if unit != "fraction":
            raise ValueError(f"{name}: say with `on_error` what an error counts as")
        on_error = 0.0 if direction == "higher" else 1.0
    formula = ratio_of(name, defined(name))
    return Metric(name, description, formula, direction, unit, population, on_error, explained_by, aliases)


@dataclass(frozen=True)
class TrialMetric:
    """A number that is defined over trials, such as stability, and so stands outside the sums of one.

    The formula receives the per-trial values of every metric and the keyed counts as rows of
    (case, trial, table, row key, column key, value).
    """

    name: str
    description: str
    formula: Callable[
        [Mapping[str, Sequence[float | None]], Iterable[tuple[str, int, KeyedCount]]], float | None
    ]
    direction: Direction = "higher"
    unit: Unit = "fraction"
    minimum_trials: int = 1
    """With fewer trials it does not apply."""


ERROR_RATE = Metric(
    "error_rate", "Cases without a usable output ÷ cases.", ratio_of("errors", "answers"), "lower"
)
CASE_PASS_RATE = Metric("case_pass_rate", "Cases that pass ÷ cases.", ratio_of("passed", "passable"))
