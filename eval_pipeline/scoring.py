"""From cases and answers to counts: parsing, scoring in batches, errors at their worst, sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.answers import Answer, AnswerSource, Failure, OutputSource, parse
from eval_pipeline.golden import GoldenCase
from eval_pipeline.suite import (
    Case,
    CaseScore,
    Context,
    Items,
    KeyedSums,
    Metric,
    Suite,
    Sums,
    TrialMetric,
    Values,
    defined,
    everything,
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

    def attribute(self, name: str) -> list[str]:
        """A case attribute, for every row; blank where a case has none."""
        column = ATTRIBUTE + name
        if column not in self.counts.column_names:
            return [""] * self.counts.num_rows
        return [value or "" for value in self.counts[column].to_pylist()]

    def restricted(self, case_ids: Iterable[str]) -> Scores:
        """The scores of some cases only."""
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pa.array(sorted(case_ids), pa.string())

        def keep(table: pa.Table) -> pa.Table:
            return table.filter(pc.is_in(table["case_id"], value_set=wanted))

        return Scores(keep(self.counts), keep(self.keyed), keep(self.diagnoses))

    def sums(self, assignment: NDArray[np.int64], sets: int) -> LazySums:
        """Counts summed over sets of rows; `assignment` names each row's set, −1 leaves it out."""
        return LazySums(self, assignment, sets)


class LazySums(Sums):
    """Sums that are computed when a formula asks for them."""

    def __init__(self, scores: Scores, assignment: NDArray[np.int64], sets: int) -> None:
        self._scores = scores
        self._sets = sets
        self._kept = np.flatnonzero(assignment >= 0)
        self._assignment = assignment
        super().__init__({}, {})

    def __getitem__(self, column: str) -> Values:
        values = self._scores.counts[column].to_numpy()[self._kept]
        return np.bincount(self._assignment[self._kept], values, self._sets).astype(np.float64)

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
    table = _TableBuilder(keep_diagnoses)
    trials = answers.trials
    for batch in _batches(cases, BATCH):
        for trial in trials:
            _score_batch(suite, batch, trial, answers, context, table)
    return table.build()


def _batches(cases: Iterable[GoldenCase], size: int) -> Iterator[list[GoldenCase]]:
    iterator = iter(cases)
    while batch := list(islice(iterator, size)):
        yield batch


def _score_batch(
    suite: Suite,
    batch: Sequence[GoldenCase],
    trial: int,
    answers: AnswerSource,
    context: Context,
    table: _TableBuilder,
) -> None:
    items, failed = _parsed(suite, batch, trial, answers)
    if items:
        if suite.annotate:
            context = replace(context, annotations=suite.annotate(items, context))
        scored = suite.score(items, context)
        counts = {
            **scored.counts,
            **_populations(suite, items.cases),
            "answers": np.ones(len(items)),
            "errors": np.zeros(len(items)),
        }
        counts["passed"] = suite.case_passes(Sums(counts, {})).astype(float)
        table.add(items.cases, trial, [None] * len(items), counts)
        table.keyed += [
            (items.cases[index].id, trial, row.table, row.row_key, row.column_key, row.value)
            for index, row in scored.keyed
        ]
        table.diagnose((items.cases[index].id, trial, *row) for index, row in scored.diagnoses)
    if failed:
        cases = [case for case, _, _ in failed]
        worst = [
            suite.errored(case, answer) if suite.errored else CaseScore({}) for case, answer, _ in failed
        ]
        counts = {
            **{
                name: np.array([each.counts[name] for each in worst], dtype=float) for name in worst[0].counts
            },
            **_worst_means(suite, len(failed)),
            **_populations(suite, cases),
            "answers": np.ones(len(failed)),
            "errors": np.ones(len(failed)),
            "passed": np.zeros(len(failed)),
        }
        table.add(cases, trial, [failure for _, _, failure in failed], counts)
        table.keyed += [
            (case.id, trial, *row)
            for (case, _, _), each in zip(failed, worst, strict=True)
            for row in each.keyed
        ]
        table.diagnose((case.id, trial, "error", failure.kind, failure.detail) for case, _, failure in failed)


def _parsed(
    suite: Suite, batch: Sequence[GoldenCase], trial: int, answers: AnswerSource
) -> tuple[Items, list[tuple[Case[Any, Any], Answer | None, Failure]]]:
    """Usable outputs with their cases, and the cases that have none."""
    cases: list[Case[Any, Any]] = []
    outputs: list[Any] = []
    given: list[Answer | None] = []
    failed: list[tuple[Case[Any, Any], Answer | None, Failure]] = []
    at_once = (
        answers.outputs([golden.case.id for golden in batch], trial)
        if isinstance(answers, OutputSource)
        else [None] * len(batch)
    )
    for golden, output in zip(batch, at_once, strict=True):
        if output is not None:
            cases.append(golden.case)
            outputs.append(output)
            given.append(None)
            continue
        answer = answers.get(golden.case.id, trial, golden.input_hash)
        parsed = parse(answer, suite.output)
        if isinstance(parsed, Failure):
            failed.append((golden.case, answer, parsed))
        else:
            cases.append(golden.case)
            outputs.append(parsed.output)
            given.append(answer)

    def answer_of(index: int) -> Answer:
        found = given[index] or answers.get(cases[index].id, trial, "")
        assert found is not None
        return found

    return Items(cases, outputs, trial, answer_of), failed


def _worst_means(suite: Suite, rows: int) -> dict[str, Values]:
    counts: dict[str, Values] = {}
    for metric in suite.metrics:
        if metric.on_error is not None:
            counts[metric.name] = np.full(rows, metric.on_error)
            counts[defined(metric.name)] = np.ones(rows)
    return counts


def _populations(suite: Suite, cases: Sequence[Case[Any, Any]]) -> dict[str, Values]:
    wanted = {metric.population for metric in suite.metrics} - {everything}
    members = {each: np.array([each(case) for case in cases], dtype=float) for each in wanted}
    return {
        POPULATION + metric.name: members[metric.population]
        for metric in suite.metrics
        if metric.population is not everything
    }


class _TableBuilder:
    """Grows the Arrow tables of `Scores` batch by batch."""

    def __init__(self, keep_diagnoses: bool) -> None:
        self._keep_diagnoses = keep_diagnoses
        self._names: set[str] = set()
        self._chunks: list[pa.Table] = []
        self._diagnoses: list[pa.Table] = []
        self.keyed: list[tuple[str, int, str, str, str, float]] = []

    def add(
        self,
        cases: Sequence[Case[Any, Any]],
        trial: int,
        failures: Sequence[Failure | None],
        counts: Mapping[str, Values],
    ) -> None:
        import pyarrow as pa

        self._names = self._names or set(counts)
        if self._names != set(counts):
            odd = ", ".join(sorted(self._names ^ set(counts)))
            raise ValueError(f"the suite does not count the same for every answer: {odd}")
        attributes = sorted({name for case in cases for name in case.attributes})
        self._chunks.append(
            pa.table(
                {
                    "case_id": pa.array([case.id for case in cases], pa.string()),
                    "trial": pa.array([trial] * len(cases), pa.int64()),
                    "error": pa.array([each.kind if each else None for each in failures], pa.string()),
                    "detail": pa.array([each.detail if each else None for each in failures], pa.string()),
                    **{
                        ATTRIBUTE + name: pa.array([case.attributes.get(name) for case in cases], pa.string())
                        for name in attributes
                    },
                    **{name: pa.array(values, pa.float64()) for name, values in counts.items()},
                }
            )
        )

    def diagnose(self, rows: Iterable[tuple[str, int, str, str, str]]) -> None:
        if self._keep_diagnoses:
            self._diagnoses.append(_rows_table(list(rows), DIAGNOSIS_COLUMNS))

    def build(self) -> Scores:
        import pyarrow as pa

        counts = pa.concat_tables(self._chunks, promote_options="permissive")
        counts = counts.sort_by([("trial", "ascending"), ("case_id", "ascending")])
        order = [("case_id", "ascending"), ("trial", "ascending")]
        keyed = _rows_table(self.keyed, KEYED_COLUMNS)
        return Scores(
            counts,
            keyed.sort_by(
                [*order, ("table", "ascending"), ("row_key", "ascending"), ("column_key", "ascending")]
            ),
            pa.concat_tables([_rows_table([], DIAGNOSIS_COLUMNS), *self._diagnoses]).sort_by(order),
        )


KEYED_COLUMNS = {
    "case_id": str,
    "trial": int,
    "table": str,
    "row_key": str,
    "column_key": str,
    "value": float,
}
DIAGNOSIS_COLUMNS = {"case_id": str, "trial": int, "kind": str, "expected": str, "got": str}


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
