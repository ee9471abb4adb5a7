"""Rendering prompts: in a sandboxed process of its own, bounded in time, memory and size."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.prompts.versions import Prompt

WORKER = Path(__file__).with_name("rendering_worker.py")
LONGEST_PROMPT = 2_000_000
SECONDS_PER_PROMPT = 5.0
SECONDS_TO_START = 30.0
PIPE = 2**16


class _Rendered(msgspec.Struct):
    text: str | None = None
    error: str | None = None
    line: int = 1


class Renderer:
    """Renders one prompt version for many cases. A template can neither reach Python nor outlive its time."""

    def __init__(self, prompt: Prompt, seconds: float = SECONDS_PER_PROMPT) -> None:
        self._prompt = prompt
        self._seconds = seconds
        self._incoming = b""
        self._lines: deque[bytes] = deque()
        self._outgoing = bytearray()

    def __enter__(self) -> Renderer:
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        template = {"template": self._prompt.body, "longest": LONGEST_PROMPT}
        self._outgoing += msgspec.json.encode(template) + b"\n"
        self._watch()
        if self._receive(SECONDS_TO_START) is None:
            self._stop()
            raise self._problem("cannot be rendered: the sandbox does not start", 1)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def kill(self) -> None:
        """Stop at once; whoever waits for a text gets an error, and never one that was meant for another."""
        self._process.kill()
        self._lines.clear()
        self._incoming = b""

    def _stop(self) -> None:
        self._selector.close()
        self._process.kill()
        self._process.communicate()

    def render(self, prepared: Sequence[Any]) -> list[str]:
        """The texts that an engine reads, one for each case."""
        self._outgoing += b"".join(msgspec.json.encode(each) + b"\n" for each in prepared) + b"\n"
        self._watch()
        return [self._rendered() for _ in prepared]

    def _rendered(self) -> str:
        line = self._receive(self._seconds)
        if line is None:
            raise self._problem(f"does not finish within {self._seconds:g} s and 1 GiB of memory", 1)
        rendered = msgspec.json.decode(line, type=_Rendered)
        if rendered.text is None:
            self.kill()
            raise self._problem(rendered.error or "cannot be rendered", rendered.line)
        return rendered.text

    def _receive(self, seconds: float) -> bytes | None:
        """The worker's next line; None when it takes too long or dies.

        What is still to be sent goes out meanwhile: neither side ever waits for the other to read.
        """
        deadline = time.monotonic() + seconds
        while not self._lines:
            ready = self._selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            for key, _ in ready:
                if key.fileobj is self._process.stdout:
                    data = os.read(key.fd, PIPE)
                    if not data:
                        return None
                    *lines, self._incoming = (self._incoming + data).split(b"\n")
                    self._lines.extend(lines)
                elif not self._write(key.fd):
                    return None
            self._watch()
        return self._lines.popleft()

    def _write(self, descriptor: int) -> bool:
        try:
            sent = os.write(descriptor, self._outgoing[:PIPE])
        except BrokenPipeError:
            return False
        del self._outgoing[:sent]
        return True

    def _watch(self) -> None:
        """Look at the worker's input only while there is something to send."""
        stdin = self._process.stdin
        assert stdin is not None
        watched = stdin in self._selector.get_map()
        if self._outgoing and not watched:
            self._selector.register(stdin, selectors.EVENT_WRITE)
        elif watched and not self._outgoing:
            self._selector.unregister(stdin)

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
