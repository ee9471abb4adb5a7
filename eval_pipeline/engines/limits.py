"""How fast an engine may be asked: at once, and per minute, by all processes together."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from eval_pipeline.engines.calls import RATE_LIMITED, NotAsked
from eval_pipeline.engines.journal import Journal

TICK_SECONDS = 0.25
LONGEST_WAIT = 120.0
"""An endpoint that asks to be left alone for longer is not waited for."""

InThread = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Scope:
    """What limits hold for: an engine, or a suite's share of it."""

    name: str
    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class Limiter:
    """The limits of one run. Slots and buckets are in the journal's database, where all runs share them."""

    def __init__(self, journal: Journal, in_thread: InThread, owner: str, scopes: Sequence[Scope]) -> None:
        self._journal = journal
        self._in_thread = in_thread
        self._owner = owner
        self._scopes = scopes
        self._gate = _Gate(min(scope.concurrency for scope in scopes if scope.concurrency is not None))

    async def share(self, lease_seconds: float, is_gone: Callable[[str], bool]) -> None:
        """Take a fair share of the slots, and hold it for a while; others may have come or gone."""
        granted = self._gate.wanted
        for scope in self._scopes:
            if scope.concurrency is not None:
                slots = await self._in_thread(
                    self._journal.share,
                    scope.name,
                    self._owner,
                    self._gate.wanted,
                    self._gate.in_use,
                    scope.concurrency,
                    lease_seconds,
                    is_gone,
                )
                granted = min(granted, slots)
        self._gate.grant(granted)
        self._gate.pause(await self._in_thread(self._journal.paused_until, self._scopes[0].name))

    async def leave(self) -> None:
        """Leave the slots to others."""
        await self._in_thread(self._journal.leave, self._owner)

    async def enter(self, tokens: int) -> None:
        """Wait until one more call may be made; its place is held until `exit`."""
        await self._gate.enter()
        try:
            for scope in self._scopes:
                if scope.requests_per_minute is not None:
                    await self._take(f"{scope.name} requests", 1.0, scope.requests_per_minute)
                if scope.tokens_per_minute is not None:
                    await self._take(f"{scope.name} tokens", float(tokens), scope.tokens_per_minute)
        except BaseException:
            self._gate.leave()
            raise

    def exit(self) -> None:
        """Make room for the next call."""
        self._gate.leave()

    async def _take(self, bucket: str, amount: float, per_minute: float) -> None:
        # What may come at once and what is refilled within a minute stay below the limit together.
        burst = max(1.0, per_minute / 60)
        while delay := await self._in_thread(
            self._journal.take, bucket, amount, per_minute - (burst - 1), burst
        ):
            await asyncio.sleep(delay)

    async def settle(self, estimated: int, used: int) -> None:
        """Correct what was taken by estimate, once it is known."""
        for scope in self._scopes:
            if scope.tokens_per_minute is not None and used != estimated:
                await self._in_thread(
                    self._journal.give_back, f"{scope.name} tokens", float(estimated - used)
                )

    def relax(self) -> None:
        """A call went through: after a back-off, dare a little more."""
        self._gate.relax()

    async def back_off(self, retry_after: float | None) -> None:
        """The endpoint had too many calls: ask fewer at once, and nobody before the moment it names."""
        self._gate.back_off()
        if retry_after:
            until = time.time() + retry_after
            self._gate.pause(until)
            await self._in_thread(self._journal.pause, self._scopes[0].name, until)


class _Gate:
    """Lets as many through as this process may have under way."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.in_use = 0
        self._granted = 0
        self._bearable = float(wanted)
        self._cut_at = 0.0
        self._paused_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        while True:
            pause = self._paused_until - time.time()
            if pause > LONGEST_WAIT:
                raise NotAsked(RATE_LIMITED, f"the endpoint wants to be left alone for {pause:.0f} s")
            if pause > 0:
                await asyncio.sleep(pause)
            elif self._free():
                self.in_use += 1
                return
            else:
                turn = asyncio.get_running_loop().create_future()
                self._waiting.append(turn)
                await turn

    def leave(self) -> None:
        self.in_use -= 1
        self._wake()

    def grant(self, slots: int) -> None:
        self._granted = slots
        self._wake()

    def pause(self, until: float) -> None:
        self._paused_until = max(self._paused_until, until)

    def relax(self) -> None:
        if self._bearable < self.wanted:
            self._bearable = min(self.wanted, self._bearable + 1 / self._bearable)
            self._wake()

    def back_off(self) -> None:
        if time.monotonic() - self._cut_at > 1:  # calls that were under way together count once
            self._cut_at = time.monotonic()
            self._bearable = max(1.0, min(self._bearable, self.in_use) / 2)

    def _free(self) -> int:
        return max(0, min(self._granted, int(self._bearable)) - self.in_use)

    def _wake(self) -> None:
        free = self._free()
        while free and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
