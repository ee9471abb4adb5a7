"""`eval-pipeline move-state`: where to, how much, and again."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.project import Project
from eval_pipeline.stages import Workbench, answer_cases, load_golden
from eval_pipeline.store import STORE_VARIABLE, Store
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.running import invoke


def test_without_a_place_to_move_to_it_is_refused(toy: Project) -> None:
    done = invoke(toy, "move-state")
    assert done.returncode == 2
    assert "nothing says where to move to" in done.stderr
    assert "EVAL_PIPELINE_DATABASE" in done.stderr


def test_files_are_shared_once_and_a_later_latest_stays(
    toy: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench(toy, find_suite(toy, "toy"))
    golden = load_golden(bench).table
    answers = answer_cases(bench, golden, "guess-v1.0")
    bench.store.keep_golden("toy", golden)
    bench.store.keep_outputs(answers)
    monkeypatch.setenv(STORE_VARIABLE, f"file://{tmp_path}/shared")
    assert "files of the store: 2 moved, 0 there already" in invoke(toy, "move-state").stdout
    there = Store(tmp_path / "elsewhere")
    found = there.outputs("toy", "guess-v1.0")
    assert found is not None
    assert list(found) == list(answers)
    folder = there.outputs_folder("toy", "guess-v1.0")
    (folder / "newer.parquet").write_bytes(b"newer")
    there._give(folder, "newer.parquet", latest="newer.parquet")
    assert "files of the store: 0 moved, 3 there already" in invoke(toy, "move-state").stdout
    third = Store(tmp_path / "third")
    assert third.latest_in(third.outputs_folder("toy", "guess-v1.0")) == "newer.parquet"
