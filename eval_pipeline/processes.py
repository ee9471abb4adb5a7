"""Processes of this machine: work in several of them, and whether one is still there."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

S = TypeVar("S")
T = TypeVar("T")

MOST_PROCESSES = 4
UNKNOWN = "unknown"


def this_process() -> str:
    """A name for this process that no other has: where it runs, its number, and when it started."""
    return f"{_place()}/{os.getpid()}/{_started(os.getpid())}"


def is_gone(process: str) -> bool:
    """Whether a process of that name, or of one that goes on after a slash, was here and is no more.

    Of one that runs elsewhere, or where no place can be told from another, nothing is known.
    """
    place, pid, started, *_ = [*process.split("/"), "", ""]
    if UNKNOWN in place or place != _place() or not (pid.isdecimal() and started.isdecimal()):
        return False
    return _started(int(pid)) not in (started, UNKNOWN)


def _place() -> str:
    """What tells machines, their starts, and containers apart, though several may have one name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()}:{boot}:{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return f"{socket.gethostname()}:{UNKNOWN}"


def _started(pid: int) -> str:
    """When a process started, in ticks of the system's clock; blank where there is none."""
    try:
        # The name of the program, which may hold anything, ends with the last bracket.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (FileNotFoundError, ProcessLookupError):
        return ""
    except (OSError, IndexError):
        return UNKNOWN


def usable_processors() -> int:
    """How many processes can work at the same time; one where a process cannot be forked cheaply."""
    return min(MOST_PROCESSES, len(os.sched_getaffinity(0))) if sys.platform == "linux" else 1


def in_processes(tasks: Sequence[Callable[[], T]]) -> list[T | None]:
    """What tasks return: the first runs here, each other one in a process that inherits all there is.

    None stands for a task whose process ended without a result.
    """
    import multiprocessing

    context = multiprocessing.get_context("fork")
    held, rope = context.Pipe(duplex=False)
    children: list[tuple[BaseProcess, Connection]] = []
    try:
        for task in tasks[1:]:
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_send, args=(task, sender, held, rope))
            children.append((process, receiver))
            process.start()
            sender.close()
        return [tasks[0](), *(_receive(receiver) for _, receiver in children)]
    finally:
        for child, receiver in children:
            receiver.close()
            if child.pid is not None:
                child.kill()
                child.join()
        for end in (held, rope):
            end.close()


def in_turns(function: Callable[[S], T], items: Sequence[S]) -> list[T]:
    """What a function returns for each item, computed by as many processes as can work at the same time.

    Whoever is free takes the next item. What a process that ended early had taken is computed here, and so is
    what failed there: nobody begins another item then, and the error is raised here.
    """
    import multiprocessing

    turns = multiprocessing.get_context("fork").Value("q", 0)
    here = os.getpid()

    def take_turns() -> dict[int, T]:
        results: dict[int, T] = {}
        while True:
            with turns.get_lock():
                turn, turns.value = turns.value, turns.value + 1
            if turn >= len(items):
                return results
            try:
                results[turn] = function(items[turn])
            except Exception:
                turns.value = len(items)
                if os.getpid() == here:
                    raise
                return results

    workers = max(1, min(usable_processors(), len(items)))
    known = {
        turn: each for part in in_processes([take_turns] * workers) for turn, each in (part or {}).items()
    }
    return [known[turn] if turn in known else function(item) for turn, item in enumerate(items)]


def _send(task: Callable[[], object], sender: Connection, held: Connection, rope: Connection) -> None:
    rope.close()
    end_with(held)
    with suppress(KeyboardInterrupt):
        sender.send(task())


def end_with(rope: Connection) -> None:
    """Let this process end at once when the other end of a pipe closes, and at no key that is pressed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        with suppress(EOFError, OSError):
            rope.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _receive(receiver: Connection) -> Any:
    try:
        return receiver.recv()
    except EOFError:
        return None
