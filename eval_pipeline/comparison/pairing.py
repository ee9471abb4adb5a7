"""Scores of two sides as paired values: every metric with and without each case."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.scoring import Scores
from eval_pipeline.statistics.arrays import ROUNDING
from eval_pipeline.statistics.pairs import LeaveOneOut, Pairs, paired
from eval_pipeline.suite import KeyedSums, Metric, Ratio, Sums, Values, defined

if TYPE_CHECKING:
    import pyarrow as pa

TABLE = "table "
"""What a table is remembered under, before its name."""


def paired_metrics(
    metrics: Sequence[Metric], before: Scores, after: Scores, groups: tuple[int, ...] = ()
) -> Pairs:
    """What the sides show of each metric; both hold the same cases, in every trial."""
    if not cases_of(before).equals(cases_of(after)):
        raise ValueError("the sides do not hold the same cases")
    return paired(left_out(metrics, before, groups), left_out(metrics, after, groups))


def cases_of(scores: Scores) -> pa.ChunkedArray:
    """The ids of the cases, in order: rows are sorted by trial and then by case."""
    trials = len(np.unique(scores.trials))
    return scores.counts["case_id"].slice(0, scores.counts.num_rows // max(trials, 1))


def left_out(metrics: Sequence[Metric], scores: Scores, groups: tuple[int, ...] = ()) -> LeaveOneOut:
    """Each metric in each trial, the same without each case, and of each case alone.

    With `(n,)` as groups, the cases are those of n groups in turn: the first of each, then the second of
    each, and so on. Every group is a side of its own, and the metrics have that axis before their own.
    """
    trials, trial_of = np.unique(scores.trials, return_inverse=True)
    rows, many = scores.counts.num_rows, math.prod(groups)
    set_of = trial_of * many + np.arange(rows) % many
    whole = scores.sums(set_of, len(trials) * many)
    alone, without, items = (np.empty((rows, len(metrics))) for _ in range(3))
    for part, single in scores.rows():
        rest = WithoutRow(whole, single, set_of[part])
        for place, metric in enumerate(metrics):
            counted = Counted(single)
            alone[part, place] = metric.formula(counted)
            items[part, place] = counted.items(metric)
            without[part, place] = metric.formula(rest)
    # Rows are sorted by trial and then by case.
    shape = (len(trials), rows // max(len(trials) * many, 1), *groups, len(metrics))
    by_case = [np.swapaxes(each.reshape(shape), 0, 1) for each in (without, alone, items)]
    values = np.stack([_of_each(metric, whole, many) for metric in metrics], axis=-1)
    return LeaveOneOut(values.reshape(len(trials), *groups, len(metrics)), *by_case)


def _of_each(metric: Metric, whole: Sums, groups: int) -> Values:
    """A metric in each trial and group. But for ratios, groups are taken one by one.

    NumPy adds up the columns of one set in another order than those of several.
    """
    if groups == 1 or isinstance(metric.formula, Ratio):
        return metric.formula(whole)
    return np.stack(
        [metric.formula(EveryNth(whole, place, groups)) for place in range(groups)], axis=1
    ).ravel()


def reads_tables(metrics: Sequence[Metric], scores: Scores) -> bool:
    """Whether any formula reads keyed counts, whose keys are those of the cases that are there."""
    for _, single in scores.rows():
        read = [Counted(single) for _ in metrics]
        for metric, counted in zip(metrics, read, strict=True):
            metric.formula(counted)
        return any(each.tables for each in read)
    return False


class Counted(Sums):
    """Sums that remember what a formula reads of them."""

    def __init__(self, sums: Sums) -> None:
        super().__init__({}, {})
        self._sums = sums
        self._read: dict[str, Values] = {}

    def __getitem__(self, column: str) -> Values:
        return self._read.setdefault(column, self._sums[column])

    def table(self, name: str) -> KeyedSums:
        """The summed keyed counts of a table."""
        table = self._sums.table(name)
        self._read[TABLE + name] = table.values.sum(axis=(1, 2))
        return table

    @property
    def tables(self) -> list[str]:
        """The tables that were read."""
        return [name for name in self._read if name.startswith(TABLE)]

    def items(self, metric: Metric) -> Values | float:
        """How much of what the metric counts each row holds.

        For a mean over cases one for each case that has a value; for a ratio of sums its denominator; for
        other formulas everything that they read, such as golden, predicted and matched items of an F1. A
        formula of one column is a plain sum, of which no row holds a share.
        """
        if isinstance(metric.formula, Ratio):
            return self._read[metric.formula.denominator]
        if len(self._read) == 1 and not self.tables:
            return 0.0
        means = [name for name in self._read if name.endswith(defined(""))]
        read = [np.abs(self._read[name]) for name in means or self._read]
        return np.asarray(np.sum(read, axis=0), dtype=np.float64)


class EveryNth(Sums):
    """Every n-th set of sums, from a place on: those of one group."""

    def __init__(self, sums: Sums, place: int, step: int) -> None:
        super().__init__({}, {})
        self._sums = sums
        self._sets = slice(place, None, step)

    def __getitem__(self, column: str) -> Values:
        return self._sums[column][self._sets]

    def table(self, name: str) -> KeyedSums:
        """The summed keyed counts of a table."""
        table = self._sums.table(name)
        return KeyedSums(table.row_keys, table.column_keys, table.values[self._sets])


class WithoutRow(Sums):
    """The sums of a set of rows without one of them, for each of some rows."""

    def __init__(self, whole: Sums, alone: Sums, set_of: NDArray[np.intp]) -> None:
        super().__init__({}, {})
        self._whole = whole
        self._alone = alone
        self._set_of = set_of

    def __getitem__(self, column: str) -> Values:
        return _rest(self._whole[column][self._set_of], self._alone[column])

    def table(self, name: str) -> KeyedSums:
        """The summed keyed counts of a table."""
        whole, alone = self._whole.table(name), self._alone.table(name)
        values = _rest(whole.values[self._set_of], alone.values)
        return KeyedSums(whole.row_keys, whole.column_keys, values)


def _rest(total: Values, part: Values) -> Values:
    """What remains; exactly nothing where only rounding does."""
    rest = total - part
    return np.where(np.abs(rest) <= ROUNDING, 0.0, rest)
