"""A budget of calls, tokens and dollars for one run."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from eval_pipeline.engines.calls import BUDGET, NotAsked
from eval_pipeline.engines.fields import Budget


class Purse:
    """What a run may still spend. What is under way counts by estimate until it is known.

    Every call that was made counts, whatever became of it. A call waits as long as others under way may turn
    out cheaper than thought. Where tokens or dollars are limited, the first call goes alone: how far the
    estimate was off there, and on average ever after, corrects the next ones.
    """

    def __init__(self, budget: Budget | None) -> None:
        budget = budget or Budget()
        allowed = {"calls": budget.calls, "tokens": budget.tokens, "dollars": budget.dollars}
        self._allowed = {what: amount for what, amount in allowed.items() if amount is not None}
        self._spent: defaultdict[str, float] = defaultdict(float)
        self._aside: defaultdict[str, float] = defaultdict(float)
        self._estimated: defaultdict[str, float] = defaultdict(float)
        self._under_way = 0
        self._has_learnt = False
        self.begin()

    def begin(self) -> None:
        """Get ready to be waited for in another loop."""
        self._changed = asyncio.Condition()

    def setting_aside(self, tokens: int, dollars: float) -> _Spending:
        """Count an estimate for one call until its real cost is known; refused where the budget is spent."""
        return _Spending(self if self._allowed else None, tokens, dollars)

    async def set_aside(self, estimate: Mapping[str, float]) -> None:
        """Count an estimate as soon as there is enough left for it."""
        async with self._changed:
            while (lacking := self._lacking(estimate)) and self._under_way:
                await self._changed.wait()
            if lacking:
                raise NotAsked(BUDGET, self._refusal(lacking))
            self._set_aside(estimate, 1)

    async def settle(self, estimate: Mapping[str, float], *, was_made: bool) -> None:
        """Count an estimate no more."""
        self._set_aside(estimate, -1)
        self._spent["calls"] += was_made
        async with self._changed:
            self._changed.notify_all()

    def _set_aside(self, estimate: Mapping[str, float], calls: int) -> None:
        self._under_way += calls
        for what, amount in estimate.items():
            self._aside[what] += calls * amount

    def _lacking(self, estimate: Mapping[str, float]) -> str | None:
        """What there is not enough of for one more call."""
        for what, allowed in self._allowed.items():
            factor = 1.0
            if what != "calls":
                if self._under_way and not self._has_learnt:
                    return what
                if self._estimated[what]:
                    factor = max(1.0, self._spent[what] / self._estimated[what])
            if self._spent[what] + factor * (self._aside[what] + estimate[what]) > allowed:
                return what
        return None

    def _refusal(self, what: str) -> str:
        allowed, spent = self._allowed[what], self._spent[what]
        if spent >= allowed:
            return f"the budget of {allowed:g} {what} for this run is spent"
        return f"{spent:g} of the budget of {allowed:g} {what} for this run is spent; the rest is too little"

    def learn(self, estimate: Mapping[str, float], came_to: Mapping[str, float]) -> None:
        """Count what a call came to."""
        self._has_learnt = True
        for what, amount in came_to.items():
            self._spent[what] += amount
            self._estimated[what] += estimate[what]


class _Spending:
    """One call's part of a purse; of none where nothing is limited."""

    __slots__ = ("_estimate", "_purse")

    def __init__(self, purse: Purse | None, tokens: int, dollars: float) -> None:
        self._purse = purse
        self._estimate = {"calls": 1, "tokens": tokens, "dollars": dollars}

    async def __aenter__(self) -> Self:
        if self._purse is not None:
            await self._purse.set_aside(self._estimate)
        return self

    def came_to(self, tokens: int, dollars: float) -> None:
        if self._purse is not None:
            self._purse.learn(self._estimate, {"tokens": tokens, "dollars": dollars})

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._purse is not None:
            await self._purse.settle(self._estimate, was_made=not isinstance(error, NotAsked))
