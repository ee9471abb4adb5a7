from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from eval_pipeline.monitoring import databases
from eval_pipeline.monitoring.databases import in_passing
from eval_pipeline.processes import in_processes


def answer() -> list[tuple[int, str]]:
    with in_passing() as connection:
        return connection.sql("SELECT 42, current_setting('TimeZone')").fetchall()


def test_a_forked_process_has_databases_of_its_own() -> None:
    """It leaves alone what its parent has open: closing that would end it."""
    expected = [(42, "UTC")]
    assert answer() == expected
    assert in_processes([answer, answer, lambda: in_processes([answer, answer])]) == [
        expected,
        expected,
        [expected, expected],
    ]
    assert answer() == expected


def test_settings_are_those_of_the_database_that_is_asked(tmp_path: Path) -> None:
    for folder in ("a", "b", "c", "a"):
        with in_passing(temp_directory=str(tmp_path / folder)) as connection:
            (row,) = connection.sql("SELECT current_setting('temp_directory')").fetchall()
            assert row == (str(tmp_path / folder),)


def test_what_is_put_aside_lies_in_a_folder_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else has it, whatever their number; and it is there again after somebody swept."""

    def folder(process: int = 1) -> Path:
        return Path(databases.aside(tmp_path / "events", process))

    mine = folder()
    assert folder() == mine != folder(2)
    assert mine.is_dir()
    monkeypatch.setattr(databases, "_ASIDE", {})  # as on another machine
    assert folder() != mine
    shutil.rmtree(folder())
    assert folder().is_dir()


def test_nothing_is_left_behind() -> None:
    with in_passing() as connection:
        connection.execute("CREATE TEMP TABLE mine AS SELECT 1 AS one")
    with in_passing() as connection:
        assert connection.sql("SELECT table_name FROM duckdb_tables()").fetchall() == []
