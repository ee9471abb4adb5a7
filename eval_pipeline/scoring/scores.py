"""Scores as Arrow tables, and their sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.suite import KeyedSums, Metric, Sums, Values

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 2000

ATTRIBUTE = "attribute:"


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
    def case_count(self) -> int:
        """How many cases there are."""
        import pyarrow.compute as pc

        return int(pc.count_distinct(self.counts["case_id"]).as_py())

    @property
    def errors(self) -> dict[str, int]:
        """How many rows are errors, by kind."""
        import pyarrow.compute as pc

        result = pc.value_counts(pc.drop_null(self.counts["error"])).to_pylist()
        return dict(sorted((each["values"], each["counts"]) for each in result))

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

        result: NDArray[np.bool_] = pc.fill_null(pc.equal(self.counts["error"], kind), False).to_numpy()
        return result

    def restricted(self, case_ids: Iterable[str]) -> Scores:
        """The scores of some cases only."""
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pa.array(sorted(case_ids), pa.string())

        def keep(table: pa.Table) -> pa.Table:
            return table.filter(pc.is_in(table["case_id"], value_set=wanted))

        return Scores(keep(self.counts), keep(self.keyed), keep(self.diagnoses))

    def having(self, attribute: str, value: str) -> Scores:
        """The scores of the cases with that value of an attribute; blank for those without one."""
        values, index = self.attribute(attribute)
        place = values.index(value) if value in values else -1
        return self.restricted(np.array(self.case_ids, dtype=object)[index == place].tolist())

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

    def rows(self) -> Iterator[tuple[slice, Sums]]:
        """The counts of every row by itself, some rows at a time, since tables of many rows are large."""
        whole = _Columns(self)
        for start in range(0, self.counts.num_rows, ROWS_AT_ONCE):
            part = slice(start, min(start + ROWS_AT_ONCE, self.counts.num_rows))
            yield part, RowSums(whole, part)


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


class _Columns:
    """Columns and tables of scores as arrays, each made once."""

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self._columns: dict[str, Values] = {}
        self._tables: dict[str, _KeyedRows] = {}

    def column(self, name: str) -> Values:
        """A column of counts."""
        if name not in self._columns:
            self._columns[name] = self._scores.counts[name].to_numpy().astype(np.float64)
        return self._columns[name]

    def table(self, name: str) -> _KeyedRows:
        """A table of keyed counts, in the order of the rows that its counts belong to."""
        import pyarrow.compute as pc

        if name not in self._tables:
            keyed = self._scores.keyed
            rows = keyed.filter(pc.equal(keyed["table"], name))
            row_keys, row_index = _codes(rows["row_key"].to_pylist())
            column_keys, column_index = _codes(rows["column_key"].to_pylist())
            numbers = zip(self._scores.case_ids, self._scores.trials.tolist(), strict=True)
            places = {key: number for number, key in enumerate(numbers)}
            keys = zip(rows["case_id"].to_pylist(), rows["trial"].to_pylist(), strict=True)
            owner = np.array([places[key] for key in keys], dtype=np.int64)
            order = np.argsort(owner, kind="stable")
            cells = (owner[order], row_index[order], column_index[order])
            values = rows["value"].to_numpy().astype(np.float64)[order]
            self._tables[name] = _KeyedRows(row_keys, column_keys, cells, values)
        return self._tables[name]


class _KeyedRows(NamedTuple):
    row_keys: tuple[str, ...]
    column_keys: tuple[str, ...]
    cells: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    """The row of the scores, row key and column key of every count."""
    values: Values


class RowSums(Sums):
    """The counts of some rows, each by itself."""

    def __init__(self, whole: _Columns, part: slice) -> None:
        super().__init__({}, {})
        self._whole = whole
        self._part = part

    def __getitem__(self, column: str) -> Values:
        return self._whole.column(column)[self._part]

    def table(self, name: str) -> KeyedSums:
        """The keyed counts of a table."""
        table = self._whole.table(name)
        owner, row, column = table.cells
        begin, end = np.searchsorted(owner, (self._part.start, self._part.stop))
        values = np.zeros((self._part.stop - self._part.start, len(table.row_keys), len(table.column_keys)))
        cells = (owner[begin:end] - self._part.start, row[begin:end], column[begin:end])
        np.add.at(values, cells, table.values[begin:end])
        return KeyedSums(table.row_keys, table.column_keys, values)


def _codes(keys: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    names = tuple(sorted(set(keys)))
    numbers = {name: number for number, name in enumerate(names)}
    return names, np.array([numbers[key] for key in keys], dtype=np.int64)


def merged(shards: Sequence[Scores]) -> Scores:
    """The scores of a golden set from those of its parts."""
    return assembled(
        [each.counts for each in shards], [each.keyed for each in shards], [each.diagnoses for each in shards]
    )


def assembled(counts: Sequence[pa.Table], keyed: Sequence[pa.Table], diagnoses: Sequence[pa.Table]) -> Scores:
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


def _in_order(counts: pa.Table) -> bool:
    """Whether rows of a single trial already stand in the order of their cases."""
    import pyarrow.compute as pc

    ids = counts["case_id"].combine_chunks()
    if pc.count_distinct(counts["trial"]).as_py() != 1 or len(ids) < 2:
        return False
    return bool(pc.all(pc.less_equal(ids[:-1], ids[1:])).as_py())


KEYED_ORDER = [("table", "ascending"), ("row_key", "ascending"), ("column_key", "ascending")]


def metric_values(metric: Metric, sums: Sums) -> list[float | None]:
    """A metric on each set of rows; null where it is undefined."""
    values = np.asarray(metric.formula(sums), dtype=float)
    return [float(value) if np.isfinite(value) else None for value in values]


def row_values(metric: Metric, scores: Scores) -> list[float | None]:
    """A metric on every row by itself."""
    return [value for _, sums in scores.rows() for value in metric_values(metric, sums)]
