"""Investigating a version as a person does it, on the screen, as a file and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.cli.recorded_toy import make_project, record, write_prompt
from eval_pipeline_tests.running import invoke

HOSTILE = "\x1b[31m<script>alert(1)</script> [x](javascript:y) | \u202e"
FAILING, PASSING = "guess-v1.1", "guess-v1.0"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A version that is right, and one that answers the second half of the cases with something that acts."""
    made = make_project(tmp_path_factory.mktemp("investigate") / "toy")
    write_prompt(made, PASSING, "status: active", "engine: recorded")
    write_prompt(made, FAILING, "status: candidate", "engine: recorded")
    write_prompt(made, "guess-v1.2", "status: candidate", "engine: recorded")
    record(made, PASSING, 100)
    record(made, FAILING, 100)
    file = made.root / "recorded" / "toy" / f"{FAILING}.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines[50:]:
        line["output"]["animal"] = HOSTILE
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = invoke(made, "run", "toy", "--prompt", PASSING)
    assert done.returncode == 0, done.stderr
    done = invoke(made, "run", "toy", "--prompt", FAILING)
    assert done.returncode == 1, done.stderr
    return made


def test_a_failing_version_on_a_screen_of_80_columns(project: Project) -> None:
    with mock.patch.dict("os.environ", {"COLUMNS": "80"}):
        done = invoke(project, "investigate", "toy", FAILING)
    assert done.returncode == 0, done.stderr
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert done.stdout.startswith(f"# Failure investigation: toy, {FAILING}\n")
    assert f"{FAILING} is blocked." in done.stdout
    assert "- 50 of 100 answers fail (50.0 %)." in done.stdout
    assert "- 50 of 50 failing answers" in done.stdout
    assert "Cause: (to be filled in by a person" in done.stdout
    assert f"eval-pipeline investigate toy {FAILING}" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_as_a_file_that_people_go_on_with(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "why.md"
    done = invoke(project, "investigate", "toy", FAILING, "--out", file)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{file} holds the investigation; fill in its cause and fix.\n"
    text = file.read_text()
    for part in (
        "## Symptoms",
        "## Root cause",
        "**Cause:** ",
        "## Proposed fix",
        "**Fix:** ",
        "## Verification plan",
    ):
        assert part in text
    assert "<script>" not in text
    assert "](javascript" not in text
    again = invoke(project, "investigate", "toy", FAILING, "--out", file)
    assert again.returncode == 2
    assert f"--out: {file} exists. Name a new file: people write into it." in again.stderr
    assert file.read_text() == text


def test_as_json(project: Project) -> None:
    done = invoke(project, "investigate", "toy", FAILING, "--json")
    data = json.loads(done.stdout)
    assert (done.returncode, data["fails"], data["failing"], data["answers"]) == (0, True, 50, 100)
    assert data["hypotheses"][0]["certain"]
    assert data["hypotheses"][0]["explained"] == 50
    assert data["commands"][-1] == f"eval-pipeline investigate toy {FAILING}"
    assert {section["title"] for section in data["checklist"]} >= {"Golden cases", "What failures share"}


def test_a_version_that_does_not_fail_is_told_as_such(project: Project) -> None:
    done = invoke(project, "investigate", "toy", PASSING)
    assert done.returncode == 0, done.stderr
    assert "it does not fail. No answer fails: there is nothing to investigate." in done.stdout
    assert "## Root cause" not in done.stdout
    data = json.loads(invoke(project, "investigate", "toy", PASSING, "--json").stdout)
    assert (data["fails"], data["hypotheses"], data["checklist"]) == (False, [], [])


@pytest.mark.parametrize(
    ("version", "told"),
    [
        (
            "guess-v1.2",
            "guess-v1.2: was never evaluated on all cases. Run: eval-pipeline run toy --prompt guess-v1.2",
        ),
        ("guess-v9.9", "guess-v9.9.md does not exist"),
        ("../x-v1.0", "is not a version name"),
    ],
)
def test_what_cannot_be_investigated(project: Project, version: str, told: str) -> None:
    done = invoke(project, "investigate", "toy", version)
    assert done.returncode == 2
    assert told in done.stderr
