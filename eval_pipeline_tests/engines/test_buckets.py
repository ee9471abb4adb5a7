"""Buckets, on SQLite and on a real PostgreSQL: nobody takes more than they give, in any process."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor

import pytest

from eval_pipeline.engines import Journal
from eval_pipeline.engines.buckets import LONGEST_PAUSE
from eval_pipeline_tests.engines.journals import Clock, at_once

PER_MINUTE, BURST = 6000.0, 20.0


def test_a_bucket_gives_its_burst_and_then_its_rate(journal: Journal, clock: Clock) -> None:
    def take(amount: float) -> float:
        return journal.buckets.take("requests", amount, per_minute=60, burst=10)

    assert [take(4), take(6)] == [0, 0]
    assert take(3) == pytest.approx(3)
    clock.now += 2
    assert take(3) == pytest.approx(1)
    assert take(2) == 0
    assert journal.buckets.take("another", 10, per_minute=60, burst=10) == 0
    clock.now += 3600
    assert [take(10), take(1)] == [0, pytest.approx(1)]


def test_more_than_the_burst_is_given_by_a_full_bucket(journal: Journal, clock: Clock) -> None:
    def take(amount: float) -> float:
        return journal.buckets.take("tokens", amount, per_minute=60, burst=10)

    assert take(1) == 0
    assert take(25) == pytest.approx(1)
    clock.now += 1
    assert take(25) == 0
    assert take(1) == pytest.approx(16)
    clock.now += 16
    assert take(1) == 0


def test_what_was_not_used_can_be_given_back(journal: Journal, clock: Clock) -> None:
    journal.buckets.give_back("tokens", 100)
    assert journal.buckets.take("tokens", 10, per_minute=60, burst=10) == 0
    journal.buckets.give_back("tokens", 4)
    assert journal.buckets.take("tokens", 4, per_minute=60, burst=10) == 0
    journal.buckets.give_back("tokens", 100)
    assert journal.buckets.take("tokens", 10, per_minute=60, burst=10) == 0
    journal.buckets.give_back("tokens", -5)
    assert journal.buckets.take("tokens", 1, per_minute=60, burst=10) == pytest.approx(6)


def test_a_pause_is_everybodys_and_the_longest_counts(
    journal: Journal, clock: Clock, journal_url: str
) -> None:
    journal.buckets.pause("engine", 30)
    journal.buckets.pause("engine", 5)
    with Journal.open(journal_url, clock=clock) as other:
        assert other.buckets.paused_until("engine") == clock.now + 30
        assert other.buckets.paused_until("another") <= clock.now
        other.buckets.pause("engine", 1e300)
        assert other.buckets.paused_until("engine") == clock.now + LONGEST_PAUSE


def test_a_pause_that_was_kept_while_a_clock_was_wrong_is_over(journal: Journal, clock: Clock) -> None:
    clock.now += 365 * 86_400
    journal.buckets.pause("engine", 3600)
    clock.now -= 365 * 86_400
    assert journal.buckets.paused_until("engine") <= clock.now
    journal.buckets.pause("engine", 30)
    assert journal.buckets.paused_until("engine") == clock.now + 30


@pytest.mark.parametrize("owed", [2.0**63, 1e300])
def test_a_bucket_never_owes_more_than_a_minute(journal: Journal, clock: Clock, owed: float) -> None:
    def take() -> float:
        return journal.buckets.take("tokens", 1, per_minute=60, burst=10)

    journal.buckets.give_back("tokens", -owed)
    assert take() == 0  # nobody had taken: it was full
    journal.buckets.give_back("tokens", -owed)
    assert take() == pytest.approx(61)
    clock.now += 61
    assert take() == 0


def test_limits_and_pauses_can_begin_anew(journal: Journal, clock: Clock) -> None:
    assert journal.buckets.take("tokens", 10, per_minute=60, burst=10) == 0
    journal.buckets.pause("engine", 30)
    assert journal.buckets.reset() == 2
    assert journal.buckets.take("tokens", 10, per_minute=60, burst=10) == 0
    assert journal.buckets.paused_until("engine") <= clock.now


def test_a_clock_set_back_neither_fills_nor_freezes_a_bucket(journal: Journal, clock: Clock) -> None:
    def take() -> float:
        return journal.buckets.take("requests", 10, per_minute=60, burst=10)

    assert take() == 0
    clock.now -= 5
    assert take() == pytest.approx(10)
    clock.now -= 86_400
    assert take() == pytest.approx(10)
    clock.now += 10
    assert take() == 0


def take_many(url: str, owner: str, count: int) -> tuple[float, float]:
    started = time.time()
    with Journal.open(url) as journal:
        for _ in range(count):
            while wait := journal.buckets.take("shared", 1, PER_MINUTE, BURST):
                time.sleep(wait)
    return started, time.time()


def test_four_processes_never_take_more_than_a_bucket_gives(
    journal_url: str, processes: ProcessPoolExecutor
) -> None:
    times = at_once(processes, 4, take_many, journal_url, 40)
    elapsed = max(ended for _, ended in times) - min(started for started, _ in times)
    given = BURST + PER_MINUTE / 60 * elapsed
    assert given >= 4 * 40
