"""Working on many things at once: as many as allowed, and no more in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TypeVar

CANCEL_AGAIN_SECONDS = 0.1

Item = TypeVar("Item")
Result = TypeVar("Result")


async def in_parallel(
    items: AsyncIterator[Item], work: Callable[[Item], Awaitable[Result]], concurrency: int
) -> AsyncGenerator[list[Result], None]:
    """Results as they complete, from at most `concurrency` items under way.

    Each time, all that completed since the last time: who handles them together does so seldom when
    they come thick and fast, and a lone result waits for nobody.
    """
    turn = asyncio.Lock()
    room = asyncio.Semaphore(concurrency)
    ready: asyncio.Queue[Result | None] = asyncio.Queue()
    failures: list[Exception] = []

    async def work_on_items() -> None:
        while True:
            async with turn:
                try:
                    item = await anext(items)
                except StopAsyncIteration:
                    return
            result = await work(item)
            await room.acquire()
            ready.put_nowait(result)

    async def do_work() -> None:
        try:
            await work_on_items()
        except Exception as error:
            failures.append(error)
        finally:
            ready.put_nowait(None)  # without waiting: nobody may be taking results any more

    workers = [asyncio.create_task(do_work()) for _ in range(concurrency)]
    running = len(workers)
    try:
        while running:
            found = [await ready.get()]
            while not ready.empty():
                found.append(ready.get_nowait())
            running -= found.count(None)
            if failures:  # one brings the whole down at once
                raise failures[0]
            results = [each for each in found if each is not None]
            for _ in results:
                room.release()
            if results:
                yield results
    finally:
        # Again and again: work that has just ended may not notice, and go on to the next.
        while unfinished := [worker for worker in workers if not worker.done()]:
            for worker in unfinished:
                worker.cancel()
            await asyncio.wait(unfinished, timeout=CANCEL_AGAIN_SECONDS)
