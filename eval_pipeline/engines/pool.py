"""Working on many things at once: as many as allowed, and no more in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def in_parallel(
    items: AsyncIterator[Item], work: Callable[[Item], Awaitable[Result]], concurrency: int
) -> AsyncIterator[list[Result]]:
    """Results as they complete, from at most `concurrency` items under way.

    Each time, all that completed since the last time: who handles them together does so seldom when
    they come thick and fast, and a lone result waits for nobody.
    """
    turn = asyncio.Lock()
    ready: asyncio.Queue[Result | None] = asyncio.Queue(maxsize=concurrency)

    async def do_work() -> None:
        try:
            while True:
                async with turn:
                    try:
                        item = await anext(items)
                    except StopAsyncIteration:
                        return
                await ready.put(await work(item))
        finally:
            await ready.put(None)

    workers = [asyncio.create_task(do_work()) for _ in range(concurrency)]
    running = len(workers)
    try:
        while running:
            found = [await ready.get()]
            while not ready.empty():
                found.append(ready.get_nowait())
            if None in found:
                running -= found.count(None)
                # A worker that failed brings the whole down at once, with its own error.
                for worker in workers:
                    if worker.done() and not worker.cancelled() and (error := worker.exception()):
                        raise error
            if results := [each for each in found if each is not None]:
                yield results
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
