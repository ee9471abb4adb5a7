"""Metered engines: every call journaled, limited, retried, and never paid for twice."""

from __future__ import annotations

import asyncio
import datetime
import functools
import random
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from eval_pipeline.answers import TIMEOUT, Answer, Trials
from eval_pipeline.engines.budget import AnyPurse, Purse, SharedPurse
from eval_pipeline.engines.calls import (
    DENIED,
    MALFORMED,
    RATE_LIMITED,
    REJECTED,
    TOO_LARGE,
    CallFailed,
    Client,
    NotAsked,
    Reply,
    withheld,
)
from eval_pipeline.engines.estimates import Estimate, batched, estimate, estimated_tokens
from eval_pipeline.engines.fields import Budget, Prices
from eval_pipeline.engines.health import Health, SharedHealth
from eval_pipeline.engines.interface import Request
from eval_pipeline.engines.journal import JUDGE, Call, Journal, Record
from eval_pipeline.engines.limits import LONGEST_WAIT, TICK_SECONDS, Limiter, Scope
from eval_pipeline.engines.pool import in_parallel
from eval_pipeline.files import content_hash
from eval_pipeline.numbers import counted
from eval_pipeline.problems import BadInput
from eval_pipeline.processes import is_gone, this_process

LEASE_SECONDS = 60.0
POLL_SECONDS = 0.2
CLAIMED_AT_ONCE = 100
MOST_WAITING = 1000
"""So many calls that other runs are making are put off; then they are waited for."""
FIRST_BACK_OFF = 0.5
LONGEST_BACK_OFF = 60.0
ANSWER_TOKENS = 500
"""What an answer is taken to need before it is there."""
LONGEST_DETAIL = 300
MESSAGE_TOKENS = 4
"""What every message after the first takes besides its text."""


@dataclass(frozen=True)
class Limits:
    """How fast, how often and how much an engine may be asked."""

    concurrency: int
    scopes: tuple[Scope, ...]
    attempts: int = 5
    prices: Prices | None = None
    budget: Budget | None = None


class MeteredEngine:
    """A client behind the journal and the limits."""

    varies = True
    reads_prompt = True
    prepared_elsewhere = False
    held_out = None

    def __init__(
        self,
        name: str,
        model: str,
        client: Client,
        limits: Limits,
        journal_url: str,
        *,
        suite: str,
        version: str,
        sample: str,
        trials: Trials,
    ) -> None:
        self.name = name
        self.model = model
        self.trials = trials
        self.client = client
        self.limits = limits
        self.suite = suite
        self._journal_url = journal_url
        self._version = version
        self._sample = sample
        self.purse = Purse(limits.budget)
        self.shared_run = ""
        """The run whose processes share a budget and what they know of the endpoint; blank for one alone."""
        self._asker: _Asker | None = None

    @property
    def shared_name(self) -> str:
        """What its purse and health are kept under: a judge has its own, whatever engine it is."""
        return f"{self.shared_run} {self.name}{f' {JUDGE}' if self._version == JUDGE else ''}"

    @property
    def waiting(self) -> str:
        """What its calls wait for at the moment, and until when; empty where nobody waits for long."""
        return self._asker.waiting if self._asker else ""

    async def answer(self, requests: AsyncIterator[Request]) -> AsyncGenerator[Answer, None]:
        """Answer requests from the journal or the endpoint, each as it completes."""
        self.purse.begin()
        with ThreadPoolExecutor(1, "journal") as thread, Journal.open(self._journal_url) as journal:
            async with (
                self.client,
                _asking(self, journal, thread) as asker,
                aclosing(asker.answer(requests)) as answers,
            ):
                self._asker = asker
                async for answer in answers:
                    yield answer

    async def estimate(self, requests: AsyncIterator[Request], trials: Trials) -> Estimate:
        """What asking requests so many times would take, without asking."""
        with Journal.open(self._journal_url) as journal:
            return await estimate(self, journal, requests, trials)

    def estimated_tokens(self, request: Request) -> int:
        """About how many tokens the model reads, before anybody counted."""
        messages = request.messages
        read = sum(estimated_tokens(each.content) for each in messages)
        return read + self.client.overhead_tokens + MESSAGE_TOKENS * (len(messages) - 1)

    def call(self, request: Request, body: bytes) -> Call:
        """The journal's name for a request: another word anywhere makes it another call."""
        asked = [self.model, self.client.url, body.decode()]
        return Call(
            content_hash([*asked, request.case_id, request.trial, self._sample]),
            self.name,
            self.model,
            self.suite,
            self._version,
            request.case_id,
            request.trial,
            self._sample,
        )

    def cost(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """What a call cost, in dollars; unknown without prices, or without a count of tokens."""
        prices = self.limits.prices
        if prices is None or prompt_tokens is None or completion_tokens is None:
            return None
        return (prompt_tokens * prices.prompt + completion_tokens * prices.completion) / 1e6


class _Asked(NamedTuple):
    """A request on its way: its answer where it is known, else whether this run may ask."""

    request: Request
    call: Call
    body: bytes
    known: Record | bool


class _Outcome(NamedTuple):
    """What became of a request: an answer from the journal, a new one, or a failure."""

    asked: _Asked
    record: Record | None
    failure: CallFailed | None

    @property
    def is_new(self) -> bool:
        return self.record is not None and self.asked.known is True

    def answer(self) -> Answer:
        if self.record is not None:
            return _answer(self.record)
        assert self.failure is not None
        request, failure = self.asked.request, self.failure
        return Answer(
            request.case_id,
            request.trial,
            error=failure.kind,
            detail=failure.detail,
            transport=failure.transport,
        )


@asynccontextmanager
async def _asking(
    engine: MeteredEngine, journal: Journal, thread: ThreadPoolExecutor
) -> AsyncIterator[_Asker]:
    """One run's way of asking, with its place among others kept until the end and then given up."""
    asker = _Asker(engine, journal, thread)
    await asker.keep_place()
    keeping = asyncio.create_task(asker.keep())
    try:
        yield asker
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await asker.leave()


class _Asker:
    """Claims, limits, retries, records."""

    def __init__(self, engine: MeteredEngine, journal: Journal, thread: ThreadPoolExecutor) -> None:
        self._engine = engine
        self._limits = engine.limits
        self._client = engine.client
        self._journal = journal
        self._thread = thread
        self._owner = f"{this_process()}/{uuid.uuid4().hex}"
        self._limiter = Limiter(journal, self._in_thread, self._owner, engine.limits.scopes)
        self._held: set[str] = set()
        self._health = Health(engine.limits.concurrency)
        self._purse: AnyPurse = engine.purse
        if engine.shared_run:
            concurrency, name = engine.limits.concurrency, engine.shared_name
            self._health = SharedHealth(concurrency, journal.health, self._in_thread, name)
            self._purse = SharedPurse(
                engine.limits.budget, journal.purses, self._in_thread, name, self._owner
            )
        self._elsewhere = 0

    @property
    def waiting(self) -> str:
        """What calls wait for, and until when."""
        others = f"{counted(self._elsewhere, 'call')} under way in another run" if self._elsewhere else ""
        return ", ".join(filter(None, (self._limiter.waiting, others)))

    async def _in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    async def keep_place(self) -> None:
        """Take this run's share of the limits."""
        await self._limiter.share(LEASE_SECONDS, is_gone)
        await self._health.share()

    async def keep(self) -> None:
        """Keep what is being asked from being asked by others, for as long as it takes."""
        extended_at = time.monotonic()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            with suppress(BadInput):  # a database that is busy may do the next time; else recording will tell
                await self.keep_place()
                if self._held and time.monotonic() - extended_at > LEASE_SECONDS / 3:
                    await self._in_thread(self._journal.extend, list(self._held), self._owner, LEASE_SECONDS)
                    await self._purse.keep()
                    extended_at = time.monotonic()

    async def leave(self) -> None:
        """Give up what is still held: another run may ask it at once."""
        await self._in_thread(self._journal.release, list(self._held), self._owner)
        await self._limiter.leave()
        await self._purse.leave()
        await self._health.share()

    async def answer(self, requests: AsyncIterator[Request]) -> AsyncGenerator[Answer, None]:
        """Answers to requests: known, or asked for now and kept before they are handed on."""
        working = in_parallel(self._claimed(requests), self._outcome, self._limits.concurrency)
        async with aclosing(working) as done:
            async for outcomes in done:
                await self._in_thread(self._keep, outcomes)
                for outcome in outcomes:
                    self._held.discard(outcome.asked.call.key)
                    yield outcome.answer()

    def _keep(self, outcomes: Sequence[_Outcome]) -> None:
        self._journal.record([each.record for each in outcomes if each.is_new and each.record is not None])
        self._journal.release([each.asked.call.key for each in outcomes if each.failure], self._owner)

    async def _claimed(self, requests: AsyncIterator[Request]) -> AsyncIterator[_Asked]:
        """Requests that are known or may be asked; what other runs are asking comes last."""
        waiting: list[_Asked] = []
        async for batch in batched(requests, CLAIMED_AT_ONCE, self._limits.concurrency):
            bodies = [self._client.body(request) for request in batch]
            fresh = [
                _Asked(request, self._engine.call(request, body), body, False)
                for request, body in zip(batch, bodies, strict=True)
            ]
            for asked in await self._claim(fresh):
                if asked.known is False:
                    waiting.append(asked)
                else:
                    yield asked
            while len(waiting) >= MOST_WAITING:
                async for asked in self._retried(waiting):
                    yield asked
        while waiting:
            async for asked in self._retried(waiting):
                yield asked

    async def _retried(self, waiting: list[_Asked]) -> AsyncIterator[_Asked]:
        """Those of the waiting that are settled after a moment; they are waiting no more."""
        self._elsewhere = len(waiting)
        await asyncio.sleep(POLL_SECONDS)
        claimed = await self._claim(waiting)
        waiting[:] = [asked for asked in claimed if asked.known is False]
        self._elsewhere = len(waiting)
        for asked in claimed:
            if asked.known is not False:
                yield asked

    async def _claim(self, asked: Sequence[_Asked]) -> list[_Asked]:
        calls = [each.call for each in asked]
        outcomes = await self._in_thread(self._journal.claim, calls, self._owner, LEASE_SECONDS, is_gone)
        self._held.update(key for key, outcome in outcomes.items() if outcome is True)
        return [each._replace(known=outcomes[each.call.key]) for each in asked]

    async def _outcome(self, asked: _Asked) -> _Outcome:
        if isinstance(asked.known, Record):
            return _Outcome(asked, asked.known, None)
        try:
            return _Outcome(asked, await self._ask(asked), None)
        except CallFailed as failure:
            return _Outcome(asked, None, failure)

    async def _ask(self, asked: _Asked) -> Record:
        for attempt in range(1, self._limits.attempts + 1):
            try:
                record = await self._attempt(asked, attempt)
            except CallFailed as failure:
                is_last = self._is_last(failure, attempt)
                await self._take_note_of(failure, is_last)
                if is_last:
                    raise
                await asyncio.sleep(_pause(failure, attempt))
            else:
                self._health.went_well()
                return record
        raise AssertionError("unreachable")

    async def _attempt(self, asked: _Asked, attempt: int) -> Record:
        prompt_tokens = self._engine.estimated_tokens(asked.request)
        estimated = prompt_tokens + ANSWER_TOKENS
        dollars = self._engine.cost(prompt_tokens, ANSWER_TOKENS) or 0.0
        async with self._purse.setting_aside(estimated, dollars) as spending:
            entry = await self._limiter.enter(estimated)
            try:
                self._health.stop_if_dead()
                started = time.perf_counter()
                reply = await self._client.call(asked.body)
                seconds = time.perf_counter() - started
                record = self._record(asked.call, reply, seconds, attempt, prompt_tokens)
                spending.came_to(_tokens(record), dollars if record.cost_usd is None else record.cost_usd)
                self._limiter.relax(entry)
            except CallFailed as failure:
                if failure.retry_after:  # before another call takes the place of this one
                    await self._limiter.pause(failure.retry_after)
                if failure.kind == RATE_LIMITED:
                    self._limiter.back_off(entry)
                elif failure.kind in (DENIED, MALFORMED, REJECTED, TOO_LARGE):
                    self._limiter.relax(entry)  # of no use, but not too much for the endpoint
                raise
            finally:
                self._limiter.exit()
        await self._limiter.settle(estimated, _tokens(record))
        return record

    def _is_last(self, failure: CallFailed, attempt: int) -> bool:
        """Whether a call that failed is not tried again."""
        return (
            not failure.transient
            or attempt == self._limits.attempts
            or (failure.retry_after or 0) > LONGEST_WAIT
            or (self._health.is_in_doubt and (attempt == 1 or failure.kind == TIMEOUT))
        )

    def _record(self, call: Call, reply: Reply, seconds: float, attempts: int, estimated: int) -> Record:
        return Record(
            call,
            reply.text,
            reply.finish_reason,
            reply.prompt_tokens,
            reply.completion_tokens,
            round(seconds * 1000, 3),
            self._engine.cost(reply.prompt_tokens, reply.completion_tokens),
            attempts,
            _moment(int(time.time())),
            estimated,
        )

    async def _take_note_of(self, failure: CallFailed, is_last: bool) -> None:
        if isinstance(failure, NotAsked):
            return
        self._health.went_badly(failure, is_last)
        await self._health.share()


@functools.lru_cache(maxsize=1)
def _moment(second: int) -> str:
    """A second since 1970 as ISO 8601, in UTC."""
    return datetime.datetime.fromtimestamp(second, datetime.UTC).isoformat()


def _tokens(record: Record) -> int:
    return (record.prompt_tokens or 0) + (record.completion_tokens or 0)


def _pause(failure: CallFailed, attempt: int) -> float:
    """How long to wait before the next attempt: as the endpoint asks, else longer each time, at random."""
    if failure.retry_after is not None:
        return failure.retry_after
    longest = min(LONGEST_BACK_OFF, FIRST_BACK_OFF * 2.0 ** (attempt - 1))
    return longest * random.uniform(0.5, 1.0)


def _answer(record: Record) -> Answer:
    tokens = {
        name: count
        for name, count in (("prompt", record.prompt_tokens), ("completion", record.completion_tokens))
        if count is not None
    }
    error, detail = withheld(record.finish_reason) or (None, "")
    if error is not None and record.text.strip():
        detail = f"{detail}: {' '.join(record.text.split())[:LONGEST_DETAIL]}"
    call = record.call
    return Answer(
        call.case_id,
        call.trial,
        record.text,
        error,
        detail,
        latency_ms=record.latency_ms,
        cost_usd=record.cost_usd,
        tokens=tokens or None,
    )
