"""Rendering prompts: in a sandboxed process of its own, bounded in time, memory and size."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.prompt import Prompt

WORKER = Path(__file__).with_name("rendering_worker.py")
LONGEST_PROMPT = 2_000_000
SECONDS_PER_PROMPT = 5.0
SECONDS_TO_START = 30.0


class _Rendered(msgspec.Struct):
    text: str | None = None
    error: str | None = None
    line: int = 1


class Renderer:
    """Renders one prompt version for many cases. A template can neither reach Python nor outlive its time."""

    def __init__(self, prompt: Prompt, seconds: float = SECONDS_PER_PROMPT) -> None:
        self._prompt = prompt
        self._seconds = seconds
        self._buffer = b""

    def __enter__(self) -> Renderer:
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
        )
        self._send({"template": self._prompt.body, "longest": LONGEST_PROMPT})
        if self._receive(SECONDS_TO_START) is None:
            self._stop()
            raise self._problem("cannot be rendered: the sandbox does not start", 1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        self._process.kill()
        self._process.communicate()

    def render(self, prepared: Any) -> str:
        """The text an engine reads for one case."""
        self._send(msgspec.to_builtins(prepared))
        line = self._receive(self._seconds)
        if line is None:
            raise self._problem(f"does not finish within {self._seconds:g} s and 1 GiB of memory", 1)
        rendered = msgspec.json.decode(line, type=_Rendered)
        if rendered.text is None:
            raise self._problem(rendered.error or "cannot be rendered", rendered.line)
        return rendered.text

    def _send(self, value: Any) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(value) + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._problem("cannot be rendered: the sandbox stopped", 1) from None

    def _receive(self, seconds: float) -> bytes | None:
        """The worker's next line; None when it takes too long or dies."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    return None
                data = os.read(self._process.stdout.fileno(), 2**16)
                if not data:
                    return None
                self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _problem(self, message: str, line: int) -> BadInput:
        problems = Problems()
        problems.add(
            self._prompt.path,
            message,
            "Correct the template.",
            line=self._prompt.body_line + line - 1,
            field="template",
        )
        return BadInput(list(problems))
