"""What CI may do: no secret for a fork, engines of the base branch, and no untrusted text in a script."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval_pipeline_tests.conftest import REPOSITORY

FOLDER = REPOSITORY / ".github" / "workflows"
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
ACCEPTED = "contains(github.event.pull_request.labels.*.name, 'rules accepted') && 'change' || 'base'"
TRUSTED = {
    ACCEPTED,
    "github.event.pull_request.base.sha",
    "github.event.pull_request.number",
    "github.event.workflow_run.id",
    "github.event.workflow_run.head_repository.full_name",
    "github.event.workflow_run.head_sha",
    "github.event.workflow_run.html_url",
    "github.repository",
    "github.token",
    "github.workspace",
    "runner.temp",
}
"""Expressions whose value no author of a pull request can write."""


def workflow(name: str) -> dict[str, Any]:
    loaded: dict[Any, Any] = yaml.safe_load((FOLDER / name).read_text())
    return {"on" if key is True else str(key): value for key, value in loaded.items()}  # YAML 1.1 reads `on`


GATE, COMMENT = "gate.yml", "gate-comment.yml"
BASE = "${{ github.event.pull_request.base.sha }}"
NAMES = sorted(file.name for file in FOLDER.iterdir())


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in workflow(name)["jobs"].values() for step in job["steps"]]


def place(name: str, needle: str) -> int:
    """Which step runs a command."""
    (found,) = [number for number, step in enumerate(steps(name)) if needle in step.get("run", "")]
    return found


def test_these_are_all_workflows() -> None:
    assert NAMES == [COMMENT, GATE]


@pytest.mark.parametrize("name", NAMES)
def test_no_expression_stands_in_a_script(name: str) -> None:
    """An expression in `run:` is pasted into the script before the shell reads it."""
    for step in steps(name):
        assert "${{" not in step.get("run", "")
        assert "github-script" not in step.get("uses", "")


@pytest.mark.parametrize("name", NAMES)
def test_expressions_are_trusted_and_no_secret_is_among_them(name: str) -> None:
    text = (FOLDER / name).read_text()
    used = {found.strip() for found in EXPRESSION.findall(text)}
    assert used <= TRUSTED
    assert all("secrets" not in job for job in workflow(name)["jobs"].values())


@pytest.mark.parametrize("name", NAMES)
def test_permissions_are_named_and_no_job_widens_them(name: str) -> None:
    expected = {GATE: {"contents": "read"}, COMMENT: {"actions": "read", "pull-requests": "write"}}
    assert workflow(name)["permissions"] == expected[name]
    assert all("permissions" not in job for job in workflow(name)["jobs"].values())


def test_the_pull_requests_code_runs_without_rights_and_without_a_token() -> None:
    assert list(workflow(GATE)["on"]) == ["pull_request"], "not pull_request_target: that one has secrets"
    change, base = [step["with"] for step in steps(GATE) if "checkout" in step.get("uses", "")]
    assert change["persist-credentials"] is base["persist-credentials"] is False
    assert (change["path"], base["path"], base["ref"]) == ("change", "base", BASE)
    assert change["fetch-depth"] == 0, "the base must be there to be compared with"
    assert "github.token" not in (FOLDER / GATE).read_text()
    for step in steps(GATE):
        assert set(step.get("env", {})) <= {"BASE", "DAGSTER_HOME", "EVAL_PIPELINE_ROOT", "NUMBER", "RULES"}


def test_what_judges_is_the_bases_and_nothing_of_the_change_is_run_before() -> None:
    """Neither a Makefile nor a package of the pull request comes into it."""
    gate = place(GATE, 'eval-pipeline" gate')
    for step in steps(GATE)[:gate]:
        run = step.get("run", "")
        assert "make" not in run
        assert "change" not in run.replace(" change/engines.yaml", "")
    assert "./base" in steps(GATE)[gate - 2]["run"]
    assert steps(GATE)[gate]["run"].startswith('"$RUNNER_TEMP/judge/bin/eval-pipeline" gate ')
    assert steps(GATE)[gate]["env"]["EVAL_PIPELINE_ROOT"] == "${{ github.workspace }}/change"
    assert steps(GATE)[gate]["env"]["RULES"] == f"${{{{ {ACCEPTED} }}}}"


def test_engines_come_from_the_base_branch_before_the_gate_and_after_anything_that_might_change_them() -> (
    None
):
    install, engines, gate = (
        place(GATE, each) for each in ('pip" install', "engines.yaml", 'eval-pipeline" gate')
    )
    assert install < engines < gate
    assert engines + 1 == gate
    assert steps(GATE)[engines]["run"] == "cp base/engines.yaml change/engines.yaml"
    assert steps(GATE)[gate]["env"]["BASE"] == BASE


def test_the_summary_is_kept_whatever_the_gate_says() -> None:
    after = steps(GATE)[place(GATE, 'eval-pipeline" gate') + 1 :]
    assert [step["if"] for step in after] == ["always()", "always()"]
    assert after[-1]["with"] == {"name": "gate", "path": "gate"}
    assert "continue-on-error" not in (FOLDER / GATE).read_text()
    assert "|| true" not in (FOLDER / GATE).read_text()


def test_what_may_write_runs_nothing_of_the_pull_request() -> None:
    found = workflow(COMMENT)
    assert found["on"] == {"workflow_run": {"workflows": [workflow(GATE)["name"]], "types": ["completed"]}}
    assert [step.get("uses", "").partition("@")[0] for step in steps(COMMENT)] == [
        "actions/download-artifact",
        "",
    ]
    assert found["jobs"]["comment"]["if"] == "github.event.workflow_run.event == 'pull_request'"


GH = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in
  *"/pulls/7 "*) echo abc ;;
  *"/pulls/"*) echo other ;;
  *"--paginate"*) echo "$KNOWN" ;;
esac
"""


@pytest.mark.parametrize("head", ["o/r", "fork/r"])
@pytest.mark.parametrize(
    ("number", "known", "posted"),
    [
        ("7\n", "", "api --method POST repos/o/r/issues/7/comments -F body=@comment.md"),
        ("7\n", "12", "api --method PATCH repos/o/r/issues/comments/12 -F body=@comment.md"),
        ("8\n", "", None),
        ("7; touch broken\n", "", None),
        ("$(touch broken)\n7\n", "", "api --method POST repos/o/r/issues/7/comments -F body=@comment.md"),
    ],
)
def test_a_summary_reaches_only_the_pull_request_it_was_made_for(
    tmp_path: Path, number: str, known: str, posted: str | None, head: str
) -> None:
    """The number comes from the artifact, which the pull request's code wrote."""
    (tmp_path / "bin").mkdir()
    gh, calls = tmp_path / "bin" / "gh", tmp_path / "calls"
    gh.write_text(GH)
    gh.chmod(0o755)
    (tmp_path / "number").write_text(number)
    (tmp_path / "summary.md").write_text("# Fine\n")
    given = {"REPOSITORY": "o/r", "COMMIT": "abc", "CALLS": str(calls), "KNOWN": known}
    given |= {"HEAD_REPOSITORY": head, "RUN": "https://x/runs/1"}
    path = f"{gh.parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["bash", "-e", "-c", steps(COMMENT)[-1]["run"]],
        cwd=tmp_path,
        env={"PATH": path, **given},
        check=False,
    )
    made = calls.read_text().splitlines() if calls.exists() else []
    assert [call for call in made if "--method" in call] == ([posted] if posted else [])
    assert not (tmp_path / "broken").exists()
    if posted:
        link = "The gate ran on a fork: its summary is in [the run](https://x/runs/1).\n"
        said = "# Fine\n" if head == "o/r" else link
        assert (tmp_path / "comment.md").read_text() == f"<!-- eval-pipeline gate -->\n{said}"
