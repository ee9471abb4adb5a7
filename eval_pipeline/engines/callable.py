"""The callable engine: a Python function, sync or async, that a team already has."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from pathlib import PurePosixPath
from typing import Any, Literal

import msgspec

from eval_pipeline.answers import Answer
from eval_pipeline.engines.fields import AtLeastOne, Trials
from eval_pipeline.engines.interface import Request
from eval_pipeline.engines.kinds import EngineEntry, Use, register
from eval_pipeline.engines.pool import in_parallel
from eval_pipeline.files import content_hash
from eval_pipeline.problems import bad_value


@register
class CallableEntry(EngineEntry):
    """A Python function, `package.module:function`, sync or async."""

    kind: Literal["callable"] = "callable"
    function: str
    """`package.module:function`: it gets the rendered prompt and the case's variables."""
    concurrency: AtLeastOne = 8
    """How many calls are under way at once."""
    trials: Trials = 3
    """How often every case is asked."""
    description: str = ""

    def reads(self, file: PurePosixPath, suite: str, version: str) -> bool:
        """Any code but tests: what the function calls in turn is known only when it runs."""
        return file.suffix == ".py" and not file.name.startswith(("test_", "conftest."))

    def open(self, name: str, use: Use) -> CallableEngine:
        """The engine of that name."""
        return CallableEngine(name, self.function, self.concurrency, self.trials)


class CallableEngine:
    """Calls `function(prompt, variables)` for every request; what it returns is the output, or its text."""

    varies = True
    reads_prompt = True
    prepared_elsewhere = True  # a function may retrieve by itself; it knows what it answered from
    held_out = None

    def __init__(self, name: str, target: str, concurrency: int, trials: Trials) -> None:
        self.name = name
        self.trials = trials
        self._concurrency = concurrency
        self._function = _find(name, target)
        self.model = f"{target}-{content_hash(_source(self._function))[:8]}"

    async def answer(self, requests: AsyncIterator[Request]) -> AsyncGenerator[Answer, None]:
        """Answer requests, several at once; a function that raises gives an error for that one case."""
        async with aclosing(in_parallel(requests, self._answer, self._concurrency)) as done:
            async for answers in done:
                for answer in answers:
                    yield answer

    async def _answer(self, request: Request) -> Answer:
        started = time.perf_counter()
        text, error, detail = None, None, ""
        try:
            variables = msgspec.to_builtins(request.prepared)
            if inspect.iscoroutinefunction(self._function):
                output = await self._function(request.prompt, variables)
            else:
                output = await asyncio.to_thread(self._function, request.prompt, variables)
            # Half a surrogate pair is no text, and would spoil the table it is kept in.
            text = (output.encode() if isinstance(output, str) else msgspec.json.encode(output)).decode()
        except Exception as failure:  # the answer carries the failure of this one case
            error, detail = "engine", f"{type(failure).__name__}: {failure}"
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the run is, not something within the function
                raise
            error, detail = "engine", "the function waited for something that was cancelled"
        elapsed = round((time.perf_counter() - started) * 1000, 3)
        return Answer(request.case_id, request.trial, text, error, detail, elapsed)


def _find(name: str, target: str) -> Callable[..., Any]:
    module, _, function = target.partition(":")
    try:
        target_function = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise bad_value(f"engines.{name}.function", f"{target!r} cannot be loaded: {error}", "") from None
    if not callable(target_function):
        raise bad_value(f"engines.{name}.function", f"{target!r} is not a function", "")
    return target_function  # type: ignore[no-any-return]


def _source(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(inspect.getmodule(function) or function)
    except (OSError, TypeError):
        return repr(function)
