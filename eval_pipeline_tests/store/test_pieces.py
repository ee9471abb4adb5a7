"""Pieces of answers and scores, put together: what one process would have written."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from eval_pipeline.answers import Answer, Failure, OutputsIdentity
from eval_pipeline.scoring import Scores, merged
from eval_pipeline.store import (
    AnswerMerger,
    AnswerTable,
    keep_piece,
    kept_piece,
    merged_scores,
    part_of_answers,
    usable_answers,
)
from eval_pipeline.store.parquet import write_table

IDENTITY = OutputsIdentity("s", "v-v1.0", "p", "i", "e", "m", "default", 2)


def answer(number: int, trial: int) -> Answer:
    error = "server" if number % 97 == 5 else None
    return Answer(
        f"case-{number:05}",
        trial,
        None if error else f"text {number}",
        error,
        "down" if error else "",
        latency_ms=random.Random(number * trial).random(),
        cost_usd=None if number % 3 else 0.1 * number,
        tokens={"prompt": number} if number % 2 else None,
        transport=bool(error),
    )


def write(folder: Path, name: str, answers: Sequence[Answer]) -> Path:
    with AnswerTable.writing(folder, name) as writer:
        for each in answers:
            failure = Failure(each.error, each.detail) if each.error else None
            writer.add(each, f"hash of {each.case_id}", failure)
        writer.finish(IDENTITY)
    return folder / f"{name or IDENTITY.id}.parquet"


@pytest.fixture
def answers() -> list[Answer]:
    return [answer(number, trial) for trial in (1, 2) for number in range(1300)]


@pytest.mark.slow
@pytest.mark.parametrize("size", [7, 700, 1000, 2600])
def test_answers_in_pieces_are_the_table_that_one_process_writes(
    tmp_path: Path, answers: list[Answer], size: int
) -> None:
    whole = AnswerTable.open(write(tmp_path / "whole", "", answers))
    pieces = [
        write(tmp_path / "pieces", str(start), answers[start : start + size])
        for start in range(0, len(answers), size)
    ]
    with AnswerMerger.into(tmp_path / "merged") as merger:
        for piece in pieces:
            merger.add(piece)
        name = merger.finish(IDENTITY, None, varies=True)
    table = AnswerTable.open(tmp_path / "merged" / name)
    assert list(table) == list(whole)
    assert table.costs == whole.costs
    for each in (answers[0], answers[1007], answers[-1]):
        given = each.case_id, each.trial, f"hash of {each.case_id}"
        assert table.get(*given) == whole.get(*given)


@pytest.mark.parametrize("order", [range(1300), [*range(1000, 1300), *range(1000)]])
def test_the_answers_to_some_cases_are_found_wherever_they_stand(
    tmp_path: Path, answers: list[Answer], order: Sequence[int]
) -> None:
    shuffled = [answer(number, trial) for trial in (1, 2) for number in order]
    table = AnswerTable.open(write(tmp_path, "", shuffled))
    part = part_of_answers(table, 990, [f"case-{number:05}" for number in range(990, 1010)])
    assert part.trials == (1, 2)
    for number in (990, 1009):
        for trial in (1, 2):
            given = f"case-{number:05}", trial, f"hash of case-{number:05}"
            assert part.get(*given) == table.get(*given)
    other = part.get("case-01000", 1, "another")
    assert other is not None
    assert other.error == "stale"
    assert part.get("case-00000", 1, "") is None


def test_answers_with_an_error_among_them_are_not_taken(tmp_path: Path, answers: list[Answer]) -> None:
    assert usable_answers(tmp_path / "none.parquet") is None
    assert usable_answers(write(tmp_path, "good", answers[:5])) is not None
    assert usable_answers(write(tmp_path, "lacking", answers[:6])) is None
    failed = Answer("case-00000", 1, error="engine", detail="the function raised")
    assert usable_answers(write(tmp_path, "failed", [failed])) is None
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1")
    assert usable_answers(tmp_path / "damaged.parquet") is None


def scores(ids: Sequence[str], part: float) -> Scores:
    """Two trials; a count that is a fraction in some pieces only, an attribute that some cases have only."""
    rows = [(each, trial) for trial in (1, 2) for each in sorted(ids)]
    counts = pa.table(
        {
            "case_id": [each for each, _ in rows],
            "trial": pa.array([trial for _, trial in rows], pa.int64()),
            **({"attribute:kind": ["x"] * len(rows)} if part else {}),
            "right": pa.array([part or 1] * len(rows), pa.float64() if part else pa.uint8()),
        }
    )
    by_case = sorted(rows)
    keyed = pa.table(
        {
            "case_id": [each for each, _ in by_case],
            "trial": pa.array([trial for _, trial in by_case], pa.int64()),
            **{name: ["a"] * len(rows) for name in ("table", "row_key", "column_key")},
            "value": [1.0] * len(rows),
        }
    )
    names = ("case_id", "trial", "kind", "expected", "got")
    types = [pa.int64() if name == "trial" else pa.string() for name in names]
    return Scores(counts, keyed, pa.schema(zip(names, types, strict=True)).empty_table())


@pytest.mark.parametrize(
    "parts", [(["a", "b"], ["c", "d"], ["e"]), (["d", "b"], ["c", "e"], ["a"]), (["a", "b", "c"],)]
)
def test_scores_in_pieces_are_those_of_the_whole(tmp_path: Path, parts: tuple[list[str], ...]) -> None:
    made = [scores(ids, number / 2) for number, ids in enumerate(parts)]
    pieces = [keep_piece(tmp_path / str(number), each) for number, each in enumerate(made)]
    assert pieces == [kept_piece(piece.folder) for piece in pieces]
    found, whole = merged_scores(pieces, (1, 2), tmp_path), merged(made)
    for name in ("counts", "keyed", "diagnoses"):
        assert getattr(found, name).equals(getattr(whole, name).select(getattr(found, name).column_names))
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("name", ["counts", "keyed", "diagnoses"])
def test_scores_that_are_there_in_part_only_are_not_taken(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "piece"
    keep_piece(folder, scores(["a"], 0.5))
    (folder / f"{name}.parquet").unlink()
    assert kept_piece(folder) is None
    keep_piece(folder, scores(["a"], 0.5))
    assert kept_piece(folder) is not None
    assert list(tmp_path.iterdir()) == [folder]


def test_the_tables_of_scores_appear_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def watched(path: Path, table: pa.Table) -> None:
        write_table(path, table)
        seen.append((tmp_path / "piece").exists())

    monkeypatch.setattr("eval_pipeline.store.pieces.write_table", watched)
    keep_piece(tmp_path / "piece", scores(["a"], 0.5))
    assert seen == [False] * 3
