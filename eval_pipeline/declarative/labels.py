"""Labels that are mistaken for one another, and macro F1."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from eval_pipeline.suite import KeyedCount, Metric, Sums, Values, divide

CONFUSION, MACRO_F1 = "confusion", "macro_f1"
NONE = "(none)"
"""Stands for the label of a reply that names none."""


def confused(expected: str, given: str | None) -> KeyedCount:
    """A cell of the confusion matrix."""
    return KeyedCount(CONFUSION, expected, NONE if given is None else given, 1.0)


def macro_f1(labels: Sequence[str], explained_by: str) -> Metric:
    """The metric of macro F1."""
    described = "F1 of every label that is expected or given, each counting the same."
    return Metric(MACRO_F1, described, partial(_macro_f1, tuple(labels)), explained_by=explained_by)


def _macro_f1(labels: Sequence[str], sums: Sums) -> Values:
    """The mean of F1 = 2·TP ÷ (2·TP + FP + FN) over labels that are expected or given at least once."""
    try:
        counts = sums.table(CONFUSION)
    except KeyError:  # no case has a label
        return np.full(len(sums["answers"]), np.nan)
    rows = {key: at for at, key in enumerate(counts.row_keys)}
    columns = {key: at for at, key in enumerate(counts.column_keys)}
    total, present = np.zeros(len(counts.values)), np.zeros(len(counts.values))
    nothing = np.zeros(len(counts.values))
    for label in labels:
        row, column = rows.get(label), columns.get(label)
        expected = nothing if row is None else counts.values[:, row].sum(axis=1)
        given = nothing if column is None else counts.values[:, :, column].sum(axis=1)
        right = nothing if row is None or column is None else counts.values[:, row, column]
        either = expected + given
        total += np.divide(2 * right, either, out=np.zeros(len(either)), where=either > 0)
        present += either > 0
    return divide(total, present)
