"""`eval-pipeline dashboard`: where it writes, and that a run neither needs it nor is broken by it."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path
from unittest import mock

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.running import command, invoke


def test_it_is_written_into_the_state_folder(toy: Project) -> None:
    done = invoke(toy, "dashboard")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Dashboard: .eval/dashboard.html\n", "")
    assert "✗ was never evaluated" in (toy.state / "dashboard.html").read_text()


def test_it_is_written_where_somebody_wants_it_with_links_from_there(toy: Project, tmp_path: Path) -> None:
    invoke(toy, "dashboard", "--weekly")
    done = invoke(toy, "dashboard", "--out", tmp_path / "elsewhere" / "page.html")
    assert done.returncode == 0
    text = (tmp_path / "elsewhere" / "page.html").read_text()
    address = text.partition("The latest weekly page")[0].rpartition('href="')[2].partition('"')[0]
    assert (tmp_path / "elsewhere" / address).is_file()


def test_weekly_pages_are_named(toy: Project) -> None:
    done = invoke(toy, "dashboard", "--weekly")
    (path,) = (toy.state / "weekly" / "toy").glob("*.html")
    assert f"Weekly page: .eval/weekly/toy/{path.name}" in done.stdout


def test_it_is_opened_in_a_browser(toy: Project) -> None:
    with mock.patch.object(webbrowser, "open", return_value=True) as opened:
        assert invoke(toy, "dashboard", "--open").stderr == ""
    opened.assert_called_once_with((toy.state / "dashboard.html").as_uri())
    with mock.patch.object(webbrowser, "open", return_value=False):
        assert "open the file yourself" in invoke(toy, "dashboard", "--open").stderr


def test_what_cannot_be_used_is_bad_input(toy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_PIPELINE_JOURNAL", "nonsense")
    done = invoke(toy, "dashboard")
    assert done.returncode == 2
    assert "is not a database's URL" in done.stderr
    assert not (toy.state / "dashboard.html").exists()


def test_a_run_writes_it_and_is_not_broken_by_it(toy: Project) -> None:
    done = command(toy, "run", "toy", "--json")
    assert done.returncode == 0, done.stderr
    assert "Dashboard: .eval/dashboard.html" in done.stderr
    assert json.loads(done.stdout)["pass"]
    assert "accuracy 75.0" in (toy.state / "dashboard.html").read_text()
    (toy.state / "dashboard.html").unlink()
    (toy.state / "dashboard.html").mkdir()
    broken = command(toy, "run", "toy")
    assert broken.returncode == 0
    assert "⚠ the dashboard was not written: " in broken.stderr


def test_a_run_that_cannot_be_evaluated_refreshes_it_all_the_same(toy: Project) -> None:
    (toy.golden("toy") / "cases" / "sounds.jsonl").write_text("{\n")
    assert command(toy, "run", "toy").returncode == 2
    assert "sounds.jsonl" in (toy.state / "dashboard.html").read_text()
