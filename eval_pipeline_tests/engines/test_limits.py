"""Limits: held by all processes together, shared fairly, and given up with whoever held them."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline import stages
from eval_pipeline.answers import Answer, Failure
from eval_pipeline.asking import Silence
from eval_pipeline.engines import Journal
from eval_pipeline.engines.calls import NotAsked
from eval_pipeline.engines.health import Health
from eval_pipeline.engines.journal_tables import journal_tables
from eval_pipeline.engines.limits import FIRST_PAUSE, LONGEST_WAIT, Entry, Limiter, Scope, _Gate
from eval_pipeline.project import Project
from eval_pipeline.store import database_url
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.conftest import TOY
from eval_pipeline_tests.engines.fault_server import GOOD, FaultServer, fault_server
from eval_pipeline_tests.engines.journals import Clock
from eval_pipeline_tests.engines.test_metered import PROMPT, VERSION, ask, configure, errors, write_cases
from eval_pipeline_tests.running import begin, ended

LEASE = 60.0
SCOPE = "engine"


def gate(wanted: int) -> _Gate:
    made = _Gate(wanted)
    made.grant(wanted)
    return made


async def entered(gate: _Gate, count: int) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(gate.enter()) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


def test_a_gate_lets_in_what_was_granted_in_the_order_of_arrival() -> None:
    async def check() -> None:
        door = gate(3)
        door.grant(2)
        tasks = await entered(door, 4)
        assert [task.done() for task in tasks] == [True, True, False, False]
        door.leave()
        await asyncio.sleep(0)
        late = (await entered(door, 1))[0]
        assert [task.done() for task in tasks] == [True, True, True, False]
        door.grant(3)
        await asyncio.sleep(0)
        assert tasks[3].done()
        assert not late.done()
        door.grant(0)
        for _ in range(3):
            door.leave()
        await asyncio.sleep(0)
        assert not late.done()
        door.grant(1)
        await late
        assert door.in_use == 1

    asyncio.run(check())


def test_a_back_off_halves_and_every_answer_gives_a_little_back() -> None:
    async def check() -> None:
        door = gate(40)
        await entered(door, 40)
        together = Entry(time.monotonic(), 40)
        door.back_off(together)
        door.back_off(together)  # of the same moment: it counts once
        assert await how_many(door) == 20
        for _ in range(10):
            door.relax()
        assert await how_many(door) == 25
        for _ in range(100):
            door.relax()
        assert await how_many(door) == 40
        door.back_off(Entry(time.monotonic(), 10))  # ten were too many already
        assert await how_many(door) == 5

    asyncio.run(check())


async def how_many(door: _Gate) -> int:
    """How many get in once everybody has left; they leave again, all but one."""
    for _ in range(door.in_use):
        door.leave()
    tasks = await entered(door, 100)
    inside = door.in_use
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for _ in range(inside - 1):
        door.leave()
    return inside


def test_a_back_off_never_closes_a_gate() -> None:
    async def check() -> None:
        door = gate(2)
        for _ in range(5):
            door.back_off(Entry(time.monotonic(), 1))
        await asyncio.wait_for(door.enter(), 1)
        door.leave()

    asyncio.run(check())


def test_few_calls_that_are_turned_away_do_not_bring_all_to_a_standstill() -> None:
    """One in fifty is turned away, in random order: most of the calls that may be made at once still are."""

    async def check() -> float:
        door = gate(100)
        await entered(door, 100)
        random = Random(5)
        used = 0.0
        for _ in range(5000):
            entry = Entry(time.monotonic(), door.in_use)
            if random.random() < 1 / 50:
                door.back_off(entry)
            else:
                door.relax()
            used += door._bearable / 5000
        return used

    assert asyncio.run(check()) > 30


def test_a_pause_holds_everybody_and_ends() -> None:
    async def check() -> None:
        door = gate(5)
        until = time.time() + 0.2
        door.pause(until)
        door.pause(time.time() + 0.05)  # a shorter one changes nothing
        tasks = await entered(door, 5)
        await asyncio.sleep(0.1)
        assert not any(task.done() for task in tasks)
        await asyncio.gather(*tasks)
        assert time.time() >= until

    asyncio.run(check())


def test_a_pause_that_is_too_long_is_not_waited_for_and_keeps_no_place() -> None:
    async def check() -> None:
        door = gate(1)
        door.pause(time.time() + LONGEST_WAIT + 10)
        for _ in range(3):
            with pytest.raises(NotAsked) as caught:
                await door.enter()
            assert caught.value.kind == "rate_limited"
        assert door.in_use == 0

    asyncio.run(check())


@pytest.mark.parametrize("had_its_turn", [False, True])
def test_who_is_cancelled_while_waiting_passes_the_turn_on(had_its_turn: bool) -> None:
    async def check() -> None:
        door = gate(1)
        await door.enter()
        first, second = await entered(door, 2)
        if had_its_turn:
            door.leave()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        if not had_its_turn:
            assert not second.done()
            door.leave()
        await asyncio.wait_for(second, 1)
        assert door.in_use == 1
        door.leave()
        assert door.in_use == 0

    asyncio.run(check())


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False))
def test_no_wake_up_is_lost_however_waiters_are_cancelled(random: Any) -> None:
    async def check() -> None:
        door = gate(3)
        tasks: list[asyncio.Task[None]] = []
        left = 0

        def inside() -> int:
            return sum(task.done() and not task.cancelled() for task in tasks) - left

        for _ in range(80):
            action = random.choice(["enter", "enter", "enter", "leave", "cancel", "grant", "step"])
            if action == "enter":
                tasks.append(asyncio.create_task(door.enter()))
            elif action == "leave" and inside():
                door.leave()
                left += 1
            elif action == "cancel" and tasks:
                random.choice(tasks).cancel()
            elif action == "grant":
                door.grant(random.randint(0, 3))
            else:
                await asyncio.sleep(0)
            assert inside() <= door.in_use <= 3
        door.grant(3)
        while inside() or not all(task.done() for task in tasks):
            for _ in range(3):
                await asyncio.sleep(0)
            assert inside(), "somebody waits although everybody left"
            door.leave()
            left += 1
            await asyncio.sleep(0)
        assert door.in_use == 0
        assert all(task.cancelled() or task.exception() is None for task in tasks)

    asyncio.run(check())


@asynccontextmanager
async def limiter(journal: Journal, owner: str, *scopes: Scope) -> AsyncIterator[Limiter]:
    async def in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.to_thread(function, *arguments)

    made = Limiter(journal, in_thread, owner, scopes)
    await made.share(LEASE, lambda _: False)
    yield made
    await made.leave()


def test_calls_that_start_while_slots_are_being_shared_stay_within_them(tmp_path: Path) -> None:
    """One run shrinks, and starts calls while it is told so: the other does not get those slots yet."""

    async def check(journal: Journal) -> None:
        scope = Scope(SCOPE, 10)
        async with limiter(journal, "a", scope) as first, limiter(journal, "b", scope) as second:
            wanting = [asyncio.create_task(second.enter(1)) for _ in range(10)]
            sharing = asyncio.create_task(first.share(LEASE, lambda _: False))
            await asyncio.sleep(0)  # what is held was told
            for _ in range(10):
                await first.enter(1)
            await sharing
            await second.share(LEASE, lambda _: False)
            assert first._gate.in_use + second._gate._granted <= 10
            for _ in range(9):
                first.exit()
            await first.share(LEASE, lambda _: False)
            await second.share(LEASE, lambda _: False)
            for task in wanting:
                task.cancel()
            assert (first._gate._granted, second._gate._granted) == (5, 5)

    with Journal.open(f"sqlite:///{tmp_path}/journal.sqlite") as journal:
        asyncio.run(check(journal))


def test_a_pause_that_begins_while_a_call_waits_for_its_rate_holds_it_too(tmp_path: Path) -> None:
    async def check(journal: Journal) -> None:
        async with limiter(journal, "a", Scope(SCOPE, 10, requests_per_minute=300.0)) as limits:
            entries = [asyncio.create_task(limits.enter(1)) for _ in range(10)]
            while not entries[-1].done() and sum(entry.done() for entry in entries) < 5:
                await asyncio.sleep(0.01)
            until = time.time() + 0.7
            await limits.pause(0.7)
            pending = [entry for entry in entries if not entry.done()]
            assert pending
            await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            assert time.time() >= until - 0.01
            await asyncio.gather(*entries)

    with Journal.open(f"sqlite:///{tmp_path}/journal.sqlite") as journal:
        asyncio.run(check(journal))


def test_a_pause_is_believed_as_far_as_others_bear_it_out(tmp_path: Path) -> None:
    """One answer asks for a day; then all do, and the other process hears of it."""

    async def check(journal: Journal) -> None:
        scope = Scope(SCOPE, 10)
        async with limiter(journal, "a", scope) as one, limiter(journal, "b", scope) as other:
            for believed in (FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE):
                before = Entry(time.monotonic(), 1)
                await one.pause(86_400)
                assert journal.buckets.paused_until(SCOPE) == pytest.approx(time.time() + believed, abs=1)
                one.relax(before)  # a call that was under way before says nothing
            assert "engine wants to be left alone until 2" in one.waiting
            await one.pause(86_400)
            await other.share(LEASE, lambda _: False)
            with pytest.raises(NotAsked, match=r"left alone until 2.* UTC"):
                await other.enter(1)
            journal.buckets.reset()
            one.relax(Entry(time.monotonic(), 1))
            await one.pause(86_400)
            assert journal.buckets.paused_until(SCOPE) == pytest.approx(time.time() + FIRST_PAUSE, abs=1)

    with Journal.open(f"sqlite:///{tmp_path}/journal.sqlite") as journal:
        asyncio.run(check(journal))


@pytest.mark.parametrize("per_minute", [0.5, 1.0, 60.0, 90.0, 600.0])
def test_in_no_minute_are_more_requests_made_than_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, per_minute: float
) -> None:
    """Two processes' limiters on one database, on a clock that the waiting itself moves."""
    clock = Clock()

    async def sleep(seconds: float) -> None:
        clock.now += max(seconds, 1e-6)

    async def check(first: Journal, second: Journal) -> list[float]:
        taken = []
        scope = Scope(SCOPE, 10, requests_per_minute=per_minute)
        async with limiter(first, "a", scope) as one, limiter(second, "b", scope) as other:
            with monkeypatch.context() as patched:
                patched.setattr("eval_pipeline.engines.limits.asyncio.sleep", sleep)
                for number in range(max(8, int(per_minute * 1.5))):
                    each = (one, other)[number % 2]
                    await each._take(f"{SCOPE} requests", 1.0, per_minute)
                    taken.append(clock.now)
        return taken

    url = f"sqlite:///{tmp_path}/journal.sqlite"
    with Journal.open(url, clock=clock) as first, Journal.open(url, clock=clock) as second:
        taken = asyncio.run(check(first, second))
    most = max(1, math.ceil(per_minute))
    for number, moment in enumerate(taken):
        assert sum(moment <= each < moment + 60 - 1e-6 for each in taken[number:]) <= most
    # Nor are much fewer made.
    assert taken[-1] - taken[0] <= len(taken) * 60 / per_minute * 1.05 + 1


def test_token_limits_are_corrected_by_what_an_answer_used(tmp_path: Path) -> None:
    clock = Clock()
    bucket = f"{SCOPE} tokens"

    async def check(journal: Journal) -> None:
        async with limiter(journal, "a", Scope(SCOPE, 10, tokens_per_minute=6000.0)) as limits:
            await limits.enter(100)  # all that may come at once
            rate = 6000.0 - 99
            assert journal.buckets.take(bucket, 100, rate, 100) == pytest.approx(100 * 60 / rate)
            await limits.settle(100, 10)  # 90 were not used
            assert journal.buckets.take(bucket, 100, rate, 100) == pytest.approx(10 * 60 / rate)
            await limits.settle(10, 510)  # 500 more were
            assert journal.buckets.take(bucket, 100, rate, 100) == pytest.approx(510 * 60 / rate)

    with Journal.open(f"sqlite:///{tmp_path}/journal.sqlite", clock=clock) as journal:
        asyncio.run(check(journal))


@pytest.fixture
def server(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    """A project with a prompt for loopback, and the server."""
    monkeypatch.setattr("eval_pipeline.engines.metered.FIRST_BACK_OFF", 0.01)
    (project.prompts("decomposition") / f"{VERSION}.md").write_text(PROMPT)
    with fault_server() as running:
        configure(project, running.url)
        yield running


def ask_suite(project: Project, name: str, version: str) -> None:
    suite = find_suite(project, name)
    golden = stages.load_golden(stages.Workbench(project, suite)).table
    answers = stages.answer_cases(stages.Workbench(project, suite), golden, version)
    assert not any(answer.error for answer in answers)


def ask_at_once(project: Project, *what: tuple[str, str]) -> None:
    """Ask suites with versions, each in a process of its own, all at the same time."""
    logs = [project.root / f"asked-{number}.log" for number in range(len(what))]
    processes = [
        begin(project, ask_suite, project, *each, err=log) for each, log in zip(what, logs, strict=True)
    ]
    for process, log in zip(processes, logs, strict=True):
        assert ended(process) == 0, log.read_text()


def numbered(count: int) -> dict[str, str]:
    return {f"case-{number:03}": f"Text {number}." for number in range(count)}


@pytest.mark.parametrize("concurrency", [1, 6])
def test_two_runs_on_one_partition_stay_within_one_concurrency(
    project: Project, server: FaultServer, concurrency: int
) -> None:
    server.delay = 0.02
    configure(project, server.url, concurrency=concurrency)
    count = 60 * concurrency
    write_cases(project, numbered(count))
    ask_at_once(project, ("decomposition", VERSION), ("decomposition", VERSION))
    assert server.most_in_flight <= concurrency
    assert server.calls == count
    assert max(server.asked.values()) == 1


def add_toy(project: Project, count: int) -> None:
    """Give a project the toy suite beside its own."""
    for name in ("golden", "prompts"):
        shutil.copytree(TOY / name / "toy", project.root / name / "toy")
    shutil.copytree(TOY / "suites", project.root / "suites", ignore=shutil.ignore_patterns("__pycache__"))
    cases = (json.dumps({"id": f"cat-{n}", "sound": f"meow {n}", "animal": "cat"}) for n in range(count))
    (project.golden("toy") / "cases" / "sounds.jsonl").write_text("\n".join(cases) + "\n")


@pytest.mark.parametrize("cap", [None, 2])
def test_two_suites_stay_within_one_concurrency_and_a_suite_within_its_own(
    project: Project, server: FaultServer, cap: int | None
) -> None:
    def answer(prompt: str) -> str:
        return '{"animal": "cat"}' if "animal" in prompt else GOOD

    server.answer = answer
    server.delay = 0.03
    configure(project, server.url, concurrency=6, suites={"decomposition": {"concurrency": cap}})
    write_cases(project, numbered(100))
    add_toy(project, 100)
    watch = Watch(server)
    ask_at_once(project, ("decomposition", VERSION), ("toy", "guess-v1.0"))
    assert server.calls == 200
    assert server.most_in_flight <= 6
    assert watch.most["decomposition"] <= (cap or 6)
    assert watch.most["toy"] >= 3


class Watch:
    """Counts how many calls of each suite are in flight at once."""

    def __init__(self, server: FaultServer) -> None:
        self.most = {"toy": 0, "decomposition": 0}
        self._now = dict(self.most)
        self._respond = server._respond
        self._server = server
        server._respond = self._watched  # type: ignore[method-assign]
        self._delay, server.delay = server.delay, 0.0

    async def _watched(self, request: Any, prompt: str) -> Any:
        suite = "toy" if "animal" in prompt else "decomposition"
        self._now[suite] += 1
        self.most[suite] = max(self.most[suite], self._now[suite])
        try:
            await asyncio.sleep(self._delay)
            return await self._respond(request, prompt)
        finally:
            self._now[suite] -= 1


def test_a_suite_alone_stays_within_its_cap(project: Project, server: FaultServer) -> None:
    server.delay = 0.02
    configure(project, server.url, concurrency=6, suites={"decomposition": {"concurrency": 2}})
    write_cases(project, numbered(40))
    ask(project)
    assert server.most_in_flight == 2


def test_requests_per_minute_hold_over_two_processes(project: Project, server: FaultServer) -> None:
    moments: list[float] = []

    def answer(prompt: str) -> str:
        moments.append(time.time())
        return GOOD

    server.answer = answer
    configure(project, server.url, requests_per_minute=600)
    write_cases(project, numbered(40))
    ask_at_once(project, ("decomposition", VERSION), ("decomposition", VERSION))
    assert server.calls == 40
    burst, a_second = 10, 600 / 60
    for number, moment in enumerate(moments):
        for later in range(number, len(moments)):
            # A call that was let go may be under way for a while before it arrives.
            assert later - number <= burst + a_second * (moments[later] - moment + 1.0)
    assert moments[-1] - moments[0] >= (40 - burst) / a_second - 1.0


def test_one_answer_that_asks_for_a_long_pause_does_not_fail_the_others(
    project: Project, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They wait for a while, and whoever watches reads for what."""
    monkeypatch.setattr("eval_pipeline.engines.limits.FIRST_PAUSE", 0.5)
    monkeypatch.setattr("eval_pipeline.engines.limits.SHORTEST_SHOWN", 0.0)
    monkeypatch.setattr("eval_pipeline.asking.collecting.LOOK_SECONDS", 0.02)
    reasons: set[str] = set()

    class Watching(Silence):
        def wait(self, reason: str) -> None:
            reasons.add(reason)

    server.retry_after = "86400"
    configure(project, server.url, concurrency=1)
    write_cases(project, {"bad": "FAULT:429-after", **numbered(20)})
    assert errors(ask(project, progress=Watching())) == {"bad": "rate_limited"}
    assert server.calls == 21
    assert any(reason.startswith("remote wants to be left alone until ") for reason in reasons)


def test_an_endpoint_that_wants_to_be_left_alone_for_long_fails_fast(
    project: Project, server: FaultServer
) -> None:
    """Every answer of many says so; nor does the next run ask before the moment it named."""
    server.retry_after = "3600"
    configure(project, server.url, concurrency=10)
    write_cases(project, {name: f"FAULT:429-after {name}" for name in numbered(40)})
    started = time.monotonic()
    assert errors(ask(project)) == dict.fromkeys(numbered(40), "rate_limited")
    assert server.calls <= 10
    asked = server.calls
    assert len(errors(ask(project))) == 40
    assert server.calls == asked
    assert time.monotonic() - started < LONGEST_WAIT


@pytest.mark.parametrize("fault", ["429-after", "503-after"])
def test_when_to_ask_again_holds_for_all_calls_of_a_run(
    project: Project, server: FaultServer, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, however long it takes to let other processes know that a call failed."""
    moments: list[float] = []

    def answer(prompt: str) -> str:
        moments.append(time.monotonic())
        return GOOD

    async def share(self: Health) -> None:
        await asyncio.sleep(1)

    monkeypatch.setattr(Health, "share", share)
    server.answer = answer
    server.delay = 0.4
    server.retry_after = "3"
    configure(project, server.url, concurrency=3)
    write_cases(project, {"bad": f"FAULT:{fault}x1", **numbered(8)})
    assert errors(ask(project)) == {}
    waits = [later - earlier for earlier, later in itertools.pairwise(moments)]
    assert max(waits) > 2
    # Only the two that were under way as it was said came before the pause.
    assert waits.index(max(waits)) == 1


def test_calls_of_a_budget_are_never_exceeded(project: Project, server: FaultServer) -> None:
    server.delay = 0.01
    configure(project, server.url, concurrency=50, budget={"calls": 73})
    texts = {f"bad-{number:03}": f"FAULT:500 {number}" for number in range(10)}
    write_cases(project, texts | numbered(200))
    answers = list(ask(project))
    assert server.calls == 73
    kinds = [answer.error for answer in answers]
    assert kinds.count("budget") >= 210 - 73
    assert kinds.count(None) + 10 <= 73
    while "budget" in (answer.error for answer in answers):
        before = server.calls
        answers = list(ask(project))
        assert 0 < server.calls - before <= 73
    assert sum(answer.error is None for answer in answers) == 200


def spent(answers: list[Answer]) -> int:
    return sum(sum(answer.tokens.values()) for answer in answers if isinstance(answer.tokens, dict))


@pytest.mark.parametrize("length", [10, 3000])
@pytest.mark.parametrize("limit", ["tokens", "dollars"])
def test_a_budget_is_overshot_by_no_more_than_an_estimate_is_wrong(
    project: Project, server: FaultServer, limit: str, length: int
) -> None:
    """Whether an answer costs less than thought or six times as much."""
    server.answer = lambda prompt: json.dumps({"concepts": [], "relationships": [], "x": "y" * length})
    server.delay = 0.01
    budget = {"tokens": 60_000} if limit == "tokens" else {"dollars": 0.06}
    prices = {"prompt": 1.0, "completion": 1.0}
    configure(project, server.url, concurrency=50, budget=budget, prices=prices)
    write_cases(project, numbered(300 if length < 100 else 60))
    answers = list(ask(project))
    one_call = max(spent([answer]) for answer in answers)
    assert 60_000 - max(one_call, 600) <= spent(answers) + (60_000 if length < 100 else 0)
    assert spent(answers) <= 60_000 + one_call
    refused = [answer for answer in answers if answer.error is not None]
    assert {answer.error for answer in refused} <= {"budget"}
    assert bool(refused) is (length > 100)


def test_a_run_that_breaks_off_gives_up_its_claims_at_once(project: Project, server: FaultServer) -> None:
    class Impatient:
        """Breaks a run off in the middle."""

        def __init__(self) -> None:
            self.seen = 0

        def announce(self, plan: str) -> None: ...

        def start(self, title: str, total: int) -> None: ...

        def advance(self, answer: Answer, failure: Failure | None) -> None:
            self.seen += 1
            time.sleep(0.02)  # meanwhile more answers come in
            if self.seen == 20:
                raise InterruptedError("enough")

        def wait(self, reason: str) -> None: ...

    server.delay = 0.005
    configure(project, server.url, concurrency=10)
    write_cases(project, numbered(150))
    with pytest.raises(InterruptedError):
        ask(project, progress=Impatient())
    with Journal.open(database_url(project)) as journal, journal._database.reading() as connection:
        pending = journal_tables().calls.select().where(journal_tables().calls.c.answered_at.is_(None))
        assert connection.execute(pending).all() == []
        assert connection.execute(journal_tables().holders.select()).all() == []
    before = server.calls
    started = time.monotonic()
    assert errors(ask(project)) == {}
    assert time.monotonic() - started < LEASE / 2
    assert before < server.calls <= 150 + 10 + 10
