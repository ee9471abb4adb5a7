from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import event, keep
from eval_pipeline_tests.running import invoke

RECENT = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=2)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = declare(tmp_path, CLASSIFIER)
    texts = ("My invoice is wrong", "The printer burns\x1b[31m")
    keep(
        project,
        [event(n, NAME, {"text": text}, None, error="timeout", at=RECENT) for n, text in enumerate(texts)],
    )
    return project


def test_from_failure_to_golden_case(project: Project) -> None:
    tried = invoke(project, "cases", "suggest", NAME, "--dry-run")
    assert tried.returncode == 0, tried.stderr
    assert "2 cases and 0 canaries suggested" in tried.stdout
    assert "\x1b" not in tried.stdout
    assert "0 suggestions undecided" in invoke(project, "cases", "list").stdout
    suggested = invoke(project, "cases", "suggest", NAME, "--json")
    assert [each["case"]["text"] for each in json.loads(suggested.stdout)]
    files = sorted((project.root / "production/suggested" / NAME).glob("*.json"))
    assert len(files) == 2
    assert "2 suggestions undecided" in invoke(project, "cases", "list", NAME).stdout
    refused = invoke(project, "cases", "accept", *files)
    assert refused.returncode == 2
    assert "case.label: is blank" in refused.stderr
    assert refused.stderr.count("is blank") == 2
    content = json.loads(files[0].read_text())
    content["case"] |= {"label": "other", "language": "en"}
    files[0].write_text(json.dumps(content))
    accepted = invoke(project, "cases", "accept", files[0])
    assert accepted.returncode == 0, accepted.stderr
    assert f"golden freeze {NAME}" in accepted.stdout
    assert "5 cases can be read" in invoke(project, "golden", "check", NAME).stdout
    dropped = invoke(project, "cases", "drop", files[1], "--reason", "an outage", "--by", "Ada")
    assert dropped.returncode == 0, dropped.stderr
    again = invoke(project, "cases", "suggest", NAME)
    assert "0 cases and 0 canaries suggested" in again.stdout
    assert "dropped before" in again.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("suggest", "nothing"),
        ("accept", "absent.json"),
        ("drop", "absent.json", "--reason", "x"),
        ("drop", "absent.json", "--reason", " "),
        ("accept",),
    ],
)
def test_bad_input_exits_with_2(project: Project, arguments: tuple[str, ...]) -> None:
    done = invoke(project, "cases", *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
