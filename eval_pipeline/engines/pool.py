"""Working on many requests at once: as many as allowed, and no more in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Executor
from typing import Generic, TypeVar

from eval_pipeline.answers import Answer
from eval_pipeline.engines import Request

Item = TypeVar("Item")
Result = TypeVar("Result")


async def answer_all(
    requests: AsyncIterator[Request], answer: Callable[[Request], Awaitable[Answer]], concurrency: int
) -> AsyncIterator[Answer]:
    """Answers as they complete, from at most `concurrency` requests under way."""
    turn = asyncio.Lock()
    ready: asyncio.Queue[Answer | None] = asyncio.Queue(maxsize=concurrency)

    async def work() -> None:
        try:
            while True:
                async with turn:
                    request = await anext(requests, None)
                if request is None:
                    return
                await ready.put(await answer(request))
        finally:
            await ready.put(None)

    workers = [asyncio.create_task(work()) for _ in range(concurrency)]
    try:
        running = len(workers)
        while running:
            done = await ready.get()
            if done is None:
                running -= 1
                # A worker that failed brings the whole run down at once, with its own error.
                for worker in workers:
                    if worker.done() and not worker.cancelled() and (error := worker.exception()):
                        raise error
            else:
                yield done
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


class Batcher(Generic[Item, Result]):
    """Hands what arrives while a batch is being worked on to the next batch, in one thread.

    So one transaction serves many calls when they come thick and fast, and a lone call waits for nobody.
    """

    def __init__(self, work: Callable[[Sequence[Item]], Sequence[Result]], executor: Executor) -> None:
        self._work = work
        self._executor = executor
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._task: asyncio.Task[None] | None = None

    async def submit(self, item: Item) -> Result:
        """The result for an item, when its batch is through."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain())
        return await future

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                results = await loop.run_in_executor(self._executor, self._work, [item for item, _ in batch])
            except Exception as error:  # everyone who waits for this batch learns of it
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), result in zip(batch, results, strict=True):
                if not future.done():
                    future.set_result(result)
