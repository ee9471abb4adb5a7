"""Work in several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeVar

T = TypeVar("T")

MOST_PROCESSES = 4


def usable_processors() -> int:
    """How many processes can work at the same time; one where a process cannot be forked cheaply."""
    return min(MOST_PROCESSES, len(os.sched_getaffinity(0))) if sys.platform == "linux" else 1


def in_processes(tasks: Sequence[Callable[[], T]]) -> list[T | None]:
    """What tasks return: the first runs here, each other one in a process that inherits all there is.

    None stands for a task whose process ended without a result.
    """
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
