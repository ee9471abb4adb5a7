"""Working on many things at once: as many as allowed, and no more in memory."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from enum import Enum
from typing import Final, Generic, TypeVar

CANCEL_AGAIN_SECONDS = 0.1

Item = TypeVar("Item")
Result = TypeVar("Result")


class _End(Enum):
    """Comes after the last item."""

    END = 0


_END: Final = _End.END


class _Round(Generic[Result]):
    """Results that are handled together."""

    def __init__(self) -> None:
        self.results: list[Result] = []
        self.handled = asyncio.get_running_loop().create_future()


async def in_parallel(
    items: AsyncIterator[Item], work: Callable[[Item], Awaitable[Result]], concurrency: int
) -> AsyncGenerator[list[Result], None]:
    """Results as they complete, from at most `concurrency` items under way, and as many fetched ahead.

    An item is under way until its result is handled, which it is when the next ones are asked for. They
    are all that completed since the last time: who handles them together does so seldom when they come
    thick and fast, and a lone result waits for nobody.
    """
    pending: asyncio.Queue[Item | _End] = asyncio.Queue(concurrency)
    stirred = asyncio.Event()
    failures: list[Exception] = []
    stopping = False
    current: _Round[Result] = _Round()

    async def fetch() -> None:
        async for item in items:
            await pending.put(item)
        await pending.put(_END)

    async def work_on_items() -> None:
        while (item := await pending.get()) is not _END:
            result = await work(item)
            mine = current
            mine.results.append(result)
            stirred.set()
            await mine.handled
        pending.put_nowait(_END)  # for the next worker

    async def see_to(part: Callable[[], Awaitable[None]]) -> None:
        try:
            await part()
        except Exception as error:
            failures.append(error)
        except asyncio.CancelledError:
            if not stopping:
                failures.append(RuntimeError("what was worked on was cancelled"))
            raise
        finally:
            stirred.set()

    workers = [asyncio.create_task(see_to(part)) for part in (fetch, *[work_on_items] * concurrency)]
    try:
        while current.results or not all(worker.done() for worker in workers):
            await stirred.wait()
            stirred.clear()
            if current.results:
                finished, current = current, _Round()
                yield finished.results
                if not failures:
                    finished.handled.set_result(None)
            if failures:  # one brings the whole down, but nothing that was complete
                raise failures[0]
    finally:
        stopping = True
        # Again and again: work that has just ended may not notice, and go on to the next.
        while unfinished := [worker for worker in workers if not worker.done()]:
            for worker in unfinished:
                worker.cancel()
            await asyncio.wait(unfinished, timeout=CANCEL_AGAIN_SECONDS)
