"""The toy suite behind a fake endpoint: animals by their sounds, right or wrong as a test wants it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import yaml

from eval_pipeline import stages
from eval_pipeline.decisions import Result, Standings, promote
from eval_pipeline.project import Project
from eval_pipeline.scoring import Evaluation
from eval_pipeline.store import AnswerTable
from eval_pipeline.suite import Suite
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.engines.fault_server import FaultServer

VERSION, CANDIDATE = "guess-v1.0", "guess-v1.1"
CASES = 20
PROMPT = "---\nsuite: toy\nstatus: {status}\n---\n{greeting} {{{{ sound }}}}?\n"

_SOUND = re.compile(r"sound-(\d+)")

Right = Callable[[str, int, int], bool]
"""Whether an answer is right: by the prompt, the case's number and how often the prompt was asked."""


def furnish(project: Project, server: FaultServer, **engine: Any) -> None:
    """Give the toy twenty cases, two prompt versions and an endpoint."""
    lines = [
        json.dumps({"id": f"case-{number:02}", "sound": f"sound-{number}", "animal": f"animal-{number}"})
        for number in range(CASES)
    ]
    (project.golden("toy") / "cases" / "sounds.jsonl").write_text("\n".join(lines) + "\n")
    for version, status in ((VERSION, "active"), (CANDIDATE, "candidate")):
        text = PROMPT.format(status=status, greeting=version)
        (project.prompts("toy") / f"{version}.md").write_text(text)
    entry = {"kind": "endpoint", "url": server.url, "model": "m", "trials": {"min": 1, "max": 5}, **engine}
    engines = {"remote": entry, "embedded": {"kind": "embedded"}}
    project.engines_file.write_text(yaml.safe_dump({"default": "remote", "engines": engines}))


def answering(server: FaultServer, right: Right) -> None:
    """Let the server answer rightly where `right` says so."""

    def answer(prompt: str) -> str:
        found = _SOUND.search(prompt)
        assert found is not None
        good = right(prompt, int(found[1]), server.asked[prompt])
        return json.dumps({"animal": f"animal-{found[1]}" if good else "a mouse"})

    server.answer = answer


def toy_suite(project: Project) -> Suite:
    """The suite, as the project has it."""
    return find_suite(project, "toy")


def ask(project: Project, version: str, **options: Any) -> AnswerTable:
    """Ask a version as the chain does, and keep its answers as the latest."""
    bench = stages.Workbench(project, toy_suite(project))
    answers = stages.answer_cases(bench, stages.load_golden(bench).table, version, **options)
    bench.store.keep_outputs(answers)
    return answers


def evaluated(project: Project, answers: AnswerTable) -> Evaluation:
    """Score answers and judge them by the gates."""
    return result_of(project, answers).evaluation


def result_of(project: Project, answers: AnswerTable) -> Result:
    """What answers come to."""
    bench = stages.Workbench(project, toy_suite(project))
    golden = stages.load_golden(bench)
    scored = stages.score_answers(bench, golden.table, answers)
    return Result(bench, golden, answers, scored, stages.evaluate(bench, scored, answers.costs))


def freeze(project: Project, answers: AnswerTable) -> None:
    """Make answers the baseline of their prompt."""
    promote(result_of(project, answers), Standings(), "Ada", "the first")
