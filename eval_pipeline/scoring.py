"""From cases and answers to counts: parsing, scoring in batches, errors at their worst, sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.answers.recorded import Answer, AnswerSource, Failure, OutputSource, parse
from eval_pipeline.golden import GoldenCase
from eval_pipeline.problems import bad_value
from eval_pipeline.suite import (
    UNJUDGED,
    UNJUDGED_RATE,
    Batch,
    Case,
    CaseScore,
    Context,
    Diagnosis,
    Item,
    Items,
    Judge,
    KeyedSums,
    Metric,
    Population,
    Suite,
    Sums,
    TrialMetric,
    Values,
    defined,
    everything,
    judged,
    mean_counts,
    per_case,
    ratio_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 500
ROWS_AT_ONCE = 2000

ERROR_RATE = Metric(
    "error_rate", "Cases without a usable output ÷ cases.", ratio_of("errors", "answers"), "lower"
)
CASE_PASS_RATE = Metric("case_pass_rate", "Cases that pass ÷ cases.", ratio_of("passed", "answers"))

KEYS = ("case_id", "trial", "error", "detail")
ATTRIBUTE = "attribute:"
POPULATION = "population:"


def all_metrics(suite: Suite) -> tuple[Metric, ...]:
    """The suite's metrics and those that every suite has."""
    return (*suite.metrics, ERROR_RATE, CASE_PASS_RATE)


def quantities(suite: Suite) -> dict[str, Metric | TrialMetric]:
    """Everything that an evaluation puts a number on, by name."""
    found: list[Metric | TrialMetric] = [*all_metrics(suite), *suite.trial_metrics]
    return {each.name: each for each in found}


@dataclass(frozen=True)
class Scores:
    """What scoring yields, as Arrow tables.

    `counts` has one row per case and trial (its keys, attributes and count columns), sorted, so
    that sums do not depend on the order of the golden set. `keyed` holds counts with keys,
    `diagnoses` what was wrong.
    """

    counts: pa.Table
    keyed: pa.Table
    diagnoses: pa.Table

    @property
    def trials(self) -> NDArray[np.int64]:
        """The trial of every row."""
        trials: NDArray[np.int64] = self.counts["trial"].to_numpy()
        return trials

    @property
    def case_ids(self) -> list[str]:
        """The case of every row."""
        return list(self.counts["case_id"].to_pylist())

    @property
    def count_names(self) -> list[str]:
        """The names of the count columns."""
        return [
            name for name in self.counts.column_names if name not in KEYS and not name.startswith(ATTRIBUTE)
        ]

    @property
    def case_count(self) -> int:
        """How many cases there are."""
        import pyarrow.compute as pc

        return int(pc.count_distinct(self.counts["case_id"]).as_py())

    @property
    def errors(self) -> dict[str, int]:
        """How many rows are errors, by kind."""
        import pyarrow.compute as pc

        found = pc.value_counts(pc.drop_null(self.counts["error"])).to_pylist()
        return dict(sorted((each["values"], each["counts"]) for each in found))

    def attribute(self, name: str) -> tuple[list[str], NDArray[np.int64]]:
        """The values of a case attribute, and the number of each row's own; blank where it has none."""
        import pyarrow.compute as pc

        column = ATTRIBUTE + name
        if column not in self.counts.column_names:
            return [""], np.zeros(self.counts.num_rows, dtype=np.int64)
        encoded = pc.fill_null(self.counts[column], "").combine_chunks().dictionary_encode()
        values: list[str] = encoded.dictionary.to_pylist()
        order = sorted(range(len(values)), key=values.__getitem__)
        ranks = np.argsort(order)
        return [values[number] for number in order], ranks[encoded.indices.to_numpy()].astype(np.int64)

    def errors_of_kind(self, kind: str) -> NDArray[np.bool_]:
        """Which rows are errors of a kind."""
        import pyarrow.compute as pc

        found: NDArray[np.bool_] = pc.fill_null(pc.equal(self.counts["error"], kind), False).to_numpy()
        return found

    def restricted(self, case_ids: Iterable[str]) -> Scores:
        """The scores of some cases only."""
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pa.array(sorted(case_ids), pa.string())

        def keep(table: pa.Table) -> pa.Table:
            return table.filter(pc.is_in(table["case_id"], value_set=wanted))

        return Scores(keep(self.counts), keep(self.keyed), keep(self.diagnoses))

    def joined(self, later: Scores) -> Scores:
        """These scores and those of later trials."""
        import pyarrow as pa

        pairs = zip(_tables(self), _tables(later), strict=True)
        counts, keyed, diagnoses = (pa.concat_tables(pair, promote_options="permissive") for pair in pairs)
        order = [("case_id", "ascending"), ("trial", "ascending")]
        return Scores(counts, keyed.sort_by([*order, *KEYED_ORDER]), diagnoses.sort_by(order))

    def sums(self, assignment: NDArray[np.int64], sets: int) -> LazySums:
        """Counts summed over sets of rows; `assignment` names each row's set, −1 leaves it out."""
        return LazySums(self, assignment, sets)


def _tables(scores: Scores) -> tuple[pa.Table, pa.Table, pa.Table]:
    return scores.counts, scores.keyed, scores.diagnoses


class LazySums(Sums):
    """Sums that are computed when a formula asks for them."""

    def __init__(self, scores: Scores, assignment: NDArray[np.int64], sets: int) -> None:
        self._scores = scores
        self._sets = sets
        self._kept = None if (assignment >= 0).all() else np.flatnonzero(assignment >= 0)
        self._assignment = assignment
        self._summed: dict[str, Values] = {}
        super().__init__({}, {})

    def __getitem__(self, column: str) -> Values:
        if column not in self._summed:
            values, sets = self._scores.counts[column].to_numpy(), self._assignment
            if self._kept is not None:
                values, sets = values[self._kept], sets[self._kept]
            self._summed[column] = np.bincount(sets, values, self._sets).astype(np.float64)
        return self._summed[column]

    def table(self, name: str) -> KeyedSums:
        """The summed keyed counts of a table."""
        import pyarrow.compute as pc

        keyed = self._scores.keyed
        rows = keyed.filter(pc.equal(keyed["table"], name))
        row_keys, row_index = _codes(rows["row_key"].to_pylist())
        column_keys, column_index = _codes(rows["column_key"].to_pylist())
        values = np.zeros((self._sets, len(row_keys), len(column_keys)))
        rows_of = zip(self._scores.case_ids, self._scores.trials.tolist(), strict=True)
        places = dict(zip(rows_of, self._assignment.tolist(), strict=True))
        keys = zip(rows["case_id"].to_pylist(), rows["trial"].to_pylist(), strict=True)
        sets = np.array([places.get(key, -1) for key in keys], dtype=np.int64)
        kept = sets >= 0
        np.add.at(
            values,
            (sets[kept], row_index[kept], column_index[kept]),
            rows["value"].to_numpy()[kept],
        )
        return KeyedSums(row_keys, column_keys, values)


def _codes(keys: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    names = tuple(sorted(set(keys)))
    numbers = {name: number for number, name in enumerate(names)}
    return names, np.array([numbers[key] for key in keys], dtype=np.int64)


def score_cases(
    suite: Suite,
    cases: Iterable[GoldenCase],
    answers: AnswerSource,
    context: Context,
    *,
    keep_diagnoses: bool = True,
) -> Scores:
    """Score every case in every trial that `answers` has, in batches: memory does not grow with texts."""

    def batches() -> Iterator[_Batch]:
        iterator = iter(cases)
        while batch := list(islice(iterator, BATCH)):
            yield _Batch([each.case for each in batch], [each.input_hash for each in batch])

    return _score(suite, batches(), answers, context, keep_diagnoses)


def score_blocks(
    suite: Suite,
    blocks: Iterable[Sequence[Case[Any, Any]]],
    answers: AnswerSource,
    context: Context,
    *,
    keep_diagnoses: bool = True,
) -> Scores:
    """The same for cases that come many at a time, and for answers that do not say to which input."""

    def batches() -> Iterator[_Batch]:
        waiting: list[Case[Any, Any]] = []
        for block in blocks:
            waiting += block
            if len(waiting) >= BATCH:
                yield _Batch(waiting, [""] * len(waiting))
                waiting = []
        if waiting:
            yield _Batch(waiting, [""] * len(waiting))

    return _score(suite, batches(), answers, context, keep_diagnoses)


class _Batch(NamedTuple):
    """Some cases, and the hashes of their inputs."""

    cases: Sequence[Case[Any, Any]]
    input_hashes: Sequence[str]

    def selected(self, selects: Callable[[Case[Any, Any], Any], bool], settings: Any) -> _Batch:
        """Those of the cases that scoring uses."""
        kept = [index for index, case in enumerate(self.cases) if selects(case, settings)]
        return _Batch([self.cases[index] for index in kept], [self.input_hashes[index] for index in kept])


def _score(
    suite: Suite, batches: Iterable[_Batch], answers: AnswerSource, context: Context, keep_diagnoses: bool
) -> Scores:
    table = _TableBuilder(keep_diagnoses)
    trials = answers.trials
    if suite.selects:
        batches = (batch.selected(suite.selects, context.settings) for batch in batches)
    if context.judge:
        batches = list(batches)  # everything is asked in one go, so that a budget holds for all of it
        context = replace(context, verdicts=context.judge.verdicts(_usable(suite, batches, answers)))
    for batch in batches:
        for trial in trials:
            _score_batch(suite, batch, trial, answers, context, table)
    if table.empty:
        raise bad_value("settings", "they select no case", "Choose others, or add cases to the golden set.")
    return table.build()


def _usable(suite: Suite, batches: Iterable[_Batch], answers: AnswerSource) -> Iterator[Item]:
    for batch in batches:
        for trial in answers.trials:
            yield from _parsed(suite, batch, trial, answers)[0]


def _score_batch(
    suite: Suite,
    batch: _Batch,
    trial: int,
    answers: AnswerSource,
    context: Context,
    table: _TableBuilder,
) -> None:
    items, failed = _parsed(suite, batch, trial, answers)
    if items:
        _add_scored(suite, items, trial, context, table)
    if failed:
        _add_failed(suite, failed, trial, context, table)


def _add_scored(suite: Suite, items: Items, trial: int, context: Context, table: _TableBuilder) -> None:
    if suite.annotate:
        context = replace(context, annotations=suite.annotate(items, context))
    scored = suite.score(items, context)
    ruled = _ruled(suite.judge, items, context) if suite.judge else Batch({})
    counts = {
        **scored.counts,
        **ruled.counts,
        **_populations(suite, items.cases, context),
        "answers": np.ones(len(items)),
        "errors": np.zeros(len(items)),
    }
    counts["passed"] = suite.case_passes(Sums(counts, {})).astype(float)
    table.add(items.cases, trial, None, counts)
    table.keyed += [
        (items.cases[index].id, trial, row.table, row.row_key, row.column_key, row.value)
        for index, row in scored.keyed
    ]
    for diagnoses in (scored.diagnoses, ruled.diagnoses):
        table.diagnose((items.cases[index].id, trial, *row) for index, row in diagnoses)


def _ruled(judge: Judge, items: Items, context: Context) -> Batch:
    """What each answer earns by the judge's verdict: the worst without one, nothing where it is off."""
    off = CaseScore(mean_counts({metric.name: None for metric in judge.metrics}))
    worst = mean_counts({metric.name: metric.on_error for metric in judge.metrics})

    def rule(item: Item, context: Context) -> CaseScore:
        if context.judge is None:
            return off
        found = context.verdicts[item.case.id, item.trial]
        if isinstance(found, Failure):
            return CaseScore(worst, diagnoses=[Diagnosis(UNJUDGED, found.kind, found.detail)])
        scored = judge.score(found.output)
        return replace(scored, counts={**scored.counts, **mean_counts({UNJUDGED_RATE.name: 0.0})})

    return per_case(rule)(items, context)


_Failed = tuple[Case[Any, Any], Answer | None, Failure]


def _add_failed(
    suite: Suite, failed: Sequence[_Failed], trial: int, context: Context, table: _TableBuilder
) -> None:
    cases = [case for case, _, _ in failed]
    worst = [suite.errored(case, answer) if suite.errored else CaseScore({}) for case, answer, _ in failed]
    counts = {
        **{name: np.array([each.counts[name] for each in worst], dtype=float) for name in worst[0].counts},
        **_worst_means(suite, cases, context),
        **_populations(suite, cases, context),
        "answers": np.ones(len(failed)),
        "errors": np.ones(len(failed)),
        "passed": np.zeros(len(failed)),
    }
    table.add(cases, trial, [failure for _, _, failure in failed], counts)
    table.keyed += [
        (case.id, trial, *row) for (case, _, _), each in zip(failed, worst, strict=True) for row in each.keyed
    ]
    table.diagnose((case.id, trial, "error", failure.kind, failure.detail) for case, _, failure in failed)


def _parsed(suite: Suite, batch: _Batch, trial: int, answers: AnswerSource) -> tuple[Items, list[_Failed]]:
    """Usable outputs with their cases, and the cases that have none."""
    cases: Sequence[Case[Any, Any]] = batch.cases
    outputs: list[Any] = [None] * len(cases)
    if isinstance(answers, OutputSource):
        outputs = answers.outputs([case.id for case in cases], trial)
    given: dict[int, Answer] = {}
    failures: dict[int, _Failed] = {}
    for index in [number for number, output in enumerate(outputs) if output is None]:
        answer = answers.get(cases[index].id, trial, batch.input_hashes[index])
        parsed = parse(answer, suite.output)
        if isinstance(parsed, Failure):
            failures[index] = (cases[index], answer, parsed)
        elif answer is not None:
            outputs[index], given[index] = parsed.output, answer
    usable: Sequence[int] = range(len(cases))
    if failures:
        usable = [number for number in range(len(cases)) if number not in failures]
        cases, outputs = [cases[number] for number in usable], [outputs[number] for number in usable]

    def answer_of(index: int) -> Answer:
        found = given.get(usable[index]) or answers.get(cases[index].id, trial, "")
        assert found is not None
        return found

    return Items(cases, outputs, trial, answer_of), list(failures.values())


def _worst_means(suite: Suite, cases: Sequence[Case[Any, Any]], context: Context) -> dict[str, Values]:
    """What errored cases count in means: the worst value where the metric applies, else nothing."""
    counts: dict[str, Values] = {}
    for metric in suite.metrics:
        if metric.on_error is not None:
            applies = _members(metric.population, cases, context)
            counts[metric.name] = metric.on_error * applies
            counts[defined(metric.name)] = applies
    return counts


def population_column(suite: Suite, metric: Metric) -> str:
    """The column that tells which rows a metric applies to; metrics with the same population share it."""
    first = next(each for each in suite.metrics if each.population is metric.population)
    return POPULATION + first.name


def _populations(suite: Suite, cases: Sequence[Case[Any, Any]], context: Context) -> dict[str, Values]:
    columns = {
        population_column(suite, metric): metric.population
        for metric in suite.metrics
        if metric.population is not everything
    }
    return {name: _members(applies, cases, context) for name, applies in columns.items()}


def _members(population: Population, cases: Sequence[Case[Any, Any]], context: Context) -> Values:
    """1 for each case that a population holds; what a judge decides holds nobody while it is off."""
    if population is judged and context.judge is None:
        return np.zeros(len(cases))
    return np.fromiter(map(population, cases), float, len(cases))


class _TableBuilder:
    """Grows the Arrow tables of `Scores` batch by batch."""

    def __init__(self, keep_diagnoses: bool) -> None:
        self._keep_diagnoses = keep_diagnoses
        self._names: set[str] = set()
        self._chunks: list[pa.Table] = []
        self._diagnoses: list[pa.Table] = []
        self.keyed: list[tuple[str, int, str, str, str, float]] = []

    @property
    def empty(self) -> bool:
        return not self._chunks

    def add(
        self,
        cases: Sequence[Case[Any, Any]],
        trial: int,
        failures: Sequence[Failure] | None,
        counts: Mapping[str, Values],
    ) -> None:
        import pyarrow as pa

        self._names = self._names or set(counts)
        if self._names != set(counts):
            odd = ", ".join(sorted(self._names ^ set(counts)))
            raise ValueError(f"the suite does not count the same for every answer: {odd}")
        rows = len(cases)
        self._chunks.append(
            pa.table(
                {
                    "case_id": pa.array([case.id for case in cases], pa.string()),
                    "trial": pa.array(np.full(rows, trial), pa.int64()),
                    **{
                        name: pa.nulls(rows, pa.string())
                        if failures is None
                        else pa.array([getattr(each, field) for each in failures], pa.string())
                        for name, field in (("error", "kind"), ("detail", "detail"))
                    },
                    **_attributes(cases),
                    **{name: pa.array(_small(values)) for name, values in counts.items()},
                }
            )
        )

    def diagnose(self, rows: Iterable[tuple[str, int, str, str, str]]) -> None:
        if self._keep_diagnoses:
            self._diagnoses.append(_rows_table(list(rows), DIAGNOSIS_COLUMNS))

    def build(self) -> Scores:
        diagnoses = [_rows_table([], DIAGNOSIS_COLUMNS), *self._diagnoses]
        return _assembled(self._chunks, [_rows_table(self.keyed, KEYED_COLUMNS)], diagnoses)


def merged(shards: Sequence[Scores]) -> Scores:
    """The scores of a golden set from those of its parts."""
    return _assembled(
        [each.counts for each in shards], [each.keyed for each in shards], [each.diagnoses for each in shards]
    )


def _assembled(
    counts: Sequence[pa.Table], keyed: Sequence[pa.Table], diagnoses: Sequence[pa.Table]
) -> Scores:
    """Pieces of tables, put together and in order."""
    import pyarrow as pa

    order = [("case_id", "ascending"), ("trial", "ascending")]
    rows = pa.concat_tables(counts, promote_options="permissive")
    if not _in_order(rows):
        rows = rows.sort_by([("trial", "ascending"), ("case_id", "ascending")])
    return Scores(
        rows,
        pa.concat_tables(keyed).sort_by([*order, *KEYED_ORDER]),
        pa.concat_tables(diagnoses).sort_by(order),
    )


def _attributes(cases: Sequence[Case[Any, Any]]) -> dict[str, pa.Array]:
    """The attributes of cases as columns. Many cases may share the same: each is looked at once."""
    import pyarrow as pa

    held = [case.attributes for case in cases]
    distinct = dict(zip(map(id, held), held, strict=True))
    numbers = dict(zip(distinct, range(len(distinct)), strict=True))
    rows = np.fromiter(map(numbers.__getitem__, map(id, held)), np.int64, len(held))
    return {
        ATTRIBUTE + name: pa.array([each.get(name) for each in distinct.values()], pa.string()).take(rows)
        for name in sorted(set().union(*distinct.values()))
    }


def _in_order(counts: pa.Table) -> bool:
    """Whether rows of a single trial already stand in the order of their cases."""
    import pyarrow.compute as pc

    ids = counts["case_id"].combine_chunks()
    if pc.count_distinct(counts["trial"]).as_py() != 1 or len(ids) < 2:
        return False
    return bool(pc.all(pc.less_equal(ids[:-1], ids[1:])).as_py())


KEYED_COLUMNS = {
    "case_id": str,
    "trial": int,
    "table": str,
    "row_key": str,
    "column_key": str,
    "value": float,
}
KEYED_ORDER = [("table", "ascending"), ("row_key", "ascending"), ("column_key", "ascending")]
DIAGNOSIS_COLUMNS = {"case_id": str, "trial": int, "kind": str, "expected": str, "got": str}


def _small(values: Values) -> NDArray[np.uint8] | Values:
    """Counts in one byte each where that loses nothing, as it does for nearly all of them."""
    with np.errstate(invalid="ignore"):
        small = values.astype(np.uint8)
    return small if np.array_equal(small, values) else np.ascontiguousarray(values, dtype=float)


def _rows_table(rows: Sequence[tuple[Any, ...]], columns: Mapping[str, type]) -> pa.Table:
    import pyarrow as pa

    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    return pa.table(
        {
            name: pa.array([row[index] for row in rows], types[kind])
            for index, (name, kind) in enumerate(columns.items())
        }
    )


def metric_values(metric: Metric, sums: Sums) -> list[float | None]:
    """A metric on each set of rows; null where it is undefined."""
    values = np.asarray(metric.formula(sums), dtype=float)
    return [float(value) if np.isfinite(value) else None for value in values]


def row_values(metric: Metric, scores: Scores) -> list[float | None]:
    """A metric on every row by itself."""
    values: list[float | None] = []
    total = scores.counts.num_rows
    for start in range(0, total, ROWS_AT_ONCE):
        size = min(ROWS_AT_ONCE, total - start)
        assignment = np.full(total, -1, dtype=np.int64)
        assignment[start : start + size] = np.arange(size)
        values += metric_values(metric, scores.sums(assignment, size))
    return values
