"""How fast an engine may be asked: at once, and per minute, by all processes together."""

import asyncio
import functools
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from eval_pipeline.engines.buckets import LONGEST_PAUSE
from eval_pipeline.engines.calls import RATE_LIMITED, NotAsked
from eval_pipeline.engines.journal import Journal

TICK_SECONDS = 0.25
LONGEST_WAIT = 120.0
"""Calls to an endpoint that asks for a longer pause fail."""
RELAXATION = 0.5
"""How many more calls at once are tried after one that succeeded. In the long run the endpoint turns away
about one of those under way, however many there are."""
FIRST_PAUSE = 20.0
"""So long a pause is believed that one answer asks for. Every further one doubles it, until a call that was
made later is answered: a single answer that asks for a day does not stop the others."""
SHORTEST_SHOWN = 2.0
"""Shorter waits are not worth a word."""

InThread = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Scope:
    """What limits hold for: an engine, or a suite's share of it."""

    name: str
    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class Entry(NamedTuple):
    """When a call was let go, and how many were under way then."""

    moment: float
    together: int


class Limiter:
    """The limits of one run. Slots and buckets are in the journal's database, where all runs share them."""

    def __init__(self, journal: Journal, in_thread: InThread, owner: str, scopes: Sequence[Scope]) -> None:
        self._journal = journal
        self._in_thread = in_thread
        self._owner = owner
        self._scopes = scopes
        self._per_minute = [scope for scope in scopes if scope.requests_per_minute or scope.tokens_per_minute]
        self._gate = _Gate(min(scope.concurrency for scope in scopes if scope.concurrency is not None))
        self._believed = FIRST_PAUSE
        self._told_at = -math.inf
        self._refilled: dict[str, float] = {}

    @property
    def waiting(self) -> str:
        """What calls wait for, and until when; empty where nobody waits for long."""
        soon = time.time() + SHORTEST_SHOWN
        asked = {f"{self._scopes[0].name} wants to be left alone": self._gate.paused_until}
        used_up = {f"{bucket} per minute are used up": until for bucket, until in self._refilled.items()}
        return ", ".join(
            f"{what} until {moment(until)}" for what, until in (asked | used_up).items() if until > soon
        )

    async def share(self, lease_seconds: float, is_gone: Callable[[str], bool]) -> None:
        """Take a fair share of the slots, and hold it for a while; others may have come or gone."""
        gate = self._gate
        idle = gate.was_idle()
        granted = gate.wanted
        for scope in self._scopes:
            if scope.concurrency is not None:
                # Others get a slot only after this call says that it is no longer held: until it returns,
                # calls are made within what was granted before.
                ask = functools.partial(
                    self._journal.slots.share,
                    scope.name,
                    self._owner,
                    scope.concurrency,
                    wanted=gate.wanted,
                    held=gate.held,
                    idle=idle,
                    seconds=lease_seconds,
                    is_gone=is_gone,
                )
                granted = min(granted, await self._in_thread(ask))
        gate.grant(granted)
        gate.pause(await self._in_thread(self._journal.buckets.paused_until, self._scopes[0].name))

    async def leave(self) -> None:
        """Leave the slots to others."""
        await self._in_thread(self._journal.slots.leave, self._owner)

    async def enter(self, tokens: int) -> Entry:
        """Wait until one more call may be made; its place is held until `exit`."""
        await self._gate.enter()
        if self._per_minute:
            try:
                for scope in self._per_minute:
                    if scope.requests_per_minute is not None:
                        await self._take(f"{scope.name} requests", 1.0, scope.requests_per_minute)
                    if scope.tokens_per_minute is not None:
                        await self._take(f"{scope.name} tokens", float(tokens), scope.tokens_per_minute)
                await self._gate.wait_out_pause()  # one may have begun meanwhile
            except BaseException:
                self._gate.leave()
                raise
        return Entry(time.monotonic(), self._gate.in_use)

    def exit(self) -> None:
        """Make room for the next call."""
        self._gate.leave()

    async def _take(self, bucket: str, amount: float, per_minute: float) -> None:
        # What may come at once and what is refilled within a minute stay below the limit together.
        burst = max(1.0, per_minute / 60)
        while delay := await self._in_thread(
            self._journal.buckets.take, bucket, amount, per_minute - (burst - 1), burst
        ):
            self._refilled[bucket] = time.time() + delay
            await asyncio.sleep(delay)

    async def settle(self, estimated: int, used: int) -> None:
        """Correct what was taken by estimate, once it is known."""
        for scope in self._per_minute:
            if scope.tokens_per_minute is not None and used != estimated:
                await self._in_thread(
                    self._journal.buckets.give_back, f"{scope.name} tokens", float(estimated - used)
                )

    def relax(self, entry: Entry) -> None:
        """A call succeeded: after a back-off, allow a little more at once."""
        if entry.moment > self._told_at:
            self._believed = FIRST_PAUSE
        self._gate.relax()

    def back_off(self, entry: Entry) -> None:
        """The endpoint had too many calls when it got this one: ask fewer at once."""
        self._gate.back_off(entry)

    async def pause(self, seconds: float) -> None:
        """An answer asks everybody to pause; it is believed as far as others bear it out."""
        seconds = min(seconds, self._believed)
        self._believed = min(2 * self._believed, LONGEST_PAUSE)
        self._told_at = time.monotonic()
        self._gate.pause(time.time() + seconds)
        await self._in_thread(self._journal.buckets.pause, self._scopes[0].name, seconds)


def moment(seconds: float) -> str:
    """A moment (seconds since 1970) as a person reads it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


class _Gate:
    """Lets as many through as this process may have under way, first come, first served."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.in_use = 0
        self._granted = 0
        self._bearable = float(wanted)
        self._cut_at = -math.inf
        self.paused_until = 0.0
        self._was_used = True
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def held(self) -> int:
        """How many may be under way until less is granted."""
        return max(self.in_use, self._granted)

    def was_idle(self) -> bool:
        """Whether nobody wanted to enter since this was last asked."""
        was_used, self._was_used = self._was_used, bool(self.in_use or self._waiting)
        return not (was_used or self._was_used)

    async def enter(self) -> None:
        self._was_used = True
        paused = self._remaining_pause()  # no place is needed to be refused
        if not self._waiting and self._free():
            self.in_use += 1
            if not paused:
                return
        else:
            await self._wait_for_turn()
        try:
            await self.wait_out_pause()
        except BaseException:
            self.leave()
            raise

    async def _wait_for_turn(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.leave()  # it was given a place just before
            elif turn in self._waiting:
                self._waiting.remove(turn)
            raise

    async def wait_out_pause(self) -> None:
        while pause := self._remaining_pause():
            await asyncio.sleep(pause)

    def _remaining_pause(self) -> float:
        if not self.paused_until:
            return 0.0
        pause = max(0.0, self.paused_until - time.time())
        if pause > LONGEST_PAUSE:  # the clock was set back
            return 0.0
        if pause > LONGEST_WAIT:
            raise NotAsked(
                RATE_LIMITED, f"the endpoint wants to be left alone until {moment(self.paused_until)}"
            )
        return pause

    def leave(self) -> None:
        self.in_use -= 1
        self._let_in()

    def grant(self, slots: int) -> None:
        self._granted = slots
        self._let_in()

    def pause(self, until: float) -> None:
        self.paused_until = max(self.paused_until, until)

    def relax(self) -> None:
        if self._bearable < self.wanted:
            self._bearable = min(self.wanted, self._bearable + RELAXATION)
            self._let_in()

    def back_off(self, entry: Entry) -> None:
        if entry.moment > self._cut_at:  # calls that were under way together count once
            self._cut_at = time.monotonic()
            together = max(entry.together, self.in_use)
            self._bearable = max(1.0, min(self._bearable, together) / 2)

    def _free(self) -> int:
        return max(0, min(self._granted, int(self._bearable)) - self.in_use)

    def _let_in(self) -> None:
        while self._free() and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_use += 1
                turn.set_result(None)
