"""Workers that are processes of this machine."""

from __future__ import annotations

import multiprocessing
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Self

from eval_pipeline.numbers import counted
from eval_pipeline.processes import end_with
from eval_pipeline.workers.interface import Done, Task, WorkersLost

MOST_DEATHS = 5
"""So often a process may die of a task before nobody else is given it."""
AHEAD = 2
"""So many tasks a process has at most: the one it is at, and the next, so that it never waits for it."""


class ProcessWorkers:
    """So many processes. In the place of one that dies comes another, which does what was not done."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._waiting: deque[Task] = deque()
        self._deaths: Counter[int] = Counter()

    def __enter__(self) -> Self:
        self._workers = [_Worker() for _ in range(self._count)]
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()

    def submit(self, number: int, function: Callable[[Any], Any], task: Any) -> None:
        """Put a task where the next free process takes it."""
        self._waiting.append(Task(number, function, task))
        self._hand_out()

    def _hand_out(self) -> None:
        """Let every process have its next task, those first that have the fewest."""
        for ahead in range(AHEAD):
            for worker in self._workers:
                if self._waiting and len(worker.tasks) == ahead:
                    worker.take(self._waiting.popleft())

    def completed(self, seconds: float) -> Iterator[Done]:
        """What is done; what a process had that died is given to others first."""
        futures = [future for worker in self._workers for future in worker.tasks]
        wait(futures, timeout=seconds, return_when=FIRST_COMPLETED)
        for place, worker in enumerate(self._workers):
            for future in [each for each in worker.tasks if each.done()]:
                if isinstance(future.exception(), BrokenProcessPool):
                    self._workers[place] = self._replaced(worker)
                    break
                yield Done(worker.tasks.pop(future).number, future.result())
        self._hand_out()

    def _replaced(self, worker: _Worker) -> _Worker:
        worker.end()
        tasks = sorted(worker.tasks.values(), key=lambda each: each.number)
        self._deaths[tasks[0].number] += 1
        if self._deaths[tasks[0].number] > MOST_DEATHS:
            message = f"a shard's process died {counted(MOST_DEATHS + 1, 'time')}"
            raise WorkersLost(message, "See how much memory there is, or lower processes or cases.")
        self._waiting.extendleft(reversed(tasks))
        return _Worker()


class _Worker:
    """One process, which is started with its first task.

    It holds the end of a pipe: when its other end closes, because who started it ends in whatever way, so
    does it.
    """

    def __init__(self) -> None:
        # A process that is started anew shares no lock with the threads that are running here.
        context = multiprocessing.get_context("spawn")
        self._held, self._rope = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(1, context, end_with, (self._held,))
        self.tasks: dict[Future[Any], Task] = {}

    def take(self, task: Task) -> None:
        try:
            future = self._pool.submit(task.function, task.argument)
        except BrokenProcessPool as broken:
            future = Future()
            future.set_exception(broken)
        self.tasks[future] = task

    def end(self) -> None:
        self._rope.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._held.close()
