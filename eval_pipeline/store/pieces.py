"""Pieces of answers and of scores: what shards leave behind, and the whole that is made of them."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from eval_pipeline.answers import Answer, OutputsIdentity, Stopping
from eval_pipeline.files import content_hash, remove
from eval_pipeline.problems import BadInput
from eval_pipeline.scoring import Scores, merged
from eval_pipeline.store.parquet import read_table, rows_of, write_table
from eval_pipeline.store.tables import AnswerTable, AnswerWriter, answer_to

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = ("keyed", "diagnoses", "counts")
"""The tables of scores."""
BY_CASE = ("keyed", "diagnoses")
"""Those that are ordered by case first; counts are ordered by trial first."""


class AnswerPart:
    """The answers to some cases, read at once."""

    def __init__(self, rows: Sequence[dict[str, Any]], trials: tuple[int, ...]) -> None:
        self.trials = trials
        self._rows = {(row["case_id"], row["trial"]): row for row in rows}

    @property
    def hash(self) -> str:
        """What identifies the answers themselves, whoever gave them, and how long that took."""
        told = ("text", "error", "detail", "carried", "input_hash")
        return content_hash([[key, *(row[name] for name in told)] for key, row in sorted(self._rows.items())])

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        """The answer for a case in a trial; one that was given to another input is an error."""
        row = self._rows.get((case_id, trial))
        return None if row is None else answer_to(row, input_hash)


def part_of_answers(table: AnswerTable, first: int, case_ids: Sequence[str]) -> AnswerPart:
    """The answers to cases that stand together in a table, from a place in each trial on.

    Where they stand elsewhere, because their files were reordered since, each is looked up.
    """
    cases, trials = len(table) // len(table.trials), table.trials
    starts = [number * cases + first for number in range(len(trials))]
    rows: list[dict[str, Any]] = []
    if first + len(case_ids) <= cases and len(table) == cases * len(trials):
        rows = [row for start in starts for row in rows_of(table.path, start, start + len(case_ids))]
    if [(row["case_id"], row["trial"]) for row in rows] != [
        (case_id, trial) for trial in trials for case_id in case_ids
    ]:
        wanted = set(case_ids)
        rows = [row for row in rows_of(table.path, 0, len(table)) if row["case_id"] in wanted]
    return AnswerPart(rows, trials)


class AnswerMerger:
    """Puts the answers of shards one after the other into one table, as if one process had written them."""

    def __init__(self, writer: AnswerWriter) -> None:
        self._writer = writer

    @classmethod
    @contextmanager
    def into(cls, folder: Path) -> Iterator[AnswerMerger]:
        """Yield a merger; once it is told what the answers are, their table appears in the folder."""
        with AnswerTable.writing(folder) as writer:
            yield cls(writer)

    def add(self, path: Path) -> None:
        """Add the answers of a shard to those that are there."""
        self._writer.include(AnswerTable.open(path), read_table(path))

    def finish(self, identity: OutputsIdentity, stopping: Stopping | None, *, varies: bool) -> str:
        """Say what the answers are; the name of their table."""
        self._writer.finish(identity, stopping, varies=varies)
        return f"{identity.id}.parquet"


def usable_answers(path: Path) -> AnswerTable | None:
    """The answers of a shard where they are there, can be read, and none is an error: that is asked again."""
    with suppress(BadInput):
        table = AnswerTable.open(path) if path.is_file() else None
        return table if table and not table.costs.errors else None
    return None


class PieceOfScores(NamedTuple):
    """The scores of a shard: where they are, and between which case ids they lie."""

    folder: Path
    first: str
    last: str


def keep_piece(folder: Path, scores: Scores) -> PieceOfScores:
    """Write the scores of a shard: all of their tables appear at once."""
    aside = folder.with_name(f".{folder.name}-{uuid.uuid4().hex}.tmp")
    try:
        for name in TABLES:
            write_table(aside / f"{name}.parquet", getattr(scores, name))
        remove(folder)
        with suppress(OSError):  # who did the same task was faster, and left the same
            aside.rename(folder)
    finally:
        remove(aside)
    return _piece(folder, scores.counts)


def kept_piece(folder: Path) -> PieceOfScores | None:
    """The scores of a shard, where all of their tables are there already and can be read."""
    if not folder.is_dir():
        return None
    with suppress(BadInput):
        return _piece(folder, _scores_in(folder).counts)
    return None


def _scores_in(folder: Path) -> Scores:
    return Scores(**{name: read_table(folder / f"{name}.parquet") for name in TABLES})


def _piece(folder: Path, counts: pa.Table) -> PieceOfScores:
    import pyarrow.compute as pc

    ends = pc.min_max(counts["case_id"]).as_py()
    return PieceOfScores(folder, ends["min"], ends["max"])


def merged_scores(pieces: Sequence[PieceOfScores], trials: Sequence[int], folder: Path) -> Scores:
    """The scores of a golden set from those of its shards.

    Where the shards follow each other in the order of their cases' ids, as they do unless files are in
    another order, the tables are put together on disk, and are read from there when they are needed.
    """
    if not all(one.last < other.first for one, other in pairwise(pieces)):
        return merged([_scores_in(each.folder) for each in pieces])
    by_name = {}
    for name in TABLES:
        paths = [each.folder / f"{name}.parquet" for each in pieces]
        by_name[name] = _joined(paths, folder, [None] if name in BY_CASE else trials)
    return Scores(**by_name)


def _joined(paths: Sequence[Path], folder: Path, trials: Sequence[int | None]) -> pa.Table:
    """Tables one after the other, once for each trial, in a file that is gone when nobody reads it."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    schema = pa.unify_schemas([pq.read_schema(path) for path in paths], promote_options="permissive")
    schema = schema.remove_metadata()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(prefix=".", suffix=".tmp", dir=folder) as file:
        with pa.ipc.new_file(file, schema) as writer:
            for trial in trials:
                for path in paths:
                    table = read_table(path)
                    if trial is not None and len(trials) > 1:
                        table = table.filter(pc.equal(table["trial"], trial))
                    whole = pa.concat_tables([schema.empty_table(), table], promote_options="permissive")
                    writer.write_table(whole.combine_chunks())
        file.flush()
        return pa.ipc.open_file(pa.memory_map(file.name)).read_all()
