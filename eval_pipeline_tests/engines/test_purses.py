"""A budget that several processes share: together they spend no more than one would."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from eval_pipeline.engines import Journal
from eval_pipeline.engines.budget import SharedPurse
from eval_pipeline.engines.calls import NotAsked
from eval_pipeline.engines.fields import Budget
from eval_pipeline_tests.engines.journals import Clock


async def at_once(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def purse(journal: Journal, owner: str, budget: Budget) -> SharedPurse:
    return SharedPurse(budget, journal.purses, at_once, "run remote", owner)


async def call(of: SharedPurse, tokens: int, came_to: int) -> None:
    async with of.setting_aside(tokens, 0.0) as spending:
        spending.came_to(came_to, 0.0)


def test_calls_of_all_processes_count(journal: Journal) -> None:
    async def ask() -> int:
        one, other = (purse(journal, name, Budget(calls=3)) for name in ("one", "other"))
        await call(one, 1, 1)
        await call(other, 1, 1)
        await one.leave()
        await call(other, 1, 1)
        with pytest.raises(NotAsked, match="the budget of 3 calls for this run is spent"):
            await call(purse(journal, "third", Budget(calls=3)), 1, 1)
        return 3

    assert asyncio.run(ask()) == 3


def test_estimates_that_were_off_correct_those_of_other_processes(journal: Journal) -> None:
    async def ask() -> None:
        one, other = (purse(journal, name, Budget(tokens=100)) for name in ("one", "other"))
        await call(one, 10, 40)
        await call(other, 10, 40)  # 40 + 4 × 10 are left
        with pytest.raises(NotAsked, match="80 of the budget of 100 tokens"):
            await call(one, 10, 40)

    asyncio.run(ask())


def test_a_call_waits_for_those_of_others_that_may_turn_out_cheaper(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_pipeline.engines.budget.POLL_SECONDS", 0.001)

    async def ask() -> list[str]:
        one, other = (purse(journal, name, Budget(tokens=100)) for name in ("one", "other"))
        done: list[str] = []

        async def second() -> None:
            await call(other, 60, 10)
            done.append("second")

        async with one.setting_aside(60, 0.0) as spending:
            waiting = asyncio.create_task(second())
            await asyncio.sleep(0.02)
            done.append("first")
            spending.came_to(10, 0.0)
        await waiting
        return done

    assert asyncio.run(ask()) == ["first", "second"]


def test_what_a_process_had_set_aside_that_is_gone_counts_as_spent(journal: Journal, clock: Clock) -> None:
    async def ask() -> None:
        gone, other = (purse(journal, name, Budget(calls=2)) for name in ("gone", "other"))
        await gone.set_aside({"calls": 1, "tokens": 1, "dollars": 0.0})
        clock.now += 61
        await call(other, 1, 1)
        with pytest.raises(NotAsked, match="is spent"):
            await call(other, 1, 1)

    asyncio.run(ask())


def test_no_limit_touches_no_database(journal: Journal) -> None:
    unlimited = SharedPurse(None, None, at_once, "run remote", "one")  # type: ignore[arg-type]
    asyncio.run(call(unlimited, 1, 1))


def test_old_purses_are_forgotten(journal: Journal, clock: Clock) -> None:
    asyncio.run(call(purse(journal, "one", Budget(calls=1)), 1, 1))
    clock.now += 8 * 24 * 3600
    journal.begin_run("another")
    asyncio.run(call(purse(journal, "one", Budget(calls=1)), 1, 1))
