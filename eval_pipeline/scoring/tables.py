"""Building the tables of scores, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.answers import Failure
from eval_pipeline.scoring.scores import ATTRIBUTE, Scores, assembled
from eval_pipeline.suite import Case, Values

if TYPE_CHECKING:
    import pyarrow as pa


class TableBuilder:
    """Grows the Arrow tables of `Scores` batch by batch."""

    def __init__(self, keep_diagnoses: bool) -> None:
        self._keep_diagnoses = keep_diagnoses
        self._names: set[str] = set()
        self._chunks: list[pa.Table] = []
        self._diagnoses: list[pa.Table] = []
        self._keyed: list[pa.Table] = []

    @property
    def empty(self) -> bool:
        """Whether nothing was added."""
        return not self._chunks

    def add(
        self,
        cases: Sequence[Case[Any, Any]],
        trial: int,
        failures: Sequence[Failure] | None,
        counts: Mapping[str, Values],
    ) -> None:
        """Add the counts of some cases in a trial; with `failures`, of cases without a usable output."""
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

    def count(self, rows: Iterable[tuple[str, int, str, str, str, float]]) -> None:
        """Add keyed counts; what an answer counts several times under one key is one row."""
        sums: dict[tuple[str, int, str, str, str], float] = {}
        for case, trial, table, row_key, column_key, value in rows:
            key = (case, trial, table, row_key, column_key)
            sums[key] = sums.get(key, 0.0) + value
        self._keyed.append(_rows_table([(*key, value) for key, value in sums.items()], KEYED_COLUMNS))

    def diagnose(self, rows: Iterable[tuple[str, int, str, str, str]]) -> None:
        """Add what was wrong with answers."""
        if self._keep_diagnoses:
            self._diagnoses.append(_rows_table(list(rows), DIAGNOSIS_COLUMNS))

    def build(self) -> Scores:
        """The tables of everything that was added."""
        keyed = [_rows_table([], KEYED_COLUMNS), *self._keyed]
        diagnoses = [_rows_table([], DIAGNOSIS_COLUMNS), *self._diagnoses]
        return assembled(self._chunks, keyed, diagnoses)


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


KEYED_COLUMNS = {
    "case_id": str,
    "trial": int,
    "table": str,
    "row_key": str,
    "column_key": str,
    "value": float,
}
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
