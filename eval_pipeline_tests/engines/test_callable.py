"""The callable engine: sync and async functions, and functions that fail."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.answers import Answer
from eval_pipeline.engines import Request
from eval_pipeline.engines.callable import CallableEngine, CallableEntry, find_target
from eval_pipeline.engines.kinds import Use
from eval_pipeline.loading import find_suite
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.stages import Workbench
from eval_pipeline.stages.opening import usable_prompt


def shout(prompt: str, variables: dict[str, Any]) -> dict[str, Any]:
    return {"said": prompt.upper(), **variables}


async def whisper(prompt: str, variables: dict[str, Any]) -> str:
    return prompt.lower()


def fail(prompt: str, variables: dict[str, Any]) -> str:
    raise RuntimeError(prompt)


async def wait_in_vain(prompt: str, variables: dict[str, Any]) -> str:
    waiting = asyncio.ensure_future(asyncio.sleep(60))
    waiting.cancel()
    await waiting
    return prompt


def half(prompt: str, variables: dict[str, Any]) -> str:
    return "\ud800"


def answers(function: str) -> list[Answer]:
    """What a function of this module answers to three requests."""

    async def requests() -> AsyncIterator[Request]:
        for number in range(3):
            yield Request(f"case-{number}", 1, {"n": number}, f"Text {number}")

    async def collect() -> list[Answer]:
        target = find_target("own", f"{__name__}:{function}", Path())
        engine = CallableEngine("own", target, concurrency=2, trials=1)
        return sorted([answer async for answer in engine.answer(requests())], key=lambda each: each.case_id)

    return asyncio.run(collect())


def test_functions_answer() -> None:
    assert [answer.text for answer in answers("shout")][:1] == ['{"said":"TEXT 0","n":0}']
    assert [answer.text for answer in answers("whisper")] == ["text 0", "text 1", "text 2"]


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("fail", "RuntimeError: Text 0"),
        ("half", "UnicodeEncodeError"),
        ("wait_in_vain", "the function waited for something that was cancelled"),
    ],
)
def test_a_function_that_fails_gives_an_error_for_its_case(function: str, told: str) -> None:
    first = answers(function)[0]
    assert (first.text, first.error) == (None, "engine")
    assert told in first.detail


@pytest.mark.parametrize(
    "target", ["no_such_module:f", f"{__name__}:nothing", f"{__name__}:__name__", "", ":"]
)
def test_what_is_no_function_is_bad_input(target: str) -> None:
    with pytest.raises(BadInput):
        find_target("own", target, Path())


@pytest.mark.parametrize("cached", [False, True])
def test_who_answers_is_the_code_that_was_loaded_whatever_became_of_its_file(
    toy: Project, cached: bool
) -> None:
    suite = find_suite(toy, "toy")
    prompt = usable_prompt(Workbench(toy, suite), "guess-v1.0")
    use = Use(toy, suite, prompt, None, "default")
    entry = CallableEntry(function="answering:say", cached=cached)
    file = toy.root / "answering.py"
    file.write_text("def say(prompt, variables):\n    return 'one'\n")
    loaded = entry.open("own", use).model
    file.write_text("def say(prompt, variables):\n    return 'one, and another'\n")
    assert entry.open("own", use).model == loaded
    del sys.modules["answering"]
    importlib.invalidate_caches()
    assert entry.open("own", use).model != loaded
