"""The suite: one kind of task, described by plain functions and data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.answers import Answer, AnswerFormat, recorded_format
from eval_pipeline.suite.case import AnswerReader, Case, CaseReader, Item, Items
from eval_pipeline.suite.counts import Batch, CaseScore, KeyedSums, Rows, Sums
from eval_pipeline.suite.judge import Judge, Model, OpenJudge, Verdicts
from eval_pipeline.suite.metric import CASE_PASS_RATE, ERROR_RATE, Metric, TrialMetric
from eval_pipeline.suite.requirements import Requirement


@dataclass(frozen=True)
class Context:
    """What scoring may use besides cases and outputs."""

    settings: Any = None
    resources: Any = None
    references: Any = None
    annotations: Any = None
    hash: str = ""
    """Settings, references and models in one word."""
    judge: OpenJudge | None = None
    """What rules on answers; None where the suite has no judge, or it is off."""
    verdicts: Verdicts = field(default_factory=dict)
    """What the judge said of every usable answer."""


Score = Callable[[Items, Context], Batch]


def per_case(score: Callable[[Item, Context], CaseScore]) -> Score:
    """Lift a function of one item to the batched form."""

    def score_batch(items: Items, context: Context) -> Batch:
        scores = [score(item, context) for item in items]
        names = scores[0].counts.keys() if scores else ()
        return Batch(
            counts={name: np.array([each.counts[name] for each in scores], dtype=float) for name in names},
            keyed=[(index, row) for index, each in enumerate(scores) for row in each.keyed],
            diagnoses=[(index, row) for index, each in enumerate(scores) for row in each.diagnoses],
        )

    return score_batch


class NoParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For suites whose prompts, settings or resources take no options."""


TrialTable = Callable[[Mapping[str, Sequence[float | None]], Mapping[str, float | None]], Rows]
"""(each metric's values per trial, each trial metric's value) → rows."""


class Experiment(NamedTuple):
    """What one version scored, as tables that put versions side by side need it."""

    per_trial: Mapping[str, Sequence[float | None]]
    tables: Mapping[str, Rows]
    cases: int


CrossTable = Callable[[Mapping[str, Experiment]], Rows]
"""Experiments by version → rows."""


@dataclass(frozen=True, eq=False)
class Suite:
    """One kind of task: its cases, output contract, counts, metrics and embedded engine."""

    name: str
    description: str
    reader: CaseReader
    input: type[Any]
    expected: type[Any]
    output: type[Any]
    score: Score
    metrics: tuple[Metric, ...]
    headline: str
    case_passes: Callable[[Sums], NDArray[np.bool_]]
    """Which cases pass, from their counts; errored cases never do."""
    embedded: Callable[[Any, Any, Any], Any]
    """(prepared, parameters, resources) → output: the deterministic classical system."""
    parameters: type[Any] = NoParameters
    settings: type[Any] = NoParameters
    prepared: type[Any] | None = None
    """The type of what a template renders; the input's own type where nothing is prepared."""
    prepare: Callable[[Any, Any, Any], Any] | None = None
    """(input, parameters, resources) → prepared."""
    carried: tuple[str, ...] = ()
    """Fields of `prepared` that become part of the output, whatever the engine says of them."""
    resources: Callable[[Path], Any] | None = None
    """Loads what lies in `golden/<suite>/resources/`, for engines, templates and scoring alike."""
    references: Callable[[Path], Any] | None = None
    """Loads what lies in `golden/<suite>/references/`, such as adjudications: for scoring only."""
    annotate: Callable[[Sequence[Item], Context], Any] | None = None
    """Judgements by models, needed before scoring."""
    models: tuple[Model, ...] = ()
    """What judges in `annotate` and `score`; its measured accuracy is told beside the metrics it feeds."""
    trained: Callable[[Context], Sequence[Model]] | None = None
    """Models of the same kind that are made from the suite's references, and so identified by them."""
    judge: Judge | None = None
    """Its metrics are among the suite's, and `judge: str | None = None` is one of the suite's settings."""
    errored: Callable[[Case[Any, Any], Answer | None], CaseScore] | None = None
    """What an errored case counts as in metrics that are not means over cases: at its worst."""
    answers: AnswerReader | None = None
    """Chooses the format of an outputs file, where a suite reads others besides `recorded_format`."""
    groups: tuple[str, ...] = ()
    """Case attributes by which every metric is also shown."""
    tables: Mapping[str, Callable[[KeyedSums], Rows]] = field(default_factory=dict)
    """Tables for people, from the keyed counts of the same name."""
    confusions: tuple[str, ...] = ()
    """Which of the tables are confusion matrices, gold down and predicted across: they are drawn, too."""
    problems: Callable[[Mapping[str, Rows]], list[str]] | None = None
    """From the tables, what the headline hides, the worst first: it is told wherever the headline is."""
    trial_metrics: tuple[TrialMetric, ...] = ()
    trial_tables: Mapping[str, TrialTable] = field(default_factory=dict)
    """Further tables for people: how the numbers went from trial to trial."""
    cross_tables: Mapping[str, CrossTable] = field(default_factory=dict)
    """Tables for people that put versions side by side; the report shows them."""
    measure: Callable[[Case[Any, Any]], Mapping[str, Any]] | None = None
    """What requirements look at, for one case."""
    requirements: tuple[Requirement, ...] = ()
    requests_per_minute: float | None = None
    """How often an endpoint is asked for this suite, unless `engines.yaml` says otherwise."""
    selects: Callable[[Case[Any, Any], Any], bool] | None = None
    """(case, settings) → whether scoring uses the case, such as those of one split; all by default."""
    advice: Callable[[Mapping[str, str]], Mapping[str, str]] | None = None
    """The status of every gate by metric → what to do about those that do not pass, by metric."""
    report_keys: Callable[[Mapping[str, Any], Any], Mapping[str, Any]] | None = None
    """(report, settings) → keys that a suite's document wants at the top level of the score report."""

    def __post_init__(self) -> None:
        pooled = [metric.name for metric in self.metrics if metric.on_error is None]
        if pooled and self.errored is None:
            raise ValueError(
                f"{self.name}: say with `errored` what an error counts as in {', '.join(pooled)}"
            )
        names = [name for metric in self.metrics for name in (metric.name, *metric.aliases)]
        if len(names) != len(set(names)):
            raise ValueError(f"{self.name}: two metrics share a name or an alias")
        if self.judge and not set(self.judge.metrics) <= set(self.metrics):
            raise ValueError(f"{self.name}: the judge's metrics are not among the suite's")
        if self.judge and "judge" not in self.settings.__struct_fields__:
            raise ValueError(f"{self.name}: no setting names the judge's engine")

    @property
    def variables(self) -> tuple[str, ...]:
        """The names that a prompt template may use."""
        return tuple(each.name for each in msgspec.structs.fields(self.prepared or self.input))

    def answer_format(self, path: Path) -> AnswerFormat:
        """How a file of recorded outputs is read."""
        return self.answers(path) if self.answers else recorded_format(self.output)

    def metric(self, name: str) -> Metric:
        """The metric of that name."""
        return next(metric for metric in self.metrics if metric.name == name)


def all_metrics(suite: Suite) -> tuple[Metric, ...]:
    """The suite's metrics and those that every suite has."""
    return (*suite.metrics, ERROR_RATE, CASE_PASS_RATE)


def quantities(suite: Suite) -> dict[str, Metric | TrialMetric]:
    """Everything that an evaluation puts a number on, by name."""
    found: list[Metric | TrialMetric] = [*all_metrics(suite), *suite.trial_metrics]
    return {each.name: each for each in found}
