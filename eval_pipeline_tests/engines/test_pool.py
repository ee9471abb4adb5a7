"""Working on many things at once: nothing is lost, nothing is left running, nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from eval_pipeline.engines.pool import in_parallel

CONCURRENCY = 10


async def numbers(count: int) -> AsyncIterator[int]:
    for number in range(count):
        yield number


def test_every_result_comes_once_and_no_more_are_under_way_than_allowed() -> None:
    under_way = most = 0

    async def work(number: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.0001 * (number % 7))
        under_way -= 1
        return number

    async def collect() -> list[int]:
        return [each async for found in in_parallel(numbers(300), work, CONCURRENCY) for each in found]

    assert sorted(asyncio.run(collect())) == list(range(300))
    assert most == CONCURRENCY


def test_who_takes_no_more_results_does_not_wait_for_those_that_are_ready() -> None:
    async def work(number: int) -> int:
        await asyncio.sleep(0.0001)
        return number

    async def stop_early() -> None:
        async with aclosing(in_parallel(numbers(1000), work, CONCURRENCY)) as results:
            async for _ in results:
                await asyncio.sleep(0.02)  # meanwhile results pile up
                raise InterruptedError

    with pytest.raises(InterruptedError):
        asyncio.run(asyncio.wait_for(stop_early(), 20))


def test_a_failure_brings_the_whole_down_with_its_own_error() -> None:
    async def work(number: int) -> int:
        if number == 30:
            raise ValueError("thirty")
        await asyncio.sleep(0.0001)
        return number

    async def collect() -> None:
        async for _ in in_parallel(numbers(1000), work, CONCURRENCY):
            pass
        raise AssertionError("it went through")

    with pytest.raises(ValueError, match="thirty"):
        asyncio.run(asyncio.wait_for(collect(), 20))


def test_work_that_ignores_being_cancelled_once_ends_all_the_same() -> None:
    async def work(number: int) -> int:
        try:
            await asyncio.sleep(0.001 if number == 0 else 60)
        except asyncio.CancelledError:
            if number % 2:
                raise
        return number

    async def stop_early() -> None:
        async with aclosing(in_parallel(numbers(1000), work, CONCURRENCY)) as results:
            async for _ in results:
                raise InterruptedError

    with pytest.raises(InterruptedError):
        asyncio.run(asyncio.wait_for(stop_early(), 20))


def test_work_that_is_cancelled_from_within_brings_the_whole_down() -> None:
    async def work(number: int) -> int:
        if number == 3:
            raise asyncio.CancelledError
        return number

    async def collect(concurrency: int) -> None:
        async for _ in in_parallel(numbers(100), work, concurrency):
            pass
        raise AssertionError("it went through")

    for concurrency in (1, 2, CONCURRENCY):
        with pytest.raises(RuntimeError, match="cancelled"):
            asyncio.run(asyncio.wait_for(collect(concurrency), 20))


def test_what_is_complete_is_given_out_before_a_failure() -> None:
    async def work(number: int) -> int:
        if number == 5:
            await asyncio.sleep(0)
            raise ValueError("five")
        return number

    given: list[int] = []

    async def collect() -> None:
        async for results in in_parallel(numbers(100), work, CONCURRENCY):
            given.extend(results)

    with pytest.raises(ValueError, match="five"):
        asyncio.run(asyncio.wait_for(collect(), 20))
    assert set(given) >= {0, 1, 2, 3, 4}


def test_items_that_fail_bring_the_whole_down_after_what_was_complete() -> None:
    async def failing() -> AsyncIterator[int]:
        for number in range(5):
            yield number
        raise ValueError("no more")

    async def work(number: int) -> int:
        return number

    given: list[int] = []

    async def collect() -> None:
        async for results in in_parallel(failing(), work, CONCURRENCY):
            given.extend(results)

    with pytest.raises(ValueError, match="no more"):
        asyncio.run(asyncio.wait_for(collect(), 20))
    assert sorted(given) == [0, 1, 2, 3, 4]


def test_no_more_are_under_way_or_unhandled_than_allowed() -> None:
    begun = handled = 0

    async def work(number: int) -> int:
        nonlocal begun
        begun += 1
        assert begun - handled <= CONCURRENCY
        await asyncio.sleep(0)
        return number

    async def collect() -> None:
        nonlocal handled
        async for results in in_parallel(numbers(200), work, CONCURRENCY):
            await asyncio.sleep(0.001)
            handled += len(results)

    asyncio.run(asyncio.wait_for(collect(), 20))
    assert handled == 200
