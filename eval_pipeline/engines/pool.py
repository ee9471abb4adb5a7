"""Working on many things at once: as many as allowed, and no more in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from enum import Enum
from typing import Final, TypeVar

CANCEL_AGAIN_SECONDS = 0.1

Item = TypeVar("Item")
Result = TypeVar("Result")


class _End(Enum):
    """Comes after the last item."""

    END = 0


_END: Final = _End.END


async def in_parallel(
    items: AsyncIterator[Item], work: Callable[[Item], Awaitable[Result]], concurrency: int
) -> AsyncGenerator[list[Result], None]:
    """Results as they complete, from at most `concurrency` items under way, and as many fetched ahead.

    Each time, all that completed since the last time: who handles them together does so seldom when
    they come thick and fast, and a lone result waits for nobody.
    """
    pending: asyncio.Queue[Item | _End] = asyncio.Queue(concurrency)
    room = asyncio.Semaphore(concurrency)
    ready: asyncio.Queue[Result | None] = asyncio.Queue()
    failures: list[Exception] = []

    async def fetch() -> None:
        async for item in items:
            await pending.put(item)
        await pending.put(_END)

    async def work_on_items() -> None:
        while (item := await pending.get()) is not _END:
            result = await work(item)
            await room.acquire()
            ready.put_nowait(result)
        pending.put_nowait(_END)  # for the next worker

    async def see_to(part: Callable[[], Awaitable[None]]) -> None:
        try:
            await part()
        except Exception as error:
            failures.append(error)
        finally:
            ready.put_nowait(None)  # without waiting: nobody may be taking results any more

    workers = [asyncio.create_task(see_to(part)) for part in (fetch, *[work_on_items] * concurrency)]
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
