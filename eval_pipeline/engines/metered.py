"""Metered engines: every call journaled, limited, retried, and never paid for twice."""

from __future__ import annotations

import asyncio
import datetime
import os
import random
import socket
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import msgspec

from eval_pipeline.answers import Answer
from eval_pipeline.content import content_hash
from eval_pipeline.engines import Request
from eval_pipeline.engines.calls import CONNECTION, RATE_LIMITED, SERVER, TIMEOUT, CallFailed, Client, Reply
from eval_pipeline.engines.endpoint import Budget, Prices
from eval_pipeline.engines.journal import Call, Journal, Record
from eval_pipeline.engines.pool import Batcher, answer_all

BUDGET = "budget"
LEASE_SECONDS = 60.0
POLL_SECONDS = 0.2
FIRST_BACK_OFF = 0.5
LONGEST_BACK_OFF = 60.0
FAILURES_IN_A_ROW = 20
CHARACTERS_PER_TOKEN = 4
ANSWER_TOKENS = 500
"""What an answer is taken to need before it is there."""


@dataclass(frozen=True)
class Limits:
    """How fast, how often and how much an engine may be asked."""

    concurrency: int
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    suite_requests_per_minute: float | None = None
    attempts: int = 5
    prices: Prices | None = None
    budget: Budget | None = None


class Estimate(msgspec.Struct, frozen=True):
    """What a run would cost."""

    requests: int
    calls: int
    tokens: int
    dollars: float | None


class MeteredEngine:
    """A client behind the journal and the limits."""

    reads_prompt = True

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
        trials: int,
    ) -> None:
        self.name = name
        self.model = model
        self.trials = trials
        self._client = client
        self._limits = limits
        self._journal_url = journal_url
        self._suite = suite
        self._version = version
        self._sample = sample

    async def answer(self, requests: AsyncIterator[Request]) -> AsyncIterator[Answer]:
        """Answer requests from the journal or the endpoint, each as it completes."""
        with ThreadPoolExecutor(1, "journal") as thread, Journal.open(self._journal_url) as journal:
            async with self._client:
                asker = _Asker(self, journal, thread)
                renewal = asyncio.create_task(asker.renew())
                try:
                    async for answer in answer_all(requests, asker.answer, self._limits.concurrency):
                        yield answer
                finally:
                    renewal.cancel()

    async def estimate(self, requests: AsyncIterator[Request]) -> Estimate:
        """What asking would cost, without asking."""
        total = calls = tokens = 0
        dollars = 0.0
        with Journal.open(self._journal_url) as journal:
            async for batch in _batched(requests, 1000):
                asked = {self.call(each, self._client.payload(each)).key: each for each in batch}
                known = journal.answered(list(asked))
                total += len(batch)
                for request in (each for key, each in asked.items() if key not in known):
                    calls += 1
                    prompt_tokens = estimated_tokens(request)
                    tokens += prompt_tokens + ANSWER_TOKENS
                    dollars += self.cost(prompt_tokens, ANSWER_TOKENS) or 0.0
        return Estimate(total, calls, tokens, dollars if self._limits.prices else None)

    def call(self, request: Request, payload: dict[str, Any]) -> Call:
        """The journal's name for a request: another word anywhere makes it another call."""
        asked = [self.model, self._client.url, payload]
        key = content_hash([*asked, request.case_id, request.trial, self._sample])
        return Call(
            key,
            self.name,
            self.model,
            self._suite,
            self._version,
            request.case_id,
            request.trial,
            self._sample,
        )

    def cost(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """What a call cost, in dollars; unknown without prices."""
        prices = self._limits.prices
        if prices is None:
            return None
        return ((prompt_tokens or 0) * prices.prompt + (completion_tokens or 0) * prices.completion) / 1e6


class _Asker:
    """One run's way of asking: claims, limits, retries, records."""

    def __init__(self, engine: MeteredEngine, journal: Journal, thread: ThreadPoolExecutor) -> None:
        self._engine = engine
        self._limits = engine._limits
        self._client = engine._client
        self._journal = journal
        self._thread = thread
        self._owner = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex}"
        self._claims: Batcher[Call, Record | bool] = Batcher(self._claim, thread)
        self._records: Batcher[Record, None] = Batcher(self._record, thread)
        self._held: set[str] = set()
        self._failures_in_a_row = 0
        self._spent_calls = self._spent_tokens = 0
        self._spent_dollars = 0.0

    def _claim(self, calls: Sequence[Call]) -> list[Record | bool]:
        outcomes = self._journal.claim(calls, self._owner, LEASE_SECONDS, _is_gone)
        hits = [key for key, outcome in outcomes.items() if isinstance(outcome, Record)]
        if hits:
            self._journal.note_hits(hits)
        return [outcomes[call.key] for call in calls]

    def _record(self, records: Sequence[Record]) -> list[None]:
        self._journal.record(records)
        return [None] * len(records)

    async def _in_thread(self, function: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    async def answer(self, request: Request) -> Answer:
        """The answer to a request: known, or asked for now."""
        payload = self._client.payload(request)
        call = self._engine.call(request, payload)
        while True:
            claimed = await self._claims.submit(call)
            if isinstance(claimed, Record):
                return _answer(claimed)
            if claimed:
                break
            await asyncio.sleep(POLL_SECONDS)  # somebody else is asking the very same
        self._held.add(call.key)
        try:
            return await self._ask(request, call, payload)
        except CallFailed as failure:
            await self._in_thread(self._journal.release, [call.key], self._owner)
            return Answer(request.case_id, request.trial, error=failure.kind, detail=failure.detail)
        finally:
            self._held.discard(call.key)

    async def renew(self) -> None:
        """Keep what is being asked from being asked by others, for as long as it takes."""
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            if self._held:
                await self._in_thread(self._journal.extend, list(self._held), self._owner, LEASE_SECONDS)

    async def _ask(self, request: Request, call: Call, payload: dict[str, Any]) -> Answer:
        for attempt in range(1, self._limits.attempts + 1):
            self._stop_if_hopeless()
            await self._wait_for_turn(estimated_tokens(request) + ANSWER_TOKENS)
            started = time.perf_counter()
            try:
                reply = await self._client.call(payload)
            except CallFailed as failure:
                await self._take_note_of(failure)
                if not failure.transient or attempt == self._limits.attempts:
                    raise
                await asyncio.sleep(_pause(failure, attempt))
            else:
                self._failures_in_a_row = 0
                elapsed = round((time.perf_counter() - started) * 1000, 3)
                record = self._recorded(call, reply, elapsed, attempt)
                await self._records.submit(record)
                return _answer(record)
        raise AssertionError("unreachable")

    def _recorded(self, call: Call, reply: Reply, elapsed: float, attempts: int) -> Record:
        cost = self._engine.cost(reply.prompt_tokens, reply.completion_tokens)
        self._spent_calls += 1
        self._spent_tokens += (reply.prompt_tokens or 0) + (reply.completion_tokens or 0)
        self._spent_dollars += cost or 0.0
        return Record(
            call,
            reply.text,
            reply.finish_reason,
            reply.prompt_tokens,
            reply.completion_tokens,
            elapsed,
            cost,
            attempts,
            datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )

    def _stop_if_hopeless(self) -> None:
        if self._failures_in_a_row >= FAILURES_IN_A_ROW:
            told = (
                f"the endpoint is down: {self._failures_in_a_row} calls in a row failed; not asked any more"
            )
            raise CallFailed(CONNECTION, told)
        budget = self._limits.budget
        if budget is None:
            return
        for what, spent, allowed in (
            ("calls", self._spent_calls, budget.calls),
            ("tokens", self._spent_tokens, budget.tokens),
            ("dollars", self._spent_dollars, budget.dollars),
        ):
            if allowed is not None and spent >= allowed:
                raise CallFailed(BUDGET, f"the budget of {allowed:g} {what} for this run is spent")

    async def _wait_for_turn(self, tokens: int) -> None:
        limits, name = self._limits, self._engine.name
        suite_bucket = f"{name} requests of {self._engine._suite}"
        for bucket, amount, per_minute in (
            (f"{name} requests", 1.0, limits.requests_per_minute),
            (suite_bucket, 1.0, limits.suite_requests_per_minute),
            (f"{name} tokens", float(tokens), limits.tokens_per_minute),
        ):
            if per_minute is None:
                continue
            burst = max(1.0, per_minute / 10)
            while delay := await self._in_thread(self._journal.take, bucket, amount, per_minute, burst):
                await asyncio.sleep(delay)

    async def _take_note_of(self, failure: CallFailed) -> None:
        if failure.kind in (CONNECTION, TIMEOUT, SERVER):
            self._failures_in_a_row += 1
        if failure.kind == RATE_LIMITED and self._limits.requests_per_minute is not None:
            until = time.time() + (failure.retry_after or FIRST_BACK_OFF)
            await self._in_thread(self._journal.pause, f"{self._engine.name} requests", until)


def _is_gone(owner: str) -> bool:
    """Whether the process that holds a call was one of this machine and is no more."""
    host, _, rest = owner.partition("/")
    pid = rest.partition("/")[0]
    if host != socket.gethostname() or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def estimated_tokens(request: Request) -> int:
    """About how many tokens a prompt has, before anybody counted."""
    return len(request.prompt or "") // CHARACTERS_PER_TOKEN


def _pause(failure: CallFailed, attempt: int) -> float:
    """How long to wait before the next attempt: as told, else longer each time, and never in step."""
    if failure.retry_after is not None:
        return min(failure.retry_after, LONGEST_BACK_OFF)
    longest = min(LONGEST_BACK_OFF, FIRST_BACK_OFF * 2.0 ** (attempt - 1))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311


def _answer(record: Record) -> Answer:
    tokens = {
        name: count
        for name, count in (("prompt", record.prompt_tokens), ("completion", record.completion_tokens))
        if count is not None
    }
    call = record.call
    return Answer(
        call.case_id,
        call.trial,
        record.text,
        latency_ms=record.latency_ms,
        cost_usd=record.cost_usd,
        tokens=tokens or None,
    )


async def _batched(requests: AsyncIterator[Request], size: int) -> AsyncIterator[list[Request]]:
    batch: list[Request] = []
    async for request in requests:
        batch.append(request)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
