"""Golden answers reach no template and no engine: shown for every suite there is."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from eval_pipeline.answers import Answer, OutputsIdentity
from eval_pipeline.asking import Questions, Silence, collect_outputs
from eval_pipeline.engines import Request
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import load_prompts
from eval_pipeline.scoring import context_for
from eval_pipeline.stages import Workbench, load_golden
from eval_pipeline.store import GoldenTable
from eval_pipeline.suites import find_suite, suite_names
from eval_pipeline_tests.conftest import copy_project

MOST_CASES = 60


class Listener:
    """An engine that reads prompts and remembers everything it was told."""

    name, model, trials, varies, reads_prompt = "listener", "none", 1, False, True
    prepared_elsewhere = False
    held_out = None

    def __init__(self) -> None:
        self.heard: list[Request] = []

    async def answer(self, requests: AsyncIterator[Request]) -> AsyncGenerator[Answer, None]:
        async for request in requests:
            self.heard.append(request)
            yield Answer(request.case_id, request.trial, "{}")


def ask(project: Project, name: str, golden: GoldenTable) -> list[dict[str, Any]]:
    """Everything that an engine hears for every prompt version of a suite."""
    suite, problems = find_suite(project, name), Problems()
    resources = context_for(suite, project.golden(name)).resources
    heard: list[dict[str, Any]] = []
    for prompt in load_prompts(suite, project.prompts(name), problems):
        listener = Listener()
        identity = OutputsIdentity(name, prompt.version, "", "", "listener", "none", "default", 1)
        questions = Questions(suite, prompt, golden, resources)
        collect_outputs(questions, listener, identity, project.state / "heard", Silence())
        heard += map(msgspec.to_builtins, listener.heard)
    problems.stop_if_any()
    return heard


def some_of(table: Path, file: Path) -> Path:
    """Some cases of a golden set, from its beginning to its end: all are prepared and rendered alike."""
    rows = pq.read_table(table)
    step = -(-rows.num_rows // MOST_CASES)
    pq.write_table(rows.take(list(range(0, rows.num_rows, step))), file)
    return file


@pytest.mark.parametrize("name", suite_names(Project.find()))
def test_an_engine_hears_the_same_when_the_expectations_are_gone(tmp_path: Path, name: str) -> None:
    project = copy_project(tmp_path / "project", name)
    table = load_golden(Workbench(project, find_suite(project, name))).table
    table = replace(table, path=some_of(table.path, project.state / "some.parquet"))
    with_answers = ask(project, name, table)
    bare = project.state / "bare.parquet"
    pq.write_table(pq.read_table(table.path).drop_columns(["expected", "attributes", "case_hash"]), bare)
    without_answers = ask(project, name, replace(table, path=bare))
    assert with_answers
    assert without_answers == with_answers
    assert all(request["prompt"] for request in with_answers)
