"""Runs the command line in a child of this process, within limits, and says whether it ended as it may."""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from eval_pipeline.cli import BAD_INPUT, BLOCKED, COMMANDS, CRASHED, main, module_of
from eval_pipeline.project import ROOT_VARIABLE, STATE_VARIABLE, Project

MOST_SECONDS = 20
MOST_WAITING = 180
"""Seconds on the clock: who waits for a pipe takes no time of the processor."""
MOST_KILOBYTES = 2**20
ROOM = 4 * 2**30
"""Address space beyond what is taken already: a child that wants more is stopped before the machine is."""
KILLED = 99
"""The exit code of a command that was ended on purpose."""


class Outcome(NamedTuple):
    """How a command ended."""

    code: int
    """Its exit code, or minus the signal that ended it."""
    out: str
    err: str
    seconds: float
    kilobytes: int
    """Of memory, beyond what it inherited."""

    @property
    def trouble(self) -> str:
        """What no input may bring about; blank where nothing of it happened."""
        if self.code in (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL) or self.seconds > MOST_SECONDS:
            return f"hung: {self.seconds:.0f} s of processor time"
        if "Traceback (most recent call last)" in self.out + self.err or self.code == CRASHED:
            return f"traceback: {last_line(self.err)}"
        if self.kilobytes > MOST_KILOBYTES:
            return f"took {self.kilobytes // 1024:,} MB"
        if self.code not in (0, BLOCKED, BAD_INPUT):
            return f"exit {self.code}: {last_line(self.err)}"
        if self.code == BAD_INPUT and not self.err.strip():
            return "exit 2 without a word"
        return ""


def load() -> None:
    """Import what commands need, once for all children."""
    for name in COMMANDS:
        importlib.import_module(module_of(name))
    importlib.import_module("eval_pipeline_tests.warm")


def last_line(text: str) -> str:
    """The last line of a traceback, or of whatever else was said."""
    lines = [line for line in text.splitlines() if line and not line.startswith((" ", "This is a defect"))]
    return lines[-1][:200] if lines else ""


def attempt(project: Project, *arguments: str, prepared: Callable[[], object] | None = None) -> Outcome:
    """Run `eval-pipeline` in a child of this process; `prepared` is called there first."""
    inherited = _pages(1) // 1024
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            _be(project, arguments, prepared, out.fileno(), err.fileno())
        _, status, used = os.wait4(child, 0)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # whatever it has started
        said, told = _text(out), _text(err)
    code = os.waitstatus_to_exitcode(status)
    taken = max(0, used.ru_maxrss - inherited)
    return Outcome(code, said, told, used.ru_utime + used.ru_stime, taken)


def _pages(field: int) -> int:
    """How many bytes this process has of address space (0) or of memory (1)."""
    return int(Path("/proc/self/statm").read_text().split()[field]) * resource.getpagesize()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _be(
    project: Project,
    arguments: tuple[str, ...],
    prepared: Callable[[], object] | None,
    out: int,
    err: int,
) -> None:
    """Be that command, and never come back."""
    code: object = CRASHED
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(MOST_WAITING)
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS + 1, MOST_SECONDS + 5))
        room = _pages(0) + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number, handle in ((0, os.open(os.devnull, os.O_RDONLY)), (1, out), (2, err)):
            os.dup2(handle, number)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        os.environ |= {ROOT_VARIABLE: str(project.root), STATE_VARIABLE: str(project.state)}
        os.chdir(project.root)
        sys.path.insert(0, str(project.root))  # as `python -m` does
        sys.argv = ["eval-pipeline", *arguments]
        if prepared:
            prepared()
        main()
    except SystemExit as exited:
        code = exited.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code if isinstance(code, int) else CRASHED)
