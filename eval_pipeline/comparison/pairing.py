"""Scores of two sides as paired values: every metric with and without each case."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.scoring import Scores
from eval_pipeline.statistics.arrays import ROUNDING
from eval_pipeline.statistics.pairs import LeaveOneOut, Pairs, paired
from eval_pipeline.suite import KeyedSums, Metric, Ratio, Sums, Values, defined


def paired_metrics(metrics: Sequence[Metric], before: Scores, after: Scores) -> Pairs:
    """What the sides show of each metric; both hold the same cases, in every trial."""
    if sorted(set(before.case_ids)) != sorted(set(after.case_ids)):
        raise ValueError("the sides do not hold the same cases")
    return paired(left_out(metrics, before), left_out(metrics, after))


def left_out(metrics: Sequence[Metric], scores: Scores) -> LeaveOneOut:
    """Each metric in each trial, the same without each case, and of each case alone."""
    trials, trial_of = np.unique(scores.trials, return_inverse=True)
    rows = scores.counts.num_rows
    whole = scores.sums(trial_of, len(trials))
    alone, without, items = (np.empty((rows, len(metrics))) for _ in range(3))
    for part, single in scores.rows():
        rest = WithoutRow(whole, single, trial_of[part])
        for place, metric in enumerate(metrics):
            counted = Counted(single)
            alone[part, place] = metric.formula(counted)
            items[part, place] = counted.items(metric)
            without[part, place] = metric.formula(rest)
    # Rows are sorted by trial and then by case.
    shape = (len(trials), rows // max(len(trials), 1), len(metrics))
    by_case = [np.swapaxes(each.reshape(shape), 0, 1) for each in (without, alone, items)]
    return LeaveOneOut(np.stack([metric.formula(whole) for metric in metrics], axis=-1), *by_case)


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
        self._read[f"table {name}"] = table.values.sum(axis=(1, 2))
        return table

    def items(self, metric: Metric) -> Values | float:
        """How much of what the metric counts each row holds.

        For a mean over cases one for each case that has a value; for a ratio of sums its denominator; for
        other formulas everything that they read, such as golden, predicted and matched items of an F1. A
        formula of one column is a plain sum, of which no row holds a share.
        """
        if isinstance(metric.formula, Ratio):
            return self._read[metric.formula.denominator]
        if len(self._read) == 1 and not any(name.startswith("table ") for name in self._read):
            return 0.0
        means = [name for name in self._read if name.endswith(defined(""))]
        read = [np.abs(self._read[name]) for name in means or self._read]
        return np.asarray(np.sum(read, axis=0), dtype=np.float64)


class WithoutRow(Sums):
    """The sums of a trial without one of its rows, for each of some rows."""

    def __init__(self, whole: Sums, alone: Sums, trial_of: NDArray[np.intp]) -> None:
        super().__init__({}, {})
        self._whole = whole
        self._alone = alone
        self._trial_of = trial_of

    def __getitem__(self, column: str) -> Values:
        return _rest(self._whole[column][self._trial_of], self._alone[column])

    def table(self, name: str) -> KeyedSums:
        """The summed keyed counts of a table."""
        whole, alone = self._whole.table(name), self._alone.table(name)
        values = _rest(whole.values[self._trial_of], alone.values)
        return KeyedSums(whole.row_keys, whole.column_keys, values)


def _rest(total: Values, part: Values) -> Values:
    """What remains; exactly nothing where only rounding does."""
    rest = total - part
    return np.where(np.abs(rest) <= ROUNDING, 0.0, rest)
