"""Counts: what scoring yields, and their sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


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


def divide(numerator: Values, denominator: Values) -> Values:
    """Element by element; undefined (NaN) where the denominator is 0."""
    result = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


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


Rows = list[dict[str, Any]]


def matrix_rows(table: KeyedSums) -> Rows:
    """Keyed counts as a table: a row for each row key, a column for each column key."""
    return [
        {"": row_key, **dict(zip(table.column_keys, cells, strict=True))}
        for row_key, cells in zip(table.row_keys, table.values[0].tolist(), strict=True)
    ]
