"""The files of a new project; its workflow hands no key to what a pull request wrote."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval_pipeline.engines import read_engines
from eval_pipeline.problems import Problems
from eval_pipeline.starting import shared_files, suite_name
from eval_pipeline_tests.test_workflows import EXPRESSION, TRUSTED

ACCEPTED = "contains(github.event.pull_request.labels.*.name, 'measure accepted')"
ALLOWED = TRUSTED | {ACCEPTED, f"{ACCEPTED} && 'change' || 'base'"}


@pytest.mark.parametrize(
    ("stem", "name"),
    [("tickets", "tickets"), ("My Tickets-2", "my_tickets_2"), ("2024", "suite_2024"), ("…", "suite"),
     ("review", "own_review"), ("Bäume", "baume")],
)  # fmt: skip
def test_a_suite_is_called_like_its_file(stem: str, name: str) -> None:
    assert suite_name(stem, ["review"]) == name


def test_the_engines_are_a_stand_in_and_a_model_in_comments(tmp_path: Path) -> None:
    text = str(shared_files(tmp_path)["engines.yaml"])
    assert "NOT A MODEL" in text
    file, problems = tmp_path / "engines.yaml", Problems()
    for content, names in (
        (text, ["stand-in"]),
        (re.sub(r"^  # (?=model:|  \w)", "  ", text, flags=re.MULTILINE), ["stand-in", "model"]),
    ):
        file.write_text(content)
        engines = read_engines(file, problems)
        problems.stop_if_any()
        assert engines is not None
        assert list(engines.engines) == names


@pytest.fixture
def workflow(tmp_path: Path) -> dict[str, Any]:
    loaded = yaml.safe_load(str(shared_files(tmp_path)[".github/workflows/gate.yml"]))
    return {"on" if key is True else str(key): value for key, value in loaded.items()}


def steps(workflow: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (job,) = workflow["jobs"].values()
    return {step.get("name", step.get("uses", "")): step for step in job["steps"]}


def test_the_workflow_runs_on_pull_requests_with_no_rights_and_no_pasted_text(
    workflow: dict[str, Any],
) -> None:
    assert list(workflow["on"]) == ["pull_request"]
    assert workflow["permissions"] == {"contents": "read"}
    used = {" ".join(found.split()) for found in EXPRESSION.findall(yaml.safe_dump(workflow))}
    assert used <= ALLOWED
    for step in steps(workflow).values():
        assert "${{" not in step.get("run", "")
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False
    gate = steps(workflow)["Gate"]
    assert gate["env"]["EVAL_PIPELINE_ROOT"].endswith("/measured")
    assert "change/" not in gate["run"]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def run(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {"PATH": "/usr/local/bin:/usr/bin:/bin", **environment}
    return subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=given, capture_output=True, text=True, check=False
    )


def test_prompts_and_cases_are_taken_from_the_pull_request_and_nothing_that_runs(
    workflow: dict[str, Any], tmp_path: Path
) -> None:
    base = {
        "engines.yaml": "base",
        "suites/own/__init__.py": "base",
        "golden/tickets/suite.yaml": "base",
        "golden/tickets/gates.yaml": "base",
        "golden/tickets/cases/t.csv": "base",
        "prompts/tickets/p-v1.0.md": "base",
        "recorded/tickets/p-v1.0.jsonl": "base",
    }
    taken = {
        "golden/tickets/cases/t.csv": "change",
        "prompts/tickets/p-v1.1.md": "change",
        "recorded/tickets/p-v1.1.jsonl": "change",
    }
    hostile = dict.fromkeys(
        (
            "engines.yaml", "suites/own/__init__.py", "golden/tickets/suite.yaml",
            "golden/tickets/gates.yaml", "prompts/evil.py", "golden/tickets/cases/evil.so",
            "recorded/evil.pyc", "sitecustomize.py", ".env",
        ),
        "change",
    )  # fmt: skip
    write(tmp_path / "measured", base)
    write(tmp_path / "change", {**hostile, **taken})
    script = steps(workflow)["Take prompts, cases and recorded outputs from the pull request"]["run"]
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    measured = tmp_path / "measured"
    found = {
        str(path.relative_to(measured)): path.read_text() for path in measured.rglob("*") if path.is_file()
    }
    kept = {name: text for name, text in base.items() if not name.startswith(("prompts", "recorded"))}
    assert found == {**kept, **taken}
    (tmp_path / "change" / "prompts" / "link.md").symlink_to("/proc/self/environ")
    refused = run(script, tmp_path)
    assert refused.returncode == 1
    assert "symbolic links" in refused.stdout


def test_what_is_not_measured_has_to_be_accepted(workflow: dict[str, Any], tmp_path: Path) -> None:
    change = tmp_path / "change"
    write(change, {"engines.yaml": "base", "prompts/t/p-v1.0.md": "base", "golden/t/cases/c.csv": "base"})

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.run(
            ["git", *identity, *arguments], cwd=change, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "base")
    base = git("rev-parse", "HEAD")
    script = steps(workflow)["What the evaluation leaves out"]["run"]
    write(change, {"prompts/t/p-v1.1.md": "new", "golden/t/cases/c.csv": "new", "docs/x.md": "new"})
    git("add", "--all")
    git("commit", "--quiet", "--message", "data")
    fine = run(script, tmp_path, BASE=base)
    assert fine.returncode == 0, fine.stdout
    write(change, {"golden/t/gates.yaml": "new", "golden/t/cases/x.py": "new", "helper.py": "new"})
    git("add", "--all")
    git("commit", "--quiet", "--message", "rules")
    left = run(script, tmp_path, BASE=base)
    assert left.returncode == 1
    assert left.stdout.splitlines()[1:] == ["golden/t/cases/x.py", "golden/t/gates.yaml", "helper.py"]
