"""A budget of calls, tokens and dollars for one run."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from eval_pipeline.engines.calls import BUDGET, NotAsked
from eval_pipeline.engines.fields import Budget
from eval_pipeline.engines.purses import Purses
from eval_pipeline.processes import is_gone

POLL_SECONDS = 0.2
"""How often a call looks whether those of other processes left something for it."""


class Ledger:
    """What was spent of a budget, and what is set aside for calls under way."""

    def __init__(self, budget: Budget | None) -> None:
        budget = budget or Budget()
        allowed = {"calls": budget.calls, "tokens": budget.tokens, "dollars": budget.dollars}
        self.allowed = {what: amount for what, amount in allowed.items() if amount is not None}
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.aside: defaultdict[str, float] = defaultdict(float)
        self.estimated: defaultdict[str, float] = defaultdict(float)
        self.under_way = 0
        self.has_learnt = False

    def lacking(self, estimate: Mapping[str, float]) -> str | None:
        """What there is not enough of for one more call."""
        for what, allowed in self.allowed.items():
            factor = 1.0
            if what != "calls":
                if self.under_way and not self.has_learnt:
                    return what
                if self.estimated[what]:
                    factor = max(1.0, self.spent[what] / self.estimated[what])
            if self.spent[what] + factor * (self.aside[what] + estimate[what]) > allowed:
                return what
        return None

    def refusal(self, what: str) -> NotAsked:
        """Why a call is not made."""
        allowed, spent = self.allowed[what], self.spent[what]
        if spent >= allowed:
            return NotAsked(BUDGET, f"the budget of {allowed:g} {what} for this run is spent")
        rest = f"{spent:g} of the budget of {allowed:g} {what} for this run is spent"
        return NotAsked(BUDGET, f"{rest}; the rest is too little")


class AnyPurse(Protocol):
    """What a run may still spend."""

    def setting_aside(self, tokens: int, dollars: float) -> Spending:
        """Count an estimate for one call until its real cost is known; refused where the budget is spent."""

    async def set_aside(self, estimate: Mapping[str, float]) -> None:
        """Count an estimate as soon as there is enough left for it."""

    async def settle(self, estimate: Mapping[str, float], *, was_made: bool) -> None:
        """Count an estimate no more."""

    def learn(self, estimate: Mapping[str, float], came_to: Mapping[str, float]) -> None:
        """Count what a call came to."""

    async def keep(self) -> None:
        """Keep what is set aside from being taken for that of a process that is gone."""

    async def leave(self) -> None:
        """Nothing is set aside any more."""


class Purse:
    """What a run may still spend. What is under way counts by estimate until it is known.

    Every call that was made counts, whatever became of it. A call waits as long as others under way may turn
    out cheaper than thought. Where tokens or dollars are limited, the first call goes alone: how far the
    estimate was off there, and on average ever after, corrects the next ones.
    """

    def __init__(self, budget: Budget | None) -> None:
        self._ledger = Ledger(budget)
        self.begin()

    def begin(self) -> None:
        """Get ready to be waited for in another loop."""
        self._changed = asyncio.Condition()

    def setting_aside(self, tokens: int, dollars: float) -> Spending:
        """Count an estimate for one call until its real cost is known; refused where the budget is spent."""
        return Spending(self if self._ledger.allowed else None, tokens, dollars)

    async def set_aside(self, estimate: Mapping[str, float]) -> None:
        """Count an estimate as soon as there is enough left for it."""
        ledger = self._ledger
        async with self._changed:
            while (lacking := ledger.lacking(estimate)) and ledger.under_way:
                await self._changed.wait()
            if lacking:
                raise ledger.refusal(lacking)
            self._set_aside(estimate, 1)

    async def settle(self, estimate: Mapping[str, float], *, was_made: bool) -> None:
        """Count an estimate no more."""
        self._set_aside(estimate, -1)
        self._ledger.spent["calls"] += was_made
        async with self._changed:
            self._changed.notify_all()

    def _set_aside(self, estimate: Mapping[str, float], calls: int) -> None:
        self._ledger.under_way += calls
        for what, amount in estimate.items():
            self._ledger.aside[what] += calls * amount

    def learn(self, estimate: Mapping[str, float], came_to: Mapping[str, float]) -> None:
        """Count what a call came to."""
        self._ledger.has_learnt = True
        for what, amount in came_to.items():
            self._ledger.spent[what] += amount
            self._ledger.estimated[what] += estimate[what]

    async def keep(self) -> None:
        """Nobody else counts here."""

    async def leave(self) -> None:
        """Nobody else counts here."""


class SharedPurse:
    """The purse of a run that several processes work on, in the journal's database; the same rules hold.

    What a process set aside that is gone counts as spent: nobody knows whether its calls were made.
    """

    def __init__(
        self,
        budget: Budget | None,
        purses: Purses,
        in_thread: Callable[..., Awaitable[Any]],
        purse: str,
        owner: str,
    ) -> None:
        self._budget = budget
        self._is_limited = bool(Ledger(budget).allowed)
        self._purses = purses
        self._in_thread = in_thread
        self._purse = purse
        self._owner = owner
        self._learnt: dict[int, Mapping[str, float]] = {}

    def setting_aside(self, tokens: int, dollars: float) -> Spending:
        """Count an estimate for one call until its real cost is known; refused where the budget is spent."""
        return Spending(self if self._is_limited else None, tokens, dollars)

    async def set_aside(self, estimate: Mapping[str, float]) -> None:
        """Count an estimate as soon as there is enough left for it."""
        while not await self._in_thread(self._try, estimate):
            await asyncio.sleep(POLL_SECONDS)

    def _try(self, estimate: Mapping[str, float]) -> bool:
        """Whether there is enough left; refused where nothing is under way that may turn out cheaper."""

        def may(sums: Mapping[str, float]) -> bool:
            ledger = Ledger(self._budget)
            for state, amounts in (
                ("aside", ledger.aside),
                ("spent", ledger.spent),
                ("estimated", ledger.estimated),
            ):
                amounts.update({what: sums[f"{state}_{what}"] for what in estimate})
            ledger.under_way = round(ledger.aside["calls"])
            ledger.has_learnt = bool(ledger.estimated["calls"])
            lacking = ledger.lacking(estimate)
            if lacking and not ledger.under_way:
                raise ledger.refusal(lacking)
            return not lacking

        return self._purses.set_aside(self._purse, self._owner, estimate, may, is_gone)

    async def settle(self, estimate: Mapping[str, float], *, was_made: bool) -> None:
        """Count an estimate no more, and what the call came to instead."""
        came_to = self._learnt.pop(id(estimate), None)
        change = {f"aside_{what}": -amount for what, amount in estimate.items()}
        change["spent_calls"] = float(was_made)
        for what, amount in (came_to or {}).items():
            change |= {f"spent_{what}": amount, f"estimated_{what}": estimate[what]}
        if came_to is not None:
            change["estimated_calls"] = 1.0
        await self._in_thread(self._purses.change, self._purse, self._owner, change)

    def learn(self, estimate: Mapping[str, float], came_to: Mapping[str, float]) -> None:
        """Count what a call came to, when it is settled."""
        self._learnt[id(estimate)] = came_to

    async def keep(self) -> None:
        """Keep what is set aside from being taken for that of a process that is gone."""
        if self._is_limited:
            await self._in_thread(self._purses.keep, self._purse, self._owner)

    async def leave(self) -> None:
        """Let what this process spent be counted without it."""
        if self._is_limited:
            await self._in_thread(self._purses.leave, self._purse, self._owner)


class Spending:
    """One call's part of a purse; of none where nothing is limited."""

    __slots__ = ("_estimate", "_purse")

    def __init__(self, purse: AnyPurse | None, tokens: int, dollars: float) -> None:
        self._purse = purse
        self._estimate: dict[str, float] = {"calls": 1, "tokens": tokens, "dollars": dollars}

    async def __aenter__(self) -> Self:
        if self._purse is not None:
            await self._purse.set_aside(self._estimate)
        return self

    def came_to(self, tokens: int, dollars: float) -> None:
        """What the call cost."""
        if self._purse is not None:
            self._purse.learn(self._estimate, {"tokens": tokens, "dollars": dollars})

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._purse is not None:
            await self._purse.settle(self._estimate, was_made=not isinstance(error, NotAsked))
