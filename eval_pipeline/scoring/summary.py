"""From scores to metrics: over everything, by trial and by group, and against the gates."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from eval_pipeline.answers import MISSING
from eval_pipeline.gates import TOLERANCE, Gate, GateResult, MeasuredModel, advise, doubt, gate_result
from eval_pipeline.scoring.held_out import HeldOut
from eval_pipeline.scoring.score import population_column
from eval_pipeline.scoring.scores import Scores, metric_values, row_values
from eval_pipeline.statistics.significance import wilson
from eval_pipeline.suite import (
    KeyedCount,
    Metric,
    Ratio,
    Rows,
    Suite,
    Sums,
    all_metrics,
    everything,
    quantities,
    suite_code,
)

WORST_CASES = 5
NEAR = 0.05
"""Rates so near to 0 or 1 are shown with a bound."""


class MetricValue(msgspec.Struct, frozen=True):
    """A metric's value: the mean over trials, and each trial's own."""

    value: float | None
    trials: tuple[float | None, ...]
    applies: bool = True
    answers: int = 0
    """How many answers it is about, over all trials."""
    errored: int = 0
    missing: int = 0
    """How many of these could not be used, and how many there never were."""
    bounds: tuple[float, float] | None = None
    """Wilson's 95 % bounds, where it is a rate and near 0 or 1: of things counted, or a mean over cases."""

    @property
    def spread(self) -> dict[str, float | None]:
        """Standard deviation (n − 1), least and greatest value over trials; null with fewer than two."""
        defined = [value for value in self.trials if value is not None]
        if len(defined) < 2:
            return {"sd": None, "min": None, "max": None}
        return {"sd": statistics.stdev(defined), "min": min(defined), "max": max(defined)}

    @property
    def standard_error(self) -> float | None:
        """Of the mean over trials: standard deviation ÷ √trials; null with fewer than two."""
        deviation = self.spread["sd"]
        defined = sum(value is not None for value in self.trials)
        return None if deviation is None else deviation / math.sqrt(defined)


class Summary(msgspec.Struct, frozen=True):
    """Every number that scores yield."""

    suite: str
    cases: int
    trials: int
    errors: dict[str, int]
    metrics: dict[str, MetricValue]
    groups: dict[str, dict[str, dict[str, float | None]]]
    tables: dict[str, list[dict[str, Any]]]
    gates: tuple[GateResult, ...]
    problems: tuple[str, ...] = ()
    """What the headline hides."""
    models: tuple[MeasuredModel, ...] = ()
    """The models that judged, with their own accuracy."""
    held_out: HeldOut | None = None
    """The cases that all of it rests on, where the engine learned from others; None where it rests on all."""

    @property
    def passed(self) -> bool:
        """Whether no gate fails."""
        return all(gate.status != "fail" for gate in self.gates)

    @property
    def error_count(self) -> int:
        """How many answers could not be used."""
        return sum(self.errors.values())

    def rests_on(self, scores: Scores) -> Scores:
        """Those of an evaluation's scores that the numbers are made from."""
        held = self.held_out
        return scores.having(held.attribute, held.value) if held else scores


class CaseResult(msgspec.Struct, frozen=True):
    """How one case fared over all trials."""

    case_id: str
    headline: float | None
    passed: int
    trials: int
    errors: tuple[str, ...]


def summarize(
    suite: Suite, scores: Scores, gates: Mapping[str, Gate], models: Sequence[MeasuredModel] = ()
) -> Summary:
    """Every metric, over everything and by group, and how it stands against its gate."""
    with suite_code(suite.name):
        numbers = measured(suite, scores)
        values = numbers.by_trial | numbers.over_trials
        units = {name: each.unit for name, each in quantities(suite).items()}
        results = [
            gate_result(gate, name, values[name].value, values[name].applies, units[name])
            for name, gate in gates.items()
        ]
        tables = _tables(suite, scores)
        tables |= _trial_tables(suite, numbers.by_trial, numbers.over_trials, tables)
        return Summary(
            suite=suite.name,
            cases=scores.case_count,
            trials=len(set(scores.trials.tolist())),
            errors=scores.errors,
            metrics=values,
            groups=numbers.groups,
            tables=tables,
            gates=advise(
                suite,
                [doubt(each, gates[each.metric], models, units[each.metric]) for each in results],
            ),
            problems=tuple(suite.reporting.problems(tables)) if suite.reporting.problems else (),
            models=tuple(models),
        )


class Measured(NamedTuple):
    """The numbers alone, before gates and tables for people."""

    by_trial: dict[str, MetricValue]
    over_trials: dict[str, MetricValue]
    groups: dict[str, dict[str, dict[str, float | None]]]


def measured(suite: Suite, scores: Scores) -> Measured:
    """Every metric, over everything and by group."""
    trials = sorted(set(scores.trials.tolist()))
    by_trial = {metric.name: value for metric, value in _over_trials(suite, scores, trials)}
    over_trials = _trial_metrics(suite, scores, by_trial, len(trials))
    groups = {axis: _groups(suite, scores, axis, trials) for axis in suite.groups}
    return Measured(by_trial, over_trials, groups)


def metric_means(suite: Suite, scores: Scores) -> dict[str, float | None]:
    """Every metric's mean over trials, and nothing else."""
    trials = sorted(set(scores.trials.tolist()))
    return {metric.name: value.value for metric, value in _over_trials(suite, scores, trials)}


def case_results(suite: Suite, scores: Scores) -> tuple[CaseResult, ...]:
    """Each case's headline value and passes, worst first; only cases that can pass or fail.

    A case whose headline is undefined is the worst, unless it passes all the same: where nothing was to be
    found and nothing was, there is nothing to look at.
    """
    rows: dict[str, list[tuple[float | None, float, str | None]]] = {}
    for case_id, value, passable, passed, error in zip(
        scores.case_ids,
        row_values(suite.metric(suite.headline), scores),
        *(scores.counts[name].to_pylist() for name in ("passable", "passed", "error")),
        strict=True,
    ):
        if passable:
            rows.setdefault(case_id, []).append((value, passed, error))
    metric = suite.metric(suite.headline)
    results = [
        CaseResult(
            case_id,
            mean_or_none([value for value, _, _ in each]),
            int(sum(passed for _, passed, _ in each)),
            len(each),
            tuple(error for _, _, error in each if error),
        )
        for case_id, each in rows.items()
    ]
    sign = 1 if metric.direction == "higher" else -1

    def order(each: CaseResult) -> tuple[bool, bool, float, str]:
        undefined = each.headline is None
        fine = undefined and each.passed == each.trials
        return fine, not undefined, sign * (each.headline or 0.0), each.case_id

    return tuple(sorted(results, key=order))


def mean_or_none(values: Sequence[float | None]) -> float | None:
    """The mean; undefined where any value is undefined, so that nothing is averaged away."""
    present = [value for value in values if value is not None]
    return statistics.fmean(present) if values and len(present) == len(values) else None


def _over_trials(suite: Suite, scores: Scores, trials: Sequence[int]) -> list[tuple[Metric, MetricValue]]:
    positions = np.searchsorted(trials, scores.trials)
    sums = scores.sums(positions, len(trials))
    failed = scores.counts["errors"].to_numpy() > 0
    missing = scores.errors_of_kind(MISSING)
    results = []
    for metric in all_metrics(suite):
        about = np.ones(len(failed), dtype=bool)
        if metric.population is not everything:
            about = scores.counts[population_column(suite, metric)].to_numpy() > 0
        applies = metric.population is everything or bool(about.any())
        with suite_code(suite.name, f"formula of {metric.name}"):
            values = tuple(metric_values(metric, sums)) if applies else (None,) * len(trials)
        rests_on = (about, about & failed & ~missing, about & missing)
        answers, errored, absent = (int(each.sum()) for each in rests_on)
        value = mean_or_none(values)
        bounds = _bounds(metric, sums, value)
        results.append((metric, MetricValue(value, values, applies, answers, errored, absent, bounds)))
    return results


def _bounds(metric: Metric, sums: Sums, value: float | None) -> tuple[float, float] | None:
    """Bounds of a rate near 0 or 1, as if asked in one trial: trials of a thing are not new things.

    A mean of fractions scatters less than as many things that are there or not, so that its bounds hold too.
    """
    formula = metric.formula
    if value is None or not isinstance(formula, Ratio) or metric.unit != "fraction":
        return None
    parts, wholes = sums[formula.numerator], sums[formula.denominator]
    if (parts < 0).any() or (parts > wholes + TOLERANCE).any() or NEAR < value < 1 - NEAR:
        return None
    return wilson(min(float(parts.mean()), float(wholes.mean())), float(wholes.mean()))


def _trial_metrics(
    suite: Suite, scores: Scores, values: Mapping[str, MetricValue], trials: int
) -> dict[str, MetricValue]:
    if not suite.trial_metrics:
        return {}
    per_trial = {name: value.trials for name, value in values.items()}
    keyed = [
        (row["case_id"], row["trial"], KeyedCount(*(row[name] for name in KeyedCount._fields)))
        for row in scores.keyed.to_pylist()
    ]
    return {
        metric.name: MetricValue(metric.formula(per_trial, keyed), ())
        if trials >= metric.minimum_trials
        else MetricValue(None, (), applies=False)
        for metric in suite.trial_metrics
    }


def _trial_tables(
    suite: Suite,
    values: Mapping[str, MetricValue],
    over_trials: Mapping[str, MetricValue],
    tables: Mapping[str, Rows],
) -> dict[str, Rows]:
    per_trial = {name: value.trials for name, value in values.items()}
    whole = {name: value.value for name, value in over_trials.items()}
    return {name: build(per_trial, whole, tables) for name, build in suite.reporting.trial_tables.items()}


def _groups(
    suite: Suite, scores: Scores, axis: str, trials: Sequence[int]
) -> dict[str, dict[str, float | None]]:
    groups, index = scores.attribute(axis)
    positions = np.searchsorted(trials, scores.trials)
    sums = scores.sums(index * len(trials) + positions, len(groups) * len(trials))
    results: dict[str, dict[str, float | None]] = {group: {} for group in groups}
    for metric in all_metrics(suite):
        values = metric_values(metric, sums)
        for number_, group in enumerate(groups):
            results[group][metric.name] = mean_or_none(values[number_ * len(trials) :][: len(trials)])
    return results


def _tables(suite: Suite, scores: Scores) -> dict[str, Rows]:
    if not suite.reporting.tables:
        return {}
    sums = scores.sums(np.zeros(scores.counts.num_rows, dtype=np.int64), 1)
    return {name: build(sums.table(name)) for name, build in suite.reporting.tables.items()}
