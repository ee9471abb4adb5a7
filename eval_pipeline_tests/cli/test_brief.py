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
