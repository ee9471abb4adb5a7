"""Workers of a Dask cluster."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from eval_pipeline.numbers import counted
from eval_pipeline.problems import bad_value
from eval_pipeline.workers.interface import Done, Task, WorkersLost

if TYPE_CHECKING:
    from distributed import Future

CONNECT_SECONDS = 10.0
LONGEST_ABSENCE = 30.0
"""So long a cluster may be without a worker."""
MOST_DEATHS = 3
"""So often a task may be given up by the scheduler, each time after it killed several workers."""
_NOT_UNDERSTOOD = "deserialization of the task graph"
_GO_ON = "Then run again: what was done is not done again."


class DaskWorkers:
    """A cluster, by the address of its scheduler."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._tasks: dict[Future[Any], Task] = {}
        self._deaths: Counter[int] = Counter()
        self._seen = time.monotonic()

    def __enter__(self) -> Self:
        try:
            from distributed import Client
        except ImportError:
            remedy = "Run: pip install 'eval-pipeline[dask]'"
            raise bad_value("shards.dask", "needs the package distributed", remedy) from None
        try:
            self._client = Client(self._address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, RuntimeError) as error:
            reason = str(error).partition("\n")[0]
            message = f"the scheduler at {self._address} cannot be reached: {reason}"
            raise WorkersLost(message, "See that it runs, or correct the address.") from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._client.status == "running":
            self._client.cancel(list(self._tasks), force=True)
        self._client.close(timeout=CONNECT_SECONDS)

    def submit(self, number: int, function: Callable[[Any], Any], task: Any) -> None:
        """Hand a task to the scheduler."""
        self._submit(Task(number, function, task))

    def _submit(self, task: Task) -> None:
        # A result belongs to one run: nobody else's with the same arguments is taken for it.
        future = self._client.submit(task.function, task.argument, pure=False, priority=-task.number)
        self._tasks[future] = task

    def completed(self, seconds: float) -> Iterator[Done]:
        """What is done; a task whose worker or scheduler is gone is handed in again."""
        self._await_one(seconds)
        if not self._is_connected:
            return
        settled = [each for each in self._tasks if each.status != "pending"]
        if not settled:
            self._stop_if_deserted()
        for future in settled:
            task = self._tasks.pop(future)
            if future.status == "finished":
                yield Done(task.number, future.result())
            else:
                self._submit_again(task, future)

    def _await_one(self, seconds: float) -> None:
        from distributed import wait
        from distributed.client import FuturesCancelledError

        if not self._is_connected:
            time.sleep(seconds)
            return
        with suppress(TimeoutError, FuturesCancelledError, OSError), self._client.as_current():
            # Whatever becomes of waiting, the state of each future tells.
            wait(list(self._tasks), timeout=seconds, return_when="FIRST_COMPLETED")

    @property
    def _is_connected(self) -> bool:
        """Whether the scheduler can be talked to; the client looks for it for a while before it gives up."""
        if self._client.status in ("closing", "closed"):
            message = f"the scheduler at {self._address} is gone"
            raise WorkersLost(message, f"Start it again. {_GO_ON}")
        return bool(self._client.status == "running")

    def _submit_again(self, task: Task, future: Future[Any]) -> None:
        from distributed.scheduler import KilledWorker

        error = future.exception() if future.status == "error" else None
        if isinstance(error, RuntimeError) and _NOT_UNDERSTOOD in str(error):
            message = f"the scheduler at {self._address} does not know the packages of this project"
            raise WorkersLost(message, f"Install them where it runs, and restart it. {_GO_ON}")
        if error is not None and not isinstance(error, KilledWorker):
            raise error
        self._deaths[task.number] += error is not None
        if self._deaths[task.number] > MOST_DEATHS:
            message = f"a shard lost its workers {counted(self._deaths[task.number], 'time')}"
            raise WorkersLost(message, f"Look at their logs, and at their memory. {_GO_ON}")
        self._submit(task)

    def _stop_if_deserted(self) -> None:
        """Say so where all workers stay away."""
        try:
            there = bool(self._client.scheduler_info(n_workers=1)["workers"])
        except OSError:
            return  # it is the scheduler that is gone, which the client will notice
        if there:
            self._seen = time.monotonic()
        elif time.monotonic() - self._seen > LONGEST_ABSENCE:
            message = f"the cluster at {self._address} has no worker"
            raise WorkersLost(message, f"Start some: dask worker {self._address} --nthreads 1. {_GO_ON}")
