"""From the scores of two sides to paired differences of their metrics, case by case."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.scoring import ROWS_AT_ONCE, Scores
from eval_pipeline.statistics.arrays import ROUNDING
from eval_pipeline.statistics.pairs import LeaveOneOut, Moments, paired
from eval_pipeline.suite import KeyedSums, Metric, Sums, Values


def paired_metrics(metrics: Sequence[Metric], before: Scores, after: Scores) -> Moments:
    """What the sides show of each metric; both hold the same cases, in every trial."""
    if sorted(set(before.case_ids)) != sorted(set(after.case_ids)):
        raise ValueError("the sides do not hold the same cases")
    return paired(left_out(metrics, before), left_out(metrics, after)).moments


def left_out(metrics: Sequence[Metric], scores: Scores) -> LeaveOneOut:
    """Each metric in each trial, and the same without each case."""
    trials, trial_of = np.unique(scores.trials, return_inverse=True)
    rows = scores.counts.num_rows
    cases = rows // max(len(trials), 1)
    whole = scores.sums(trial_of, len(trials))
    alone = np.empty((rows, len(metrics)))
    without = np.empty((rows, len(metrics)))
    for start in range(0, rows, ROWS_AT_ONCE):
        part = slice(start, min(start + ROWS_AT_ONCE, rows))
        each = np.full(rows, -1, dtype=np.int64)
        each[part] = np.arange(part.stop - start)
        single = scores.sums(each, part.stop - start)
        rest = WithoutRow(whole, single, trial_of[part])
        alone[part] = np.stack([metric.formula(single) for metric in metrics], axis=-1)
        without[part] = np.stack([metric.formula(rest) for metric in metrics], axis=-1)
    # Rows are sorted by trial and then by case.
    shape = (len(trials), cases, len(metrics))
    return LeaveOneOut(
        np.stack([metric.formula(whole) for metric in metrics], axis=-1),
        np.swapaxes(without.reshape(shape), 0, 1),
        np.asarray(np.isfinite(alone.reshape(shape)).any(axis=0), dtype=np.bool_),
    )


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
