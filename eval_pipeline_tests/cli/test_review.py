"""The blind protocol, walked through in a terminal by somebody who also tries to cheat."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

from eval_pipeline import stages
from eval_pipeline.golden import LEDGER_FILE
from eval_pipeline.project import Project
from eval_pipeline.scoring import context_for
from eval_pipeline.store import Store
from eval_pipeline.suites.review import SUITE
from eval_pipeline_tests.conftest import copy_project
from eval_pipeline_tests.running import invoke

VERSION = "review-document-v1.1"
TASK = "rate-limiter-code"
SECONDS = 60


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of this project with the suite that is looked at here."""
    return copy_project(tmp_path / "project", SUITE.name)


def evaluated(project: Project) -> None:
    """Answers of the embedded engine, without Dagster."""
    store = Store(project.state)
    golden = stages.load_golden(stages.Workbench(project, SUITE)).table
    store.keep_golden(SUITE.name, golden)
    store.keep_outputs(stages.answer_cases(stages.Workbench(project, SUITE), golden, VERSION))


def review(project: Project, step: str, *more: str) -> Any:
    """A terminal in which a step is running."""
    environment = {**os.environ, "EVAL_PIPELINE_ROOT": str(project.root), "DAGSTER_HOME": str(project.state)}
    arguments = ["-m", "eval_pipeline", "review", step, VERSION, "--task", TASK, "--by", "Ada", *more]
    terminal = pexpect.spawn(
        sys.executable,
        arguments,
        env=environment,
        encoding="utf-8",
        timeout=SECONDS,
        dimensions=(50, 200),
        # Who starts tests in the background makes them deaf to Ctrl-C, and all that they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    terminal.delaybeforesend = None  # nobody asks for a secret, for which one would have to wait
    return terminal


def ended(terminal: Any) -> tuple[str, int]:
    """What a command still says, and its exit code."""
    terminal.expect(pexpect.EOF)
    terminal.close()
    return terminal.before, terminal.exitstatus


def questions(terminal: Any) -> int:
    terminal.expect(r"; (\d+) questions?\.")
    return int(terminal.match[1])


def reply(terminal: Any, *pairs: tuple[str, str]) -> str:
    """Answer questions one after the other; what the terminal showed before the first."""
    shown = ""
    for question, answer in pairs:
        terminal.expect_exact(question)
        shown += terminal.before
        terminal.sendline(answer)
    return shown


def assess(terminal: Any, category: str = "EDGE") -> str:
    return reply(
        terminal,
        ("What error is it", category),
        ("In your own words", "something is wrong"),
        ("What is the evidence", "the quoted line"),
        ("How sure are you", "HIGH"),
    )


def decisions(project: Project) -> Any:
    return context_for(SUITE, project.golden(SUITE.name)).references


@pytest.fixture
def ready(project: Project) -> Project:
    """A project in which the version was evaluated."""
    evaluated(project)
    return project


def test_the_protocol_from_the_first_finding_to_the_bias_check(ready: Project) -> None:
    told, code = ended(review(ready, "predict"))
    assert code == 2
    assert "the step 'findings' is not sealed yet" in told

    first = review(ready, "findings", "--quotes-only")
    count = questions(first)
    shown = assess(first)
    assert count > 2
    assert "Quote:" in shown
    assert "Finding:" not in shown
    first.expect_exact("[2/")
    first.sendcontrol("c")
    ended(first)

    again = review(ready, "findings")
    assert questions(again) == count - 1
    shown += "".join(assess(again, "NONE" if number else "EDGE") for number in range(count - 1))
    ground_truth = [
        error.text
        for golden in stages.load_golden(stages.Workbench(ready, SUITE)).table.cases(SUITE)
        if golden.case.id == TASK
        for error in golden.case.expected.errors
    ]
    assert not [text for text in ground_truth if text in shown]
    assert "depth" not in shown.casefold()
    reply(again, ("They cannot be changed afterwards", "y"))
    told, code = ended(again)
    assert code == 0
    assert f"Sealed: {count} answers, commitment " in told

    refuse_to_change(ready)
    predict_and_adjudicate(ready)

    last = review(ready, "bias")
    last.expect_exact("BIAS, changed assessment: tried to change a sealed answer of 'findings'")
    reply(last, ("Your comment", "I was curious"), ("They cannot be changed afterwards", "y"))
    assert ended(last)[1] == 0
    told, code = ended(review(ready, "status"))
    assert code == 0
    assert "The ledger is whole" in told


def refuse_to_change(project: Project) -> None:
    """A sealed answer cannot be changed, neither by asking nor by editing the file."""
    file = project.golden(SUITE.name) / "references" / LEDGER_FILE
    whole = file.read_bytes()
    subject = next(line for line in whole.decode().splitlines() if '"subject":"' in line)
    key = subject.split('"subject":"')[1][:8]
    told, code = ended(review(project, "findings", "--change", key))
    assert code == 1
    assert "A sealed answer cannot be changed" in " ".join(told.split())
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"confidence":"HIGH"', b'"confidence":"LOW"', 1))
    told, code = ended(review(project, "predict"))
    assert code == 2
    assert "was changed: its content does not have its hash" in " ".join(told.split())
    file.write_bytes(whole)


def predict_and_adjudicate(project: Project) -> None:
    """Steps 2 and 3; the rulings reach scoring when they are sealed, and not before."""
    second = review(project, "predict")
    for _ in range(questions(second)):
        reply(second, ("Will the workflow have found it", "MAYBE"), ("Why, or why not", "hard to say"))
    reply(second, ("They cannot be changed afterwards", "y"))
    assert ended(second)[1] == 0

    third = review(project, "adjudicate")
    count = questions(third)
    assert count
    for _ in range(count):
        reply(third, ("Your ruling", "bonus_valid"), ("The reason", "it is a real error"))
    third.expect_exact("They cannot be changed afterwards")
    assert decisions(project) == {}
    third.sendline("y")
    assert ended(third)[1] == 0
    ruled = decisions(project)
    assert len(ruled) == count
    assert {(task, decision.ruling) for (task, _), decision in ruled.items()} == {(TASK, "bonus_valid")}


def run(project: Project, *arguments: str, by: str) -> tuple[str, int]:
    """A command that asks nothing."""
    done = invoke(project, "review", *arguments, "--by", by)
    return " ".join((done.stdout + done.stderr).split()), done.returncode


def by_file(project: Project, step: str, file: Path, by: str, **answers: str) -> tuple[str, int]:
    """Export a step on the task, fill it in, and import it."""
    told, code = run(project, "export", step, VERSION, str(file), "--task", TASK, by=by)
    assert code == 0, told
    text = file.read_text()
    for name, answer in answers.items():
        text = text.replace(f'  {name}: ""', f'  {name}: "{answer}"')
    file.write_text(text)
    return run(project, "import", str(file), by=by)


def test_the_protocol_by_files_with_a_second_adjudicator(ready: Project, tmp_path: Path) -> None:
    told, code = run(ready, "export", "predict", VERSION, str(tmp_path / "0"), "--task", TASK, by="Ada")
    assert code == 2
    assert "the step 'findings' is not sealed yet" in told
    sure = {"category": "EDGE", "error": "x", "evidence": "y"}
    told, code = by_file(ready, "findings", tmp_path / "1", "Ada", **sure)
    assert (code, told.count("is blank")) == (2, 3)
    file = tmp_path / "1"
    file.write_text(file.read_text().replace('confidence: ""', "confidence: LOW"))
    assert run(ready, "import", str(file), by="Ada") == (f"{TASK}: 3 answers sealed.", 0)
    told, code = run(ready, "import", str(file), by="Ada")
    assert code == 1
    assert "A sealed answer cannot be changed" in told
    assert by_file(ready, "predict", tmp_path / "2", "Ada", prediction="MAYBE", why="w")[1] == 0
    assert by_file(ready, "adjudicate", tmp_path / "3", "Ada", ruling="bonus_valid", reason="r")[1] == 0
    told, code = run(ready, "export", "second", VERSION, str(tmp_path / "4"), "--task", TASK, by=" Ada ")
    assert code == 2
    assert "The second adjudicator is another person." in told
    told, code = by_file(ready, "second", tmp_path / "4", "Bob", ruling="false_positive", reason="no")
    assert code == 0
    assert "bonus_valid: r" in told
    assert decisions(ready) == {}
    assert by_file(ready, "settle", tmp_path / "5", "Cyd", ruling="bonus_valid", reason="yes")[1] == 0
    assert {each.ruling for each in decisions(ready).values()} == {"bonus_valid"}


def test_a_version_that_was_never_evaluated_says_what_to_run(project: Project, tmp_path: Path) -> None:
    told, code = ended(review(project, "findings"))
    assert code == 2
    assert "eval-pipeline run review --prompt review-document-v1.1" in " ".join(told.split())
