"""The suite: one kind of task, described by plain functions and data."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.answers import Answer, AnswerFormat, recorded_format
from eval_pipeline.suite.case import AnswerReader, Case, CaseReader, Item
from eval_pipeline.suite.context import Context, Score
from eval_pipeline.suite.counts import CaseScore, Sums
from eval_pipeline.suite.judge import Judge, Model
from eval_pipeline.suite.metric import CASE_PASS_RATE, ERROR_RATE, Metric, Population, TrialMetric, everything
from eval_pipeline.suite.probing import Probing
from eval_pipeline.suite.reporting import Reporting
from eval_pipeline.suite.requirements import Requirement
from eval_pipeline.suite.text import EXACT_MATCH, TextInput, score_exact_match

_NAME = re.compile(r"[A-Za-z0-9_]+")
_METRIC_NAME = re.compile(r"[A-Za-z0-9_@]+")
_EXACT = 1e-9
NO_REPORTING = Reporting()
USUAL_PROBING = Probing()


class NoParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For suites whose prompts, settings or resources take no options."""


@dataclass(frozen=True, eq=False)
class Suite:
    """One kind of task: its cases, output contract, counts, metrics and embedded engine.

    Only the name must be given: then the input is a text, and the answer must be the expected text.
    """

    name: str
    description: str = ""
    reader: CaseReader | None = None
    """Reads golden files; by default JSON and JSON Lines of `id`, `input`, `expected` and `attributes`."""
    input: type[Any] = TextInput
    """A struct; its fields are what templates may use, unless something is prepared from it."""
    expected: type[Any] = str
    output: type[Any] = str
    """What an answer is read as: its JSON as this type. With `str` the answer's text is the output as it
    stands, no structured output is asked for, and a blank text is an error."""
    score: Score = score_exact_match
    metrics: tuple[Metric, ...] = (EXACT_MATCH,)
    headline: str = ""
    """The metric that stands for all; by default the first one."""
    case_passes: Callable[[Sums], NDArray[np.bool_]] | None = None
    """Which cases pass, from their counts; errored cases never do. By default those whose headline, computed
    from their own counts, is perfect: 1, or 0 where lower is better. An undefined one is not."""
    passable: Population = everything
    """Which cases can pass or fail at all; the others are no part of `case_pass_rate` and never the worst."""
    embedded: Callable[[Any, Any, Any], Any] | None = None
    """(prepared, parameters, resources) → output: the deterministic classical system, if there is one."""
    held_out: tuple[str, str] | None = None
    """The attribute and value of the cases that the embedded engine did not learn from, where it learned from
    the others: what it has on these alone counts."""
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
    """What judges in `annotate` and `score`; its measured accuracy is shown beside the metrics it feeds."""
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
    trial_metrics: tuple[TrialMetric, ...] = ()
    measure: Callable[[Case[Any, Any]], Mapping[str, Any]] | None = None
    """What requirements look at, for one case."""
    requirements: tuple[Requirement, ...] = ()
    requests_per_minute: float | None = None
    """How often an endpoint is asked for this suite, unless `engines.yaml` says otherwise."""
    selects: Callable[[Case[Any, Any], Any], bool] | None = None
    """(case, settings) → whether scoring uses the case, such as those of one split; all by default."""
    reporting: Reporting = NO_REPORTING
    """What only reports show."""
    probing: Probing = USUAL_PROBING
    """What the suite's golden answers are, and which cheats it knows of."""

    def __post_init__(self) -> None:
        if not self.headline and self.metrics:
            object.__setattr__(self, "headline", self.metrics[0].name)
        if wrong := list(self._contradictions()):
            raise ValueError(f"{self.name}: {'; '.join(wrong)}")

    def _contradictions(self) -> Iterator[str]:
        """What does not go together."""
        if not _NAME.fullmatch(self.name):
            yield "the name has other characters than letters, digits and _"
        required = [requirement.name for requirement in self.requirements]
        over_trials = [metric.name for metric in self.trial_metrics]
        for name in (*(metric.name for metric in self.metrics), *over_trials, *required):
            if not _METRIC_NAME.fullmatch(name):
                yield f"{name!r} has other characters than letters, digits, _ and @"
        if not issubclass(self.prepared or self.input, msgspec.Struct):
            yield "what templates use (`prepared`, else `input`) is not a msgspec.Struct"
        if self.carried and self.output is str:
            yield "a text cannot carry fields; let `output` be a struct"
        if len(required) != len(set(required)):
            yield "two requirements share a name"
        if self.held_out and self.held_out[0] not in self.groups:
            yield f"cases are held out by {self.held_out[0]!r}, which is not among `groups`"
        yield from self._contradictions_of_metrics()
        if self.judge and not set(self.judge.metrics) <= set(self.metrics):
            yield "the judge's metrics are not among the suite's"
        if self.judge and "judge" not in self.settings.__struct_fields__:
            yield "no setting names the judge's engine"

    def _contradictions_of_metrics(self) -> Iterator[str]:
        if self.score is score_exact_match:
            if {*self.metrics} - {*(self.judge.metrics if self.judge else ())} != {EXACT_MATCH}:
                yield "say with `score` what the metrics are made from"
            if (self.output, self.expected) != (str, str):
                yield "say with `score` how outputs that are not texts are compared"
        pooled = [metric.name for metric in self.metrics if metric.on_error is None]
        if pooled and self.errored is None:
            yield f"say with `errored` what an error counts as in {', '.join(pooled)}"
        names = [name for metric in self.metrics for name in (metric.name, *metric.aliases)]
        if len(names) != len(set(names)):
            yield "two metrics share a name or an alias"
        headline = next((metric for metric in self.metrics if metric.name == self.headline), None)
        if headline is None:
            yield f"the headline {self.headline!r} is not one of its metrics"
        elif self.case_passes is None and headline.unit != "fraction":
            yield "say with `case_passes` which cases pass: only a fraction can be perfect"

    def passes(self, sums: Sums) -> NDArray[np.bool_]:
        """Which cases pass, from the counts of each."""
        if self.case_passes is not None:
            return self.case_passes(sums)
        headline = self.metric(self.headline)
        perfect = 1.0 if headline.direction == "higher" else 0.0
        return np.abs(headline.formula(sums) - perfect) <= _EXACT

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
    every: list[Metric | TrialMetric] = [*all_metrics(suite), *suite.trial_metrics]
    return {each.name: each for each in every}
