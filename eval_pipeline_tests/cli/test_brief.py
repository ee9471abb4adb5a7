from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import event, keep
from eval_pipeline_tests.running import invoke


@pytest.mark.parametrize("rhythm", ["--weekly", "--monthly", "--quarterly"])
def test_a_brief_is_printed_and_written(tmp_path: Path, rhythm: str) -> None:
    project = declare(tmp_path, CLASSIFIER)
    (project.golden(NAME) / "gates.yaml").write_text('metrics: {accuracy: {fail: "< 0.5", pass: ">= 0.7"}}\n')
    keep(project, [event(1, NAME, {"text": "Help"}, None, error="timeout")])
    done = invoke(project, "brief", NAME, rhythm, "--out", tmp_path / "brief")
    assert done.returncode == 0, done.stderr
    assert "2026-03-02" in done.stdout
    assert (tmp_path / "brief.md").read_text().startswith("# tickets in production")
    assert (tmp_path / "brief.html").read_text().startswith("<!doctype html>")


def test_bad_input_exits_with_2(tmp_path: Path) -> None:
    project = declare(tmp_path, CLASSIFIER)
    done = invoke(project, "brief", NAME, "--day", "yesterday")
    assert (done.returncode, "is not a day" in done.stderr) == (2, True)


@pytest.mark.parametrize("out", ["", ".", "..", "/"])
def test_a_place_without_a_name_is_refused(tmp_path: Path, out: str) -> None:
    project = declare(tmp_path, CLASSIFIER)
    done = invoke(project, "brief", NAME, "--out", out)
    assert (done.returncode, "names no file" in done.stderr) == (2, True)


@pytest.mark.parametrize("day", ["0001-01-01", "1999-12-31", "2200-01-01", "9999-12-31"])
@pytest.mark.parametrize(
    "command",
    [
        ("brief", NAME, "--monthly", "--day"),
        ("brief", NAME, "--quarterly", "--day"),
        ("production", NAME, "--days", "366", "--day"),
        ("quality", NAME, "--day"),
        ("events", "simulate", NAME, "--until"),
    ],
)
def test_a_day_beyond_all_events_is_refused(tmp_path: Path, command: tuple[str, ...], day: str) -> None:
    project = declare(tmp_path, CLASSIFIER)
    done = invoke(project, *command, day)
    assert done.returncode == 2
    assert f"{command[-1]}: {day} is out of range. Name a day from 2000-01-01" in done.stderr


@pytest.mark.parametrize("day", ["2000-01-01", "2199-12-31"])
@pytest.mark.parametrize("command", ["brief", "production", "quality"])
def test_the_first_and_the_last_day_can_be_named(tmp_path: Path, command: str, day: str) -> None:
    project = declare(tmp_path, CLASSIFIER)
    done = invoke(project, command, NAME, "--day", day)
    assert done.returncode == 0, done.stderr
