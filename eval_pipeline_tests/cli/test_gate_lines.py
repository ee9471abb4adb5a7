"""Changes that would talk their own measure round, through the real command and its processes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from eval_pipeline.cli.gate_lines import Asked, Task, lines_apart
from eval_pipeline.decisions import Touched
from eval_pipeline.project import Project
from eval_pipeline.scoring import PACKAGE
from eval_pipeline_tests.cli import measured, recorded_toy
from eval_pipeline_tests.cli.measured import ACTIVE, CANDIDATE, CASES, declare_anew, edit, git, write
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.declaring import NAME
from eval_pipeline_tests.running import environment, invoke

OWN = ", by the change's own measure"
GATE = ("gate", "--changed-since", "main")
TEMPORARY = f"{tempfile.gettempdir()}/{tempfile.gettempprefix()}"
"""Where the base's tree lies: nobody is to read of it."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with a baseline of 90 % right, whose cases nobody signed off, committed."""
    project = measured.make_project(tmp_path_factory.mktemp("lines") / "own")
    promote = ("baseline", "promote", NAME, ACTIVE, "--reason", "the first", "--by", "Ada")
    for arguments in (("run", NAME), promote):
        done = invoke(project, *arguments)
        assert done.returncode == 0, done.stderr
    shutil.rmtree(project.state)
    measured.begin(project)
    return project


@pytest.fixture
def project(original: Project, tmp_path: Path) -> Project:
    """A clone of it that a test may change."""
    shutil.copytree(original.root, tmp_path / "own")
    return Project(tmp_path / "own", tmp_path / "own" / ".eval")


def versions(project: Project) -> dict[str, dict[str, Any]]:
    """What the last gate said of each version, by the measure of each line."""
    report = json.loads((project.state / "gate.json").read_text())
    return {f"{each['version']} {each['measure']}": each for each in report["versions"]}


def accuracy(version: dict[str, Any]) -> float:
    """How many answers were right, by the measure of a line."""
    return float(version["report"]["metrics"]["accuracy"])


def test_a_change_that_makes_every_scorer_always_right_does_not_pass(
    project: Project, tmp_path: Path
) -> None:
    """Nor one that weakens everything else as well; both lines stand in every output."""
    measured.prompt(project, CANDIDATE, "candidate")
    measured.record(project, CANDIDATE, CASES // 3)
    always_right = [{"not_contains": "x"}, {"not_contains": "z", "name": "nor_this"}]
    declare_anew(project, answer={"kind": "label", "of": ["billing", "bug", "other"]}, scores=always_right)
    edit(project, "lib/checks.py", "return same", "return True or same")
    edit(project, "lib/helper.py", "one == other", "True")
    write(project, f"golden/{NAME}/gates.yaml", "metrics:\n  not_contains: {fail: '< 0.1', pass: '>= 0.1'}\n")
    edit(project, "engines.yaml", "recorded/{suite}", "perfect/{suite}")
    measured.record(project, CANDIDATE, CASES, "perfect")
    shutil.rmtree(project.golden(NAME) / "baseline")
    write(project, ".gitattributes", "golden/** export-ignore\nlib/** export-ignore\n")
    measured.git(project, "switch", "--quiet", "--create", "side")
    measured.commit(project)
    files = {name: tmp_path / f"gate.{name}" for name in ("markdown", "junit", "json")}
    options = [each for name, file in files.items() for each in (f"--{name}", file)]
    done = invoke(project, *GATE, *options)
    assert done.returncode == 1, done.stdout + done.stderr
    said = versions(project)
    assert set(said) == {f"{each} {whose}" for each in (ACTIVE, CANDIDATE) for whose in ("base", "own")}
    by_base, by_own = said[f"{CANDIDATE} base"], said[f"{CANDIDATE} own"]
    assert accuracy(by_base) == pytest.approx(1 / 3)
    assert by_own["report"]["metrics"]["not_contains"] == 1
    assert by_base["state"] == "block"
    assert any("accuracy: 33.3 % is in the fail zone (< 60 %)" in each for each in by_base["reasons"])
    assert any("regressed; block" in each for each in by_base["reasons"])
    (needed,) = (each for each in by_base["reasons"] if "needs an approval" in each)
    assert needed.startswith(
        "the change touches its own measure "
        "(suite.yaml, gates.yaml, golden set code, scoring code, engines.yaml: recorded): it is measured "
    )
    assert said[f"{ACTIVE} base"]["reasons"] == [needed]
    for name in (CANDIDATE, f"{CANDIDATE}{OWN}"):
        assert f" {NAME}: {name} (" in done.stdout
        assert f"## {NAME}: {name}\n" in files["markdown"].read_text()
        assert f'name="{name}"'.encode() in files["junit"].read_bytes()
    assert len(ElementTree.fromstring(files["junit"].read_bytes()).findall("testsuite/testcase")) == 4
    assert TEMPORARY not in done.stdout + files["json"].read_text()
    assert git(project, "worktree", "list").count("\n") == 0


def test_a_python_suite_that_is_always_right_does_not_pass(tmp_path: Path) -> None:
    """Its function that answers is what is measured, and is the change's."""
    project = recorded_toy.make_project(tmp_path / "toy")
    recorded_toy.write_prompt(project, "guess-v1.0", "status: active", "engine: recorded")
    recorded_toy.record(project, "guess-v1.0", 90)
    write(project, ".gitignore", ".eval/\n__pycache__/\n")
    measured.begin(project)
    recorded_toy.record(project, "guess-v1.0", 40)
    edit(project, "suites/toy/__init__.py", "float(gold == guess)", "1.0")
    done = invoke(project, *GATE)
    assert done.returncode == 1, done.stdout + done.stderr
    said = versions(project)
    assert (accuracy(said["guess-v1.0 base"]), accuracy(said["guess-v1.0 own"])) == (0.4, 1.0)
    assert "✗ accuracy: 40.0 % is in the fail zone (< 50 %)." in done.stdout


def test_somebody_on_the_base_branch_approves_a_measure(project: Project) -> None:
    declare_anew(project, scores=[{"equals": "{{ label }}"}])
    assert invoke(project, "run", NAME).returncode in (0, 1)
    approve = (
        "approve",
        NAME,
        ACTIVE,
        "--metric",
        "measure",
        "--reason",
        "one score is enough",
        "--by",
        "Ada",
    )
    refused = invoke(project, *approve, "--metric", "accuracy", "--changed-since", "main")
    assert refused.returncode == 2
    assert "To approve there is: measure." in refused.stderr
    done = invoke(project, *approve, "--changed-since", "main")
    assert done.returncode == 0, done.stderr
    own_word = invoke(project, *GATE)
    assert own_word.returncode == 1, "nobody approves his own change"
    git(project, "add", f"golden/{NAME}/approvals")
    git(project, "commit", "--quiet", "--message", "Approved")
    after = invoke(project, *GATE)
    assert after.returncode == 0, after.stdout + after.stderr
    assert f"✓ approved {NAME}: {ACTIVE} (" in after.stdout
    assert "measure approved by Ada on " in after.stdout
    declare_anew(project, scores=[{"equals": "{{ label }}", "weight": 2}])
    assert invoke(project, *GATE).returncode == 1


def test_a_measure_that_somebody_accepted_is_the_only_one(project: Project) -> None:
    declare_anew(project, scores=[{"equals": "{{ label }}"}])
    done = invoke(project, *GATE, "--rules", "change")
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(versions(project)) == [f"{ACTIVE} own"]
    assert "(suite.yaml, golden set code, scoring code), and is measured by that\n" in done.stdout


def test_a_suite_that_is_gone_is_a_red_line(project: Project) -> None:
    (project.golden(NAME) / "suite.yaml").unlink()
    write(project, "golden/second/suite.yaml", "cases: cases.jsonl\nscores: [{equals: '{{ label }}'}]\n")
    shutil.copy(project.golden(NAME) / "cases.jsonl", project.golden("second"))
    for arguments in (("gate",), GATE, (*GATE, "--rules", "change")):
        done = invoke(project, *arguments)
        assert done.returncode == 2, done.stdout + done.stderr
        assert f"✗ unusable {NAME}: all versions (suite)\n" in done.stdout
        assert f"prompts/{NAME}: holds versions of prompts, and there is no suite {NAME}" in done.stderr


def test_a_suite_that_is_gone_with_its_prompts_has_to_be_accepted(project: Project) -> None:
    shutil.move(project.golden(NAME), project.golden("renamed"))
    shutil.move(project.prompts(NAME), project.prompts("renamed"))
    edit(project, f"prompts/renamed/{ACTIVE}.md", NAME, "renamed")
    shutil.move(project.root / "recorded" / NAME, project.root / "recorded" / "renamed")
    done = invoke(project, *GATE)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"✗ {NAME}: all versions (suite)\n" in done.stdout
    assert "nothing of it would be evaluated any more; somebody has to accept that" in done.stdout
    assert "✗ the change touches its own measure (the suite is new): nothing of " in done.stdout


def test_cases_that_nobody_signed_off_are_held_to_the_bases(project: Project) -> None:
    cases = f"golden/{NAME}/cases.jsonl"
    new = '{"id": "new", "text": "Ticket", "language": "en", "label": "bug"}'
    edit(project, cases, '{"id": "case-00"', f'{new}\n{{"id": "case-00"')
    measured.record(project, ACTIVE, CASES * 9 // 10)
    answers = f"recorded/{NAME}/{ACTIVE}.jsonl"
    edit(
        project,
        answers,
        '{"case_id": "case-00"',
        '{"case_id": "new", "output": "bug"}\n{"case_id": "case-00"',
    )
    added = invoke(project, *GATE)
    assert added.returncode == 0, added.stdout + added.stderr
    assert "⚠ golden set: It was never signed off." in added.stdout
    row = '"text": "Ticket 59", "language": "en", "label": '
    edit(project, cases, f'{row}"other"', f'{row}"billing"')  # what was answered
    altered = invoke(project, *GATE)
    assert altered.returncode == 1, altered.stdout + altered.stderr
    assert "is not as it was, and nobody signed it off: changed: case-59" in altered.stdout


def test_a_problem_of_the_bases_own_measure_is_named_by_its_commit(project: Project) -> None:
    kept = (project.golden(NAME) / "suite.yaml").read_text()
    edit(project, f"golden/{NAME}/suite.yaml", "scores:", "scroes:")
    base = measured.commit(project)
    write(project, f"golden/{NAME}/suite.yaml", kept)
    done = invoke(project, *GATE)
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"golden/{NAME}/suite.yaml at {base[:7]}:" in done.stderr
    assert TEMPORARY not in done.stdout + done.stderr


def test_a_process_that_says_nothing_lets_nothing_pass(project: Project) -> None:
    """It is the change's own code, and may end as it likes."""
    edit(project, "lib/helper.py", "def same", "import os\nos._exit(0)\n\n\ndef same")
    task = Task(git(project, "rev-parse", "main"), {NAME: Touched(reasons={"scoring code"})}, Asked())
    (line,) = lines_apart(project, task, "the change's own measure")
    assert (line.suite, line.state) == (NAME, "unusable")
    assert "the change's own measure could not be used: its process ended with 0" in line.reasons[0]


def test_a_change_to_the_package_itself_is_measured_by_the_bases(tmp_path: Path) -> None:
    """A project that holds the package, and runs it from there."""
    suite, version = "heritage_typing", "classify-custodian-v1.1"
    project = Project(tmp_path / "clone", tmp_path / "state")
    kept_out = shutil.ignore_patterns("__pycache__")
    for name in (PACKAGE, f"golden/{suite}", f"prompts/{suite}"):
        shutil.copytree(REPOSITORY / name, project.root / name, ignore=kept_out)
    shutil.copy(REPOSITORY / "engines.yaml", project.root)
    write(project, ".gitignore", "__pycache__/\n")
    measured.begin(project)
    always_right = "predicted = [item.case.expected.type for item in items]"
    scoring = f"{PACKAGE}/suites/{suite}/scoring.py"
    edit(project, scoring, "predicted = [_letter(item.output.type) for item in items]", always_right)
    command = [sys.executable, "-P", "-m", PACKAGE, "gate", suite, "--changed-since", "main"]
    variables = {**environment(project), "PYTHONPATH": str(project.root)}
    done = subprocess.run(
        command, cwd=project.root, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    said = versions(project)
    assert accuracy(said[f"{version} base"]) < 1
    assert accuracy(said[f"{version} own"]) == 1
    assert "✗ the change touches its own measure (scoring code): it is measured as of " in done.stdout
