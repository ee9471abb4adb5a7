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
    texts: tuple[str, ...] | None = None
    error: str | None = None
    line: int = 1
    place: int = 0


class Renderer:
    """Renders one prompt version for many cases. A template can neither reach Python nor outlive its time.

    Its process starts with its block, and is waited for when something is to be rendered.
    """

    def __init__(self, prompt: Prompt, seconds: float = SECONDS_PER_PROMPT) -> None:
        self._prompt = prompt
        self._templates = prompt.layout.templates
        self._seconds = seconds
        self._incoming = b""
        self._lines: deque[bytes] = deque()
        self._outgoing = bytearray()

    def __enter__(self) -> Renderer:
        self._process = _started()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        templates = {"templates": [each.text for each in self._templates], "longest": LONGEST_PROMPT}
        self._outgoing += msgspec.json.encode(templates) + b"\n"
        self._is_ready = False
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

    def render(self, prepared: Sequence[Any]) -> list[tuple[str, ...]]:
        """What the templates of the version render to, for each case."""
        if not self._is_ready:
            self._watch()
            if self._receive(SECONDS_TO_START) is None:
                raise self.problem("cannot be rendered: the sandbox does not start")
            self._is_ready = True
        self._outgoing += b"".join(_context(each) + b"\n" for each in prepared) + b"\n"
        self._watch()
        return [self._rendered() for _ in prepared]

    def problem(self, message: str, place: int = 0, line: int = 1) -> BadInput:
        """Something that is wrong with a template of the version, by its place among them."""
        problems = Problems()
        first = self._prompt.body_line + self._templates[place].line - 1
        problems.add(
            self._prompt.path, message, "Correct the template.", line=first + line - 1, field="template"
        )
        return BadInput(list(problems))

    def _rendered(self) -> tuple[str, ...]:
        line = self._receive(self._seconds)
        if line is None:
            raise self.problem(f"does not finish within {self._seconds:g} s and 1 GiB of memory")
        rendered = msgspec.json.decode(line, type=_Rendered)
        if rendered.texts is None:
            self.kill()
            raise self.problem(rendered.error or "cannot be rendered", rendered.place, rendered.line)
        return rendered.texts

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


def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", str(WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
    )


def _context(prepared: Any) -> bytes:
    """What templates see of a case: every field, those that are left out of its hash included."""
    if isinstance(prepared, msgspec.Struct) and prepared.__struct_config__.omit_defaults:
        prepared = msgspec.structs.asdict(prepared)
    return msgspec.json.encode(prepared)
