"""Stored answers say what they said, or that they are damaged."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.stages import Workbench, answer_cases, load_golden
from eval_pipeline.store import AnswerTable, Store
from eval_pipeline.store.names import LATEST
from eval_pipeline.store.parquet import read_table, write_table
from eval_pipeline.suites import find_suite

FLIPS = 300


def said(path: Path) -> list[tuple[object, ...]]:
    table = AnswerTable.open(path)
    return [(each.case_id, each.trial, each.text, each.error, each.detail) for each in table]


def flipped(data: bytes, seed: int) -> bytes:
    chance = random.Random(seed)
    changed = bytearray(data)
    changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def test_a_flipped_bit_changes_no_answer(toy: Project) -> None:
    bench = Workbench(toy, find_suite(toy, "toy"))
    path = answer_cases(bench, load_golden(bench).table, "guess-v1.0").path
    usual, data, refused = said(path), path.read_bytes(), 0
    for seed in range(FLIPS):
        path.write_bytes(flipped(data, seed))
        try:
            assert said(path) == usual, seed
        except BadInput:
            refused += 1
    assert refused > FLIPS // 4


def test_some_cases_are_read_in_the_order_of_the_table(toy: Project) -> None:
    bench = Workbench(toy, find_suite(toy, "toy"))
    golden = load_golden(bench).table
    cases = list(golden.cases(bench.suite))
    chosen = {cases[2].case.id, cases[0].case.id, "nobody"}
    assert list(golden.cases(bench.suite, chosen)) == [cases[0], cases[2]]
    assert [name for name, _, _ in golden.inputs(bench.suite, chosen)] == [cases[0].case.id, cases[2].case.id]
    assert list(golden.cases(bench.suite, set())) == []


def test_an_evaluation_of_brackets_is_damaged(tmp_path: Path) -> None:
    folder = Store(tmp_path).evaluations_folder("toy", "guess-v1.0")
    (folder / "one").mkdir(parents=True)
    (folder / LATEST).write_text("one")
    (folder / "one" / "evaluation.json").write_text("[" * 30_000)
    with pytest.raises(BadInput, match=r"evaluation\.json: is damaged"):
        Store(tmp_path).evaluation("toy", "guess-v1.0")


def test_a_table_of_scores_is_checked_too(tmp_path: Path) -> None:
    import pyarrow as pa

    path = tmp_path / "counts.parquet"
    table = pa.table({"right": [float(number) for number in range(500)]})
    write_table(path, table)
    assert read_table(path) == table
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(data)
    with pytest.raises(BadInput, match=r"counts\.parquet: is damaged"):
        read_table(path)
