"""Workers that are processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, Self

from eval_pipeline.numbers import counted
from eval_pipeline.workers.interface import Done, WorkersLost

MOST_DEATHS = 10
"""So often in a row workers may die before any of them completes a task."""


class _Task(NamedTuple):
    number: int
    function: Callable[[Any], Any]
    argument: Any


class ProcessWorkers:
    """A pool of processes. Where one of them dies, there is a new pool, and what was not done is done there.

    They hold the end of a pipe: when its other end closes, because this process ends in whatever way, so do
    they.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._tasks: dict[Future[Any], _Task] = {}
        self._deaths = 0

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _open(self) -> None:
        # A process that is started anew shares no lock with the threads that are running here.
        context = multiprocessing.get_context("spawn")
        held, self._rope = context.Pipe(duplex=False)
        self._held = held
        self._pool = ProcessPoolExecutor(self._count, context, _end_with, (held,))

    def _close(self) -> None:
        self._rope.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._held.close()

    def submit(self, number: int, function: Callable[[Any], Any], task: Any) -> None:
        """Put a task where the next free process takes it."""
        self._submit(_Task(number, function, task))

    def _submit(self, task: _Task) -> None:
        try:
            future = self._pool.submit(task.function, task.argument)
        except BrokenProcessPool as broken:
            future = Future()
            future.set_exception(broken)
        self._tasks[future] = task

    def completed(self, seconds: float) -> Iterator[Done]:
        """What is done; where a process died, what was not is given to others first."""
        done, _ = wait(self._tasks, timeout=seconds, return_when=FIRST_COMPLETED)
        broken = []
        for future in done:
            task = self._tasks.pop(future)
            if isinstance(future.exception(), BrokenProcessPool):
                broken.append(task)
            else:
                self._deaths = 0
                yield Done(task.number, future.result())
        if broken:
            self._begin_again(broken)

    def _begin_again(self, broken: list[_Task]) -> None:
        self._deaths += 1
        if self._deaths > MOST_DEATHS:
            message = f"{counted(self._deaths, 'time')} in a row a process died before it completed a shard"
            raise WorkersLost(message, "See how much memory there is, or lower processes or cases.")
        self._close()
        waiting = [*broken, *self._tasks.values()]
        self._tasks.clear()
        self._open()
        for task in sorted(waiting, key=lambda each: each.number):
            self._submit(task)


def _end_with(rope: Connection) -> None:
    """Let this process end at once when the other end of a pipe closes."""

    def watch() -> None:
        with suppress(EOFError, OSError):
            rope.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
