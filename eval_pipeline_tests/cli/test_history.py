"""`eval-pipeline history --export`: the ending says what is written."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from eval_pipeline.project import Project
from eval_pipeline.scoring import history_rows
from eval_pipeline.store import History, database_url
from eval_pipeline_tests.running import invoke
from eval_pipeline_tests.store.test_history import ANSWERS, evaluation


@pytest.fixture
def evaluated(toy: Project) -> Project:
    """A project with an evaluation, whose model has a name that a spreadsheet would run."""
    from msgspec.structs import replace

    with History(database_url(toy)) as history:
        history.append("run-1", evaluation(replace(ANSWERS, model="=1+1"), value=-0.5))
    return toy


def test_csv_has_a_row_for_each_metric_and_no_formula(evaluated: Project, tmp_path: Path) -> None:
    done = invoke(evaluated, "history", "toy", "--export", tmp_path / "history.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 evaluation written to" in done.stdout
    with (tmp_path / "history.csv").open(newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["metric"], first["value"], first["model"]) == ("accuracy", "-0.5", "'=1+1")
    assert first["evaluated_at"] == "2026-03-01T02:00:00+00:00"
    assert (second["metric"], second["value"]) == ("gone", "")


def test_parquet_has_the_rows_and_json_the_records(evaluated: Project, tmp_path: Path) -> None:
    for ending in ("parquet", "json"):
        assert invoke(evaluated, "history", "toy", "--export", tmp_path / f"history.{ending}").returncode == 0
    with History(database_url(evaluated)) as history:
        rows = history_rows(history.points("toy")).to_pylist()
    table = pq.read_table(tmp_path / "history.parquet")
    assert table.drop_columns(["unit", "direction"]).to_pylist() == rows
    (record,) = json.loads((tmp_path / "history.json").read_text())["evaluations"]
    assert record["metrics"] == {"accuracy": -0.5, "gone": None}
    assert record["model"] == "=1+1"


def test_a_history_without_evaluations_is_a_file_without_rows(toy: Project, tmp_path: Path) -> None:
    assert invoke(toy, "history", "toy", "--export", tmp_path / "history.csv").returncode == 0
    (header,) = (tmp_path / "history.csv").read_text().splitlines()
    assert header.startswith('"suite","version","evaluated_at"')


def test_an_unknown_ending_is_refused(evaluated: Project, tmp_path: Path) -> None:
    done = invoke(evaluated, "history", "toy", "--export", tmp_path / "history.xlsx")
    assert done.returncode == 2
    assert done.stderr == (
        "input: --export: 'history.xlsx' does not say by its ending how to write it. "
        "Endings: .csv, .json, .parquet.\n1 problem; nothing was changed.\n"
    )
    assert not list(tmp_path.glob("history.*"))
