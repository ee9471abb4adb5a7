"""Processes of this machine: work in several of them, and whether one is still there."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")

MOST_PROCESSES = 4


def this_process() -> str:
    """A name for this process that no other machine's process has."""
    return f"{socket.gethostname()}/{os.getpid()}"


def is_gone(process: str) -> bool:
    """Whether a process of that name, or of one that goes on after a slash, was here and is no more."""
    host, _, rest = process.partition("/")
    pid = rest.partition("/")[0]
    if host != socket.gethostname() or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def usable_processors() -> int:
    """How many processes can work at the same time; one where a process cannot be forked cheaply."""
    return min(MOST_PROCESSES, len(os.sched_getaffinity(0))) if sys.platform == "linux" else 1


def in_processes(tasks: Sequence[Callable[[], T]]) -> list[T | None]:
    """What tasks return: the first runs here, each other one in a process that inherits all there is.

    None stands for a task whose process ended without a result.
    """
    import multiprocessing

    context = multiprocessing.get_context("fork")
    children = []
    for task in tasks[1:]:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(task, sender), daemon=True)
        process.start()
        sender.close()
        children.append((process, receiver))
    try:
        return [tasks[0](), *(_receive(receiver) for _, receiver in children)]
    finally:
        for process, receiver in children:
            receiver.close()
            process.kill()
            process.join()


def _send(task: Callable[[], object], sender: Connection) -> None:
    sender.send(task())


def _receive(receiver: Connection) -> Any:
    try:
        return receiver.recv()
    except EOFError:
        return None
