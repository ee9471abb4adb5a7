"""What is kept of an answer beside its text: what `prepare` contributed."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncGenerator, AsyncIterator

import msgspec
import pytest

from eval_pipeline.answers import Answer, OutputsIdentity, Usable, parse
from eval_pipeline.asking import Questions, Silence, collect_outputs, run
from eval_pipeline.asking.collecting import YOUNG_OBJECTS
from eval_pipeline.engines import Request
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import load_prompts
from eval_pipeline.scoring import context_for
from eval_pipeline.secrets import keep_secret
from eval_pipeline.stages import Workbench, load_golden
from eval_pipeline.suites import find_suite

SECRET = "a-secret-of-this-test"


class Boaster:
    """An engine that says by itself what it was given."""

    name, model, trials, varies, reads_prompt = "boaster", "none", 1, False, True

    held_out = None

    def __init__(self, prepared_elsewhere: bool) -> None:
        self.prepared_elsewhere = prepared_elsewhere

    async def answer(self, requests: AsyncIterator[Request]) -> AsyncGenerator[Answer, None]:
        async for request in requests:
            yield Answer(request.case_id, request.trial, '{"animal": "cat", "hints": ["its own"]}')


def collected(toy: Project, engine: Boaster) -> list[Answer]:
    """What is kept of an engine's answers."""
    suite = find_suite(toy, "toy")
    golden = load_golden(Workbench(toy, suite)).table
    prompt = next(iter(load_prompts(suite, toy.prompts("toy"), Problems())))
    identity = OutputsIdentity("toy", prompt.version, "", "", "boaster", "none", "default", 1)
    questions = Questions(suite, prompt, golden, context_for(suite, toy.golden("toy")).resources)
    path = toy.state / "answers.parquet"
    answers = list(collect_outputs(questions, engine, identity, path, Silence()))
    assert len(answers) == golden.facts.cases
    return answers


@pytest.mark.parametrize(("prepared_elsewhere", "own"), [(False, False), (True, True)])
def test_only_another_system_says_itself_what_it_was_given(
    toy: Project, prepared_elsewhere: bool, own: bool
) -> None:
    for answer in collected(toy, Boaster(prepared_elsewhere)):
        parsed = parse(answer, find_suite(toy, "toy").output)
        assert isinstance(parsed, Usable)
        assert (msgspec.to_builtins(parsed.output)["hints"] == ["its own"]) is own


class Gossip(Boaster):
    """An engine that tells a secret of this process, in an answer or in why there is none."""

    async def answer(self, requests: AsyncIterator[Request]) -> AsyncGenerator[Answer, None]:
        async for request in requests:
            yield Answer(request.case_id, request.trial, f"it is {SECRET}", "engine", f"no: {SECRET}")


def test_no_secret_of_this_process_is_kept(toy: Project) -> None:
    keep_secret(SECRET)
    for answer in collected(toy, Gossip(False)):
        assert (answer.text, answer.detail) == ("it is [hidden]", "no: [hidden]")


def test_work_is_done_where_a_loop_is_running_already() -> None:
    """As in a cell of a notebook."""

    async def work() -> str:
        return "done"

    async def cell() -> str:
        return run(work())

    assert run(work()) == "done"
    assert asyncio.run(cell()) == "done"


@pytest.mark.parametrize("installed", [True, False])
def test_work_is_run_with_and_without_uvloop(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not installed:
        monkeypatch.setitem(sys.modules, "uvloop", None)

    async def loop() -> str:
        return type(asyncio.get_running_loop()).__module__

    assert run(loop()).startswith("uvloop") == installed


@pytest.mark.parametrize(
    ("before", "meanwhile"), [(700, YOUNG_OBJECTS), (2 * YOUNG_OBJECTS, 2 * YOUNG_OBJECTS)]
)
def test_garbage_is_looked_for_seldom_while_work_runs_and_as_before_afterwards(
    before: int, meanwhile: int
) -> None:
    async def work() -> int:
        return gc.get_threshold()[0]

    own = gc.get_threshold()
    try:
        gc.set_threshold(before, 9, 8)
        assert run(work()) == meanwhile
        assert gc.get_threshold() == (before, 9, 8)
    finally:
        gc.set_threshold(*own)
