"""An evaluation: what a prompt version scored on a golden set, with everything that identifies it."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from eval_pipeline.answers.recorded import MISSING
from eval_pipeline.answers.trials import TrialRange
from eval_pipeline.content import content_hash, files_hash
from eval_pipeline.documents import read_yaml, shown, violations_of
from eval_pipeline.gates import Gate, GateResult, JudgedBy, advise, doubt, judge
from eval_pipeline.problems import Problems
from eval_pipeline.reports.numbers import number
from eval_pipeline.scoring import (
    Scores,
    all_metrics,
    metric_values,
    population_column,
    quantities,
    row_values,
)
from eval_pipeline.statistics.significance import wilson
from eval_pipeline.suite import Context, KeyedCount, Metric, Ratio, Suite, Sums, defined, everything

WORST_CASES = 5
NEAR = 0.05
"""Rates so near to 0 or 1 are shown with a bound."""
RESOURCES = "resources"
REFERENCES = "references"
SETTINGS_FILE = "settings.yaml"
SHARED_PACKAGES = ("metrics", "language", "suites._heritage", "suites._video")
"""Folders of pure functions and word lists that suites score with."""


class OutputsIdentity(msgspec.Struct, frozen=True, omit_defaults=True):
    """What decides which answers there are: change any of it, and the engine is asked again."""

    suite: str
    version: str
    prompt_hash: str
    inputs_hash: str
    engine: str
    model: str
    sample: str
    trials: int
    """How many trials there are."""
    plan: TrialRange | None = None
    """The range in which evidence decided on the number of trials; None where it was fixed."""

    @property
    def id(self) -> str:
        """The identity in one word."""
        return content_hash(self)


class Identity(msgspec.Struct, frozen=True):
    """What decides which numbers there are: answers, golden set, scoring code and its settings."""

    outputs: OutputsIdentity
    golden_hash: str
    scorer: str
    context: str = ""
    """The settings, references and models that scoring used, in one word."""

    @property
    def id(self) -> str:
        """The identity in one word."""
        return content_hash(self)


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
    """Wilson's 95 % bounds, where it is a rate of things counted and near 0 or 1."""

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
    models: tuple[JudgedBy, ...] = ()
    """The models that judged, with their own accuracy."""

    @property
    def passed(self) -> bool:
        """Whether no gate fails."""
        return all(gate.status != "fail" for gate in self.gates)

    @property
    def error_count(self) -> int:
        """How many answers could not be used."""
        return sum(self.errors.values())


class CaseResult(msgspec.Struct, frozen=True):
    """How one case fared over all trials."""

    case_id: str
    headline: float | None
    passed: int
    trials: int
    errors: tuple[str, ...]


class Evaluation(msgspec.Struct, frozen=True):
    """An immutable record: who was evaluated on what, and the numbers."""

    id: str
    identity: Identity
    created_at: str
    summary: Summary
    case_results: tuple[CaseResult, ...]


def scorer_version(suite: Suite) -> str:
    """The scoring code in one word: a suite's own modules, what suites share, and what sums it up."""
    here = Path(__file__)
    own = Path(str(sys.modules[suite.output.__module__].__file__)).parent
    folders = [own, *(here.parent.joinpath(*name.split(".")) for name in SHARED_PACKAGES)]
    modules = ("suite", "scoring", "evaluation")
    shared = [here.with_name(f"{name}.py") for name in modules]
    return files_hash([*shared, *(file for folder in folders for file in folder.rglob("*.py"))])


def measured_models(suite: Suite, context: Context) -> tuple[JudgedBy, ...]:
    """The models behind a suite's metrics, with their measured accuracy."""
    models = [*suite.models, *(suite.trained(context) if suite.trained else ())]
    models += [context.judge.model] if context.judge else []
    return tuple(JudgedBy(model.name, model.metrics, *model.measure()) for model in models)


def summarize(
    suite: Suite, scores: Scores, gates: Mapping[str, Gate], models: Sequence[JudgedBy] = ()
) -> Summary:
    """Every metric, over everything and by group, and how it stands against its gate."""
    trials = sorted(set(scores.trials.tolist()))
    by_trial = {metric.name: value for metric, value in _over_trials(suite, scores, trials)}
    over_trials = _trial_metrics(suite, scores, by_trial, len(trials))
    values = by_trial | over_trials
    units = {name: each.unit for name, each in quantities(suite).items()}
    results = [
        judge(gate, name, values[name].value, values[name].applies, number(values[name].value, units[name]))
        for name, gate in gates.items()
    ]
    tables = _tables(suite, scores) | _trial_tables(suite, by_trial, over_trials)
    return Summary(
        suite=suite.name,
        cases=scores.case_count,
        trials=len(trials),
        errors=scores.errors,
        metrics=values,
        groups={axis: _groups(suite, scores, axis, trials) for axis in suite.groups},
        tables=tables,
        gates=advise(suite, [doubt(result, gates[result.metric], models) for result in results]),
        problems=tuple(suite.problems(tables)) if suite.problems else (),
        models=tuple(models),
    )


def case_results(suite: Suite, scores: Scores) -> tuple[CaseResult, ...]:
    """Each case's headline value and passes, worst first."""
    rows: dict[str, list[tuple[float | None, float, str | None]]] = {}
    for case_id, value, passed, error in zip(
        scores.case_ids,
        row_values(suite.metric(suite.headline), scores),
        scores.counts["passed"].to_pylist(),
        scores.counts["error"].to_pylist(),
        strict=True,
    ):
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
    return tuple(
        sorted(
            results, key=lambda each: (each.headline is not None, sign * (each.headline or 0.0), each.case_id)
        )
    )


def mean_or_none(values: Sequence[float | None]) -> float | None:
    """The mean; undefined where any value is undefined, so that nothing is averaged away."""
    present = [value for value in values if value is not None]
    return statistics.fmean(present) if values and len(present) == len(values) else None


def context_for(suite: Suite, *folders: Path, settings: Mapping[str, Any] | None = None) -> Context:
    """What scoring may use: a suite's settings, resources and references.

    Each is taken from the first of the golden folders that has it; `settings` given here win.
    """
    resources, references = (_first(folders, name) for name in (RESOURCES, REFERENCES))
    return Context(
        settings=_settings(suite, _first(folders, SETTINGS_FILE), settings or {}),
        resources=suite.resources(resources) if suite.resources and resources else None,
        references=suite.references(references) if suite.references and references else None,
        hash=content_hash(
            [
                settings or {},
                *(_hashed(_first(folders, name)) for name in (SETTINGS_FILE, REFERENCES)),
                *(model.name for model in suite.models),
            ]
        ),
    )


def _first(folders: Sequence[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).exists()), None)


def _hashed(path: Path | None) -> str:
    if path is None:
        return ""
    return (
        files_hash(file for file in path.rglob("*") if file.is_file())
        if path.is_dir()
        else files_hash([path])
    )


def _settings(suite: Suite, file: Path | None, given: Mapping[str, Any]) -> Any:
    problems = Problems()
    stored = read_yaml(file, dict[str, Any], problems) if file else None
    merged = {**(stored or {}), **given}
    for violation in violations_of(merged, suite.settings):
        problems.add(file or "input", violation.message, violation.remedy, field=shown(violation.path))
    problems.stop_if_any()
    return msgspec.convert(merged, suite.settings)


def _over_trials(suite: Suite, scores: Scores, trials: Sequence[int]) -> list[tuple[Metric, MetricValue]]:
    positions = np.searchsorted(trials, scores.trials)
    sums = scores.sums(positions, len(trials))
    failed = scores.counts["errors"].to_numpy() > 0
    missing = scores.errors_of_kind(MISSING)
    found = []
    for metric in all_metrics(suite):
        about = np.ones(len(failed), dtype=bool)
        if metric.population is not everything:
            about = scores.counts[population_column(suite, metric)].to_numpy() > 0
        applies = metric.population is everything or bool(about.any())
        values = tuple(metric_values(metric, sums)) if applies else (None,) * len(trials)
        rests_on = (about, about & failed & ~missing, about & missing)
        answers, errored, absent = (int(each.sum()) for each in rests_on)
        value = mean_or_none(values)
        bounds = _bounds(metric, sums, value)
        found.append((metric, MetricValue(value, values, applies, answers, errored, absent, bounds)))
    return found


def _bounds(metric: Metric, sums: Sums, value: float | None) -> tuple[float, float] | None:
    """Bounds of a rate near 0 or 1, as if asked in one trial: trials of a thing are not new things."""
    formula = metric.formula
    if value is None or not isinstance(formula, Ratio) or formula.denominator == defined(formula.numerator):
        return None
    parts, wholes = sums[formula.numerator], sums[formula.denominator]
    counts = np.array_equal(parts, np.rint(parts)) and np.array_equal(wholes, np.rint(wholes))
    if not counts or (parts < 0).any() or (parts > wholes).any() or NEAR < value < 1 - NEAR:
        return None
    return wilson(float(parts.mean()), float(wholes.mean()))


def _trial_metrics(
    suite: Suite, scores: Scores, values: Mapping[str, MetricValue], trials: int
) -> dict[str, MetricValue]:
    if not suite.trial_metrics:
        return {}
    per_trial = {name: value.trials for name, value in values.items()}
    keyed = [
        (
            row["case_id"],
            row["trial"],
            KeyedCount(row["table"], row["row_key"], row["column_key"], row["value"]),
        )
        for row in scores.keyed.to_pylist()
    ]
    return {
        metric.name: MetricValue(metric.formula(per_trial, keyed), ())
        if trials >= metric.minimum_trials
        else MetricValue(None, (), applies=False)
        for metric in suite.trial_metrics
    }


def _trial_tables(
    suite: Suite, values: Mapping[str, MetricValue], over_trials: Mapping[str, MetricValue]
) -> dict[str, list[dict[str, Any]]]:
    per_trial = {name: value.trials for name, value in values.items()}
    found = {name: value.value for name, value in over_trials.items()}
    return {name: build(per_trial, found) for name, build in suite.trial_tables.items()}


def _groups(
    suite: Suite, scores: Scores, axis: str, trials: Sequence[int]
) -> dict[str, dict[str, float | None]]:
    groups, index = scores.attribute(axis)
    positions = np.searchsorted(trials, scores.trials)
    sums = scores.sums(index * len(trials) + positions, len(groups) * len(trials))
    found: dict[str, dict[str, float | None]] = {group: {} for group in groups}
    for metric in all_metrics(suite):
        values = metric_values(metric, sums)
        for number_, group in enumerate(groups):
            found[group][metric.name] = mean_or_none(values[number_ * len(trials) :][: len(trials)])
    return found


def _tables(suite: Suite, scores: Scores) -> dict[str, list[dict[str, Any]]]:
    if not suite.tables:
        return {}
    sums = scores.sums(np.zeros(scores.counts.num_rows, dtype=np.int64), 1)
    return {name: build(sums.table(name)) for name, build in suite.tables.items()}


def score_report(suite: Suite, summary: Summary, settings: Any = None) -> dict[str, Any]:
    """The score report: plain numbers, null where a metric is undefined."""
    report: dict[str, Any] = {
        "suite": summary.suite,
        "cases": summary.cases,
        "trials": summary.trials,
        "errors": summary.error_count,
        "errors_by_kind": summary.errors,
        "metrics": {name: value.value for name, value in summary.metrics.items()},
        "metric_details": {
            name: {
                **value.spread,
                "answers": value.answers,
                "errored": value.errored,
                "missing": value.missing,
                **({"bounds": value.bounds} if value.bounds else {}),
            }
            for name, value in summary.metrics.items()
        },
        "groups": summary.groups,
        "tables": summary.tables,
        "gates": [
            {
                "metric": gate.metric,
                "value": gate.value,
                "zone": gate.zone,
                "status": gate.status,
                "severity": gate.severity,
                **({"advice": gate.advice} if gate.advice else {}),
            }
            for gate in summary.gates
        ],
        **({"models": [msgspec.to_builtins(model) for model in summary.models]} if summary.models else {}),
        "problems": list(summary.problems),
        "pass": summary.passed,
    }
    return {**report, **(suite.report_keys(report, settings) if suite.report_keys else {})}
