"""The callable engine: sync and async functions, and functions that fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.answers import Answer
from eval_pipeline.engines import Request
from eval_pipeline.engines.callable import CallableEngine, find_target
from eval_pipeline.problems import BadInput


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
