"""The contract of a suite: one kind of task, described by plain functions and data.

A suite turns (case, output) into rows of additive counts. Every metric is a function of summed
counts, so that values per case, per group, per trial and over everything are one function on
different sums, and shards merge exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.answers.recorded import (
    FIRST_TRIAL,
    Answer,
    AnswerFile,
    AnswersInStep,
    Failure,
    Usable,
    index_answers,
)
from eval_pipeline.documents import Part
from eval_pipeline.problems import Problems

Input = TypeVar("Input")
Expected = TypeVar("Expected")

Values = NDArray[np.float64]
Direction = Literal["higher", "lower"]
Unit = Literal["fraction", "points", "number"]
Severity = Literal["critical", "warning"]


class Case(msgspec.Struct, Generic[Input, Expected], frozen=True, gc=False):
    """One golden entry. Engines and templates see `input`; only scoring sees `expected`."""

    id: str
    input: Input
    expected: Expected
    attributes: dict[str, str] = {}


class Place(NamedTuple):
    """Where a golden entry stands."""

    file: Path
    line: int


class CaseReader(Protocol):
    """Reads the golden format that a suite's document defines."""

    suffixes: tuple[str, ...]

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The cases of one file; what cannot be read goes to `problems`."""


class AnswerReader(Protocol):
    """Opens a file of recorded outputs."""

    def __call__(self, path: Path, problems: Problems) -> AnswerFile:
        """The answers of a file, found by case and trial; what cannot be read goes to `problems`."""


class Sums:
    """Summed counts of one or many sets of rows: each column is a vector with one entry per set."""

    def __init__(self, columns: Mapping[str, Values], tables: Mapping[str, KeyedSums]) -> None:
        self._columns = columns
        self._tables = tables

    def __getitem__(self, column: str) -> Values:
        return self._columns[column]

    def table(self, name: str) -> KeyedSums:
        """The summed keyed counts of a table."""
        return self._tables[name]


@dataclass(frozen=True)
class KeyedSums:
    """Summed counts with keys: `values[set, row, column]`."""

    row_keys: tuple[str, ...]
    column_keys: tuple[str, ...]
    values: Values

    def column(self, key: str) -> Values:
        """One column for all rows: `[set, row]`; zeros where nothing was counted under that key."""
        if key not in self.column_keys:
            return np.zeros(self.values.shape[:2])
        return self.values[:, :, self.column_keys.index(key)]


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
    """The kind of diagnosis that names what a bad value is made of."""
    aliases: tuple[str, ...] = ()
    """Shorter names that `--gates` takes as well."""


def divide(numerator: Values, denominator: Values) -> Values:
    """Element by element; undefined (NaN) where the denominator is 0."""
    result = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


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
    on_error: float,
    direction: Direction = "higher",
    unit: Unit = "fraction",
    population: Population = everything,
    explained_by: str = "",
    aliases: tuple[str, ...] = (),
) -> Metric:
    """A metric that is the mean of per-case values: one case, one vote.

    It rests on the count pair of `mean_counts`: the value, and 1 where there is one.
    """
    formula = ratio_of(name, defined(name))
    return Metric(name, description, formula, direction, unit, population, on_error, explained_by, aliases)


def defined(name: str) -> str:
    """The column that counts for how many cases a mean's value is defined."""
    return f"{name}:defined"


def mean_counts(values: Mapping[str, float | None]) -> dict[str, float]:
    """The count pairs of per-case values; an undefined value counts for nothing."""
    counts: dict[str, float] = {}
    for name, value in values.items():
        counts[name] = 0.0 if value is None else value
        counts[defined(name)] = 0.0 if value is None else 1.0
    return counts


class Item(NamedTuple):
    """A case with a usable output, ready to be scored."""

    case: Case[Any, Any]
    trial: int
    output: Any
    answer: Answer


class Items(Sequence[Item]):
    """Items as columns: `cases` and `outputs` for scoring that goes by columns, an `Item` each otherwise."""

    def __init__(
        self,
        cases: Sequence[Case[Any, Any]],
        outputs: Sequence[Any],
        trial: int,
        answer: Callable[[int], Answer],
    ) -> None:
        self.cases = cases
        self.outputs = outputs
        self._trial = trial
        self._answer = answer

    @classmethod
    def of(cls, items: Sequence[Item]) -> Items:
        """Items of one trial that are there already."""
        trial = items[0].trial if items else FIRST_TRIAL
        return cls(
            [item.case for item in items],
            [item.output for item in items],
            trial,
            lambda index: items[index].answer,
        )

    def __len__(self) -> int:
        return len(self.cases)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        return Item(self.cases[index], self._trial, self.outputs[index], self._answer(index))


class KeyedCount(NamedTuple):
    """A count under keys: a cell of a confusion matrix, a category's hits."""

    table: str
    row_key: str
    column_key: str
    value: float


class Diagnosis(NamedTuple):
    """What was wrong with an output, in words a person can act on."""

    kind: str
    expected: str
    got: str


@dataclass(frozen=True)
class CaseScore:
    """What scoring one output yields."""

    counts: Mapping[str, float]
    keyed: Sequence[KeyedCount] = ()
    diagnoses: Sequence[Diagnosis] = ()


@dataclass
class Batch:
    """Scores of a batch of items, as columns. Rows of `keyed` and `diagnoses` name their item by index."""

    counts: dict[str, Values]
    keyed: list[tuple[int, KeyedCount]] = field(default_factory=list)
    diagnoses: Iterable[tuple[int, Diagnosis]] = ()
    """Read once, and only where somebody wants to know."""


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


@dataclass(frozen=True)
class Overview:
    """A golden set at a glance: what requirements are checked against, one entry per case."""

    case_ids: Sequence[str]
    files: Sequence[str]
    attributes: Mapping[str, Sequence[str]]
    measures: Mapping[str, Sequence[Any]]
    references: Any = None
    """What the suite loads from `references/`, such as second annotations."""


@dataclass(frozen=True)
class Requirement:
    """Something a good golden set has. A shortfall fails a check; it never prevents scoring."""

    name: str
    description: str
    shortfalls: Callable[[Overview], list[str]]
    severity: Severity = "warning"
    facts: Callable[[Overview], list[str]] | None = None
    """What to show whether or not something falls short, such as how balanced the set is."""


def each_case(
    measure: str,
    description: str,
    *,
    minimum: float = 0,
    maximum: float | None = None,
    severity: Severity = "warning",
) -> Requirement:
    """Every case has between `minimum` and `maximum` of something."""

    def shortfalls(overview: Overview) -> list[str]:
        bounds = f"at least {minimum:g}" if maximum is None else f"{minimum:g} to {maximum:g}"
        return [
            f"{file}: {value:g} {measure.replace('_', ' ')}, {bounds} needed"
            for file, value in zip(overview.files, overview.measures[measure], strict=True)
            if value < minimum or (maximum is not None and value > maximum)
        ]

    return Requirement(measure, description, shortfalls, severity)


def no_case_lists(
    measure: str, description: str, complaint: str, *, severity: Severity = "critical"
) -> Requirement:
    """No case has anything in a list of offenders."""

    def shortfalls(overview: Overview) -> list[str]:
        return [
            f"{file}: {complaint}: {', '.join(offenders)}"
            for file, offenders in zip(overview.files, overview.measures[measure], strict=True)
            if offenders
        ]

    return Requirement(measure, description, shortfalls, severity)


def every_value(attribute: str, values: Iterable[str], description: str, *, minimum: int = 1) -> Requirement:
    """Each value of an attribute has at least `minimum` cases."""
    wanted = tuple(values)

    def shortfalls(overview: Overview) -> list[str]:
        found = list(overview.attributes.get(attribute, ()))
        return [
            f"{attribute} {value}: {found.count(value)} cases, at least {minimum} needed"
            for value in wanted
            if found.count(value) < minimum
        ]

    return Requirement(f"{attribute}s", description, shortfalls)


def case_count(minimum: int, target: int, ideal: int) -> Requirement:
    """Enough cases: below `minimum` is a failure, below `ideal` is said."""

    def shortfalls(overview: Overview) -> list[str]:
        count = len(overview.case_ids)
        if count >= minimum:
            return []
        return [f"{count} cases, at least {minimum} needed (target {target}, ideal {ideal} or more)"]

    return Requirement(
        "case_count", f"At least {minimum} cases (target {target}, ideal {ideal} or more)", shortfalls
    )


Verdicts = Mapping[tuple[str, int], Usable | Failure]
"""By case and trial: a verdict, or why there is none."""


class OpenJudge(Protocol):
    """A judge with the engine that it asks."""

    @property
    def model(self) -> Model:
        """Who judges, which metrics rest on it, and how far it agrees with people."""

    def verdicts(self, items: Iterable[Item]) -> Verdicts:
        """What it says of each answer; each gets a verdict or a failure."""


UNJUDGED = "unjudged"
UNJUDGED_RATE = mean(
    "unjudged_rate",
    "Answers without a verdict of the judge (its call failed, or there was no usable answer) ÷ answers.",
    on_error=1.0,
    direction="lower",
    population=judged,
    explained_by=UNJUDGED,
)


@dataclass(frozen=True)
class Judge:
    """A language model that rules on answers. It is off unless the setting `judge` names an engine.

    An answer whose call fails counts in every metric of the judge as an errored answer does.
    """

    instructions: str
    """What it is to decide. It is sent as it stands; what to rule on follows as JSON."""
    asked: type[Any]
    """What it is shown of an answer. With `right`, true or false, it is a line of the labelled examples."""
    question: Callable[[Item], Any]
    """Item → asked."""
    verdict: type[Any]
    right: Callable[[Any], bool]
    """Verdict → whether it finds the answer right; compared with what the labelled examples say."""
    score: Callable[[Any], CaseScore]
    """Verdict → the counts of `means`, and what was wrong."""
    means: tuple[Metric, ...]
    """Means over the population `judged`."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The numbers that rest on it, and how often it gave no verdict."""
        return (*self.means, UNJUDGED_RATE)

    def __post_init__(self) -> None:
        odd = [each.name for each in self.means if each.population is not judged or each.on_error is None]
        if odd:
            raise ValueError(f"no means over the population `judged`: {', '.join(odd)}")


class NoParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For suites whose prompts, settings or resources take no options."""


Rows = list[dict[str, Any]]


def matrix_rows(table: KeyedSums) -> Rows:
    """Keyed counts as a table: a row for each row key, a column for each column key."""
    return [
        {"": row_key, **dict(zip(table.column_keys, cells, strict=True))}
        for row_key, cells in zip(table.row_keys, table.values[0].tolist(), strict=True)
    ]


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


TrialTable = Callable[[Mapping[str, Sequence[float | None]], Mapping[str, float | None]], Rows]
"""(each metric's values per trial, each trial metric's value) → rows."""


class Experiment(NamedTuple):
    """What one version scored, as tables that put versions side by side need it."""

    per_trial: Mapping[str, Sequence[float | None]]
    tables: Mapping[str, Rows]
    cases: int


CrossTable = Callable[[Mapping[str, Experiment]], Rows]
"""Experiments by version → rows."""


class Measured(NamedTuple):
    """How good a model is at its work, on labelled examples that it was not made from."""

    accuracy: float
    told: str
    """The measurement in words: how much of what, on how many examples."""


@dataclass(frozen=True)
class Model:
    """A model behind metrics: which one, what rests on it, and how far it can be trusted."""

    name: str
    """With its version: part of the identity of every evaluation."""
    metrics: tuple[str, ...]
    measure: Callable[[], Measured]


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
    answers: AnswerReader = index_answers
    answers_in_step: Callable[[Path, Part], AnswersInStep | None] | None = None
    """A quicker way to read outputs that follow the cases one by one; None for a file that has none."""
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

    def metric(self, name: str) -> Metric:
        """The metric of that name."""
        return next(metric for metric in self.metrics if metric.name == name)
