"""Whether an endpoint is there, as far as all processes of a run know together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from eval_pipeline.engines import Journal
from eval_pipeline.engines.calls import CONNECTION, REJECTED, CallFailed, NotAsked
from eval_pipeline.engines.health import FAILURES_IN_A_ROW, Health, SharedHealth


async def at_once(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def failure(kind: str = CONNECTION) -> CallFailed:
    return CallFailed(kind, "no")


def processes(journal: Journal) -> tuple[SharedHealth, SharedHealth]:
    one, other = (SharedHealth(1, journal.health, at_once, "run remote") for _ in range(2))
    return one, other


def fail(health: Health, times: int) -> None:
    for _ in range(times):
        health.went_badly(failure(), is_last=True)
        asyncio.run(health.share())


def test_failures_of_several_processes_prove_an_endpoint_dead(journal: Journal) -> None:
    one, other = processes(journal)
    fail(one, FAILURES_IN_A_ROW // 2)
    fail(other, FAILURES_IN_A_ROW // 2 - 1)
    other.stop_if_dead()
    fail(other, 1)
    for each in (other, *processes(journal)):
        asyncio.run(each.share())
        with pytest.raises(NotAsked, match=f"{FAILURES_IN_A_ROW} cases in a row"):
            each.stop_if_dead()


def test_an_answer_to_one_process_clears_the_endpoint_for_all(journal: Journal) -> None:
    one, other = processes(journal)
    fail(one, FAILURES_IN_A_ROW - 1)
    other.went_well()
    asyncio.run(other.share())
    asyncio.run(one.share())
    fail(one, 1)
    one.stop_if_dead()
    assert not one.is_in_doubt


def test_who_says_no_is_there(journal: Journal) -> None:
    one, other = processes(journal)
    fail(one, FAILURES_IN_A_ROW)
    other.went_badly(failure(REJECTED), is_last=True)
    asyncio.run(other.share())
    asyncio.run(one.share())
    one.stop_if_dead()


def test_what_fails_while_others_are_told_is_counted_once(journal: Journal) -> None:
    one, other = processes(journal)

    async def fail_at_once() -> None:
        async def each() -> None:
            one.went_badly(failure(), is_last=True)
            await one.share()

        await asyncio.gather(*(each() for _ in range(7)))

    asyncio.run(fail_at_once())
    asyncio.run(other.share())
    fail(other, FAILURES_IN_A_ROW - 8)
    other.stop_if_dead()
    fail(other, 1)
    with pytest.raises(NotAsked):
        other.stop_if_dead()
