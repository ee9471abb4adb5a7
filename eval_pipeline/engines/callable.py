"""The callable engine: a Python function, sync or async, that a team already has."""

from __future__ import annotations

import asyncio
import inspect
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from functools import cache
from pathlib import Path, PurePosixPath
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import msgspec

from eval_pipeline.answers import Answer
from eval_pipeline.engines.calls import CallFailed, Reply
from eval_pipeline.engines.fields import AtLeastOne, Trials
from eval_pipeline.engines.interface import Engine, Request
from eval_pipeline.engines.kinds import EngineEntry, Use, register
from eval_pipeline.engines.pool import in_parallel
from eval_pipeline.files import content_hash
from eval_pipeline.own_code import import_own
from eval_pipeline.problems import bad_value
from eval_pipeline.scoring import MissingCode, function_version
from eval_pipeline.store import database_url

if TYPE_CHECKING:
    from eval_pipeline.engines.metered import MeteredEngine

FAILED = "engine"
"""The kind of error that a function's failure is."""


@register
class CallableEntry(EngineEntry):
    """A Python function, `package.module:function`, sync or async."""

    kind: Literal["callable"] = "callable"
    function: str
    """`package.module:function`, in the project's folder or installed: it gets the rendered prompt, a text
    or a list of messages with `role` and `content`, and the case's variables."""
    cached: bool = False
    """Whether answers are kept in the journal, and reused until the function's code changes."""
    concurrency: AtLeastOne = 8
    """How many calls are under way at once."""
    trials: Trials = 3
    """How often every case is asked."""
    description: str = ""

    def reads(self, file: PurePosixPath, suite: str, version: str) -> bool:
        """Any code but tests: what the function calls in turn is known only when it runs."""
        return file.suffix == ".py" and not file.name.startswith(("test_", "conftest."))

    def open(self, name: str, use: Use) -> Engine:
        """The engine of that name."""
        target = find_target(name, self.function, use.project.root)
        if self.cached:
            return self._journaled(name, target, use)
        return CallableEngine(name, target, self.concurrency, self.trials)

    def _journaled(self, name: str, target: Target, use: Use) -> MeteredEngine:
        from eval_pipeline.engines.limits import Scope
        from eval_pipeline.engines.metered import Limits, MeteredEngine

        try:
            code = _version(use.project.root, target.module, self.function.partition(":")[2])
        except (MissingCode, SyntaxError, OSError) as error:
            remedy = "Leave cached out: nobody could tell when it changes."
            raise bad_value(f"engines.{name}.cached", f"its source cannot be read: {error}", remedy) from None
        scope = Scope(f"{name} {os.getpid()}", self.concurrency)
        engine = MeteredEngine(
            name,
            f"{self.function}-{code[:8]}",
            FunctionClient(target),
            Limits(self.concurrency, (scope,), attempts=1),
            database_url(use.project),
            suite=use.suite.name,
            version=use.prompt.version,
            sample=use.sample,
            trials=self.trials,
        )
        engine.prepared_elsewhere = True
        return engine


class Target(NamedTuple):
    """A function, and where it was found."""

    name: str
    module: ModuleType
    function: Callable[..., Any]


class FunctionFailed(Exception):
    """A function that gave no text for a case, and why."""


class CallableEngine:
    """Calls `function(prompt, variables)` for every request; what it returns is the output, or its text."""

    varies = True
    reads_prompt = True
    prepared_elsewhere = True  # a function may retrieve by itself; it knows what it answered from
    held_out = None

    def __init__(self, name: str, target: Target, concurrency: int, trials: Trials) -> None:
        self.name = name
        self.trials = trials
        self._concurrency = concurrency
        self._function = target.function
        self.model = f"{target.name}-{content_hash(_source(self._function))[:8]}"

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
            text = await _text_of(self._function, *_given(request))
        except FunctionFailed as failed:
            error, detail = FAILED, str(failed)
        elapsed = round((time.perf_counter() - started) * 1000, 3)
        return Answer(request.case_id, request.trial, text, error, detail, elapsed)


class FunctionClient:
    """Calls a function as an endpoint is called, so that the journal keeps what it answers."""

    overhead_tokens = 0
    most_tokens = None

    def __init__(self, target: Target) -> None:
        self.url = f"python:{target.name}"
        self._function = target.function

    def body(self, request: Request) -> bytes:
        """What the function gets."""
        return msgspec.json.encode(_given(request))

    async def call(self, body: bytes) -> Reply:
        """Call it once."""
        try:
            return Reply(await _text_of(self._function, *msgspec.json.decode(body)))
        except FunctionFailed as failed:
            raise CallFailed(FAILED, str(failed)) from None

    async def __aenter__(self) -> Self:
        """There is nothing to open."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """There is nothing to close."""


async def _text_of(function: Callable[..., Any], prompt: Any, variables: Any) -> str:
    """What a function answers, as text; whatever goes wrong in it is a `FunctionFailed`."""
    try:
        if inspect.iscoroutinefunction(function):
            output = await function(prompt, variables)
        else:
            output = await asyncio.to_thread(function, prompt, variables)
        # Half a surrogate pair is no text, and would spoil the table it is kept in.
        return (output.encode() if isinstance(output, str) else msgspec.json.encode(output)).decode()
    except Exception as failure:  # the answer carries the failure of this one case
        raise FunctionFailed(f"{type(failure).__name__}: {failure}") from None
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # the run is, not something within the function
            raise
        raise FunctionFailed("the function waited for something that was cancelled") from None


def _given(request: Request) -> tuple[Any, Any]:
    """What a function gets: a text, or a list of messages with `role` and `content`; and the variables."""
    prompt = request.prompt
    chat = [msgspec.to_builtins(each) for each in prompt] if isinstance(prompt, tuple) else prompt
    return chat, msgspec.to_builtins(request.prepared)


def find_target(name: str, target: str, root: Path) -> Target:
    """The function that an engine names, of a project or installed."""
    module_name, _, function_name = target.partition(":")
    try:
        module = import_own(root, module_name)
        function = getattr(module, function_name)
    except (ImportError, AttributeError, ValueError) as error:
        remedy = "Write module:function, of a module in the project's folder or an installed one."
        raise bad_value(f"engines.{name}.function", f"{target!r} cannot be loaded: {error}", remedy) from None
    if not callable(function):
        raise bad_value(f"engines.{name}.function", f"{target!r} is not a function", "Name one.")
    return Target(target, module, function)


# A process runs what it loaded: a file that is edited since is not what answers, until it is loaded anew.
@cache
def _version(root: Path, module: ModuleType, function: str) -> str:
    return function_version(root, module, function)


def _source(function: Callable[..., Any]) -> str:
    module = inspect.getmodule(function)
    try:
        return _source_of(module) if module else inspect.getsource(function)
    except (OSError, TypeError):
        return repr(function)


@cache
def _source_of(module: ModuleType) -> str:
    return inspect.getsource(module)
