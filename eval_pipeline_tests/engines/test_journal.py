"""The journal, on SQLite and on a real PostgreSQL: nothing is asked twice, nothing answered is lost."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import msgspec
import pytest

from eval_pipeline.engines import Journal, Usage
from eval_pipeline.engines.journal import Record
from eval_pipeline_tests.engines.journals import LEASE, Clock, at_once, claim, record

REPOSITORY = Path(__file__).resolve().parents[2]
WRITER = """
import sys
from eval_pipeline.engines.journal import Journal
from eval_pipeline_tests.engines.journals import claim, record
url, *keys = sys.argv[1:]
with Journal.open(url) as journal:
    claim(journal, keys, "killed")
    print("ready", flush=True)
    for key in keys:
        journal.record([record(key, "x" * 10_000)])
        print(key, flush=True)
"""


def test_a_claim_goes_to_one_owner_and_then_everybody_has_the_answer(journal: Journal) -> None:
    assert claim(journal, ["x", "y"]) == {"x": True, "y": True}
    assert claim(journal, ["x", "y", "z"], "b") == {"x": False, "y": False, "z": True}
    assert claim(journal, ["x"]) == {"x": True}
    journal.record([record("x", "first")])
    assert claim(journal, ["x", "y"], "b") == {"x": record("x", "first"), "y": False}
    assert journal.answered(["x", "y", "unknown"]) == {"x"}


def test_nothing_is_claimed_recorded_or_counted_where_nothing_is_given(journal: Journal) -> None:
    assert journal.claim([], "a", LEASE) == {}
    journal.record([])
    journal.extend([], "a", LEASE)
    journal.release([], "a")
    assert journal.answered([]) == set()
    assert journal.stats() == []


def test_an_expired_lease_can_be_taken_over_and_an_extended_one_cannot(
    journal: Journal, clock: Clock
) -> None:
    claim(journal, ["x", "y"])
    clock.now += LEASE - 1
    journal.extend(["x", "y"], "b", LEASE)
    journal.extend(["x"], "a", LEASE)
    clock.now += 1
    assert claim(journal, ["x", "y"], "b") == {"x": False, "y": True}
    assert claim(journal, ["y"]) == {"y": False}


def test_only_its_owner_releases_a_call_and_never_an_answer(journal: Journal) -> None:
    claim(journal, ["x", "y"])
    journal.release(["x"], "b")
    assert claim(journal, ["x"], "b") == {"x": False}
    journal.record([record("y")])
    journal.release(["x", "y"], "a")
    assert claim(journal, ["x", "y"], "b") == {"x": True, "y": record("y")}


def test_the_first_answer_wins_and_repetitions_change_nothing(journal: Journal, clock: Clock) -> None:
    claim(journal, ["x"])
    clock.now += LEASE
    claim(journal, ["x"], "b")
    late = record("x", "late, but nobody had answered")
    journal.record([late])
    journal.record([record("x", "later"), late])
    assert claim(journal, ["x"], "b") == {"x": late}
    assert journal.stats()[0].calls == 1
    assert journal.stats()[0].hits == 1


def test_an_answer_is_kept_even_if_its_claim_is_gone(journal: Journal) -> None:
    claim(journal, ["x"])
    journal.release(["x"], "a")
    journal.record([record("x")])
    assert journal.answered(["x"]) == {"x"}


def test_text_comes_back_as_it_was(journal: Journal) -> None:
    texts = ["", "\0", "half a pair: \ud83d", "ünïcödé 🜁\r\n", "x" * 2**20]
    records = {f"key-{number}": record(f"key-{number}", text) for number, text in enumerate(texts)}
    journal.record(records.values())
    assert claim(journal, list(records)) == records


def test_what_an_endpoint_tells_about_itself_may_be_anything(journal: Journal) -> None:
    journal.record([msgspec.structs.replace(record("x"), finish_reason="\0\ud83d"), record("y")])
    known = claim(journal, ["x", "y"])
    assert known["y"] == record("y")
    assert isinstance(known["x"], Record)
    assert known["x"].finish_reason == "??"


def test_what_an_endpoint_did_not_tell_stays_unknown(journal: Journal) -> None:
    silent = msgspec.structs.replace(
        record("x"), prompt_tokens=None, completion_tokens=None, cost_usd=None, finish_reason=""
    )
    journal.record([silent])
    assert claim(journal, ["x"]) == {"x": silent}


def test_large_batches_are_claimed_and_recorded(journal: Journal) -> None:
    keys = [f"key-{number}" for number in range(5000)]
    assert claim(journal, keys) == dict.fromkeys(keys, True)
    journal.extend(keys, "a", LEASE)
    journal.record([record(key) for key in keys])
    assert journal.answered(keys) == set(keys)
    assert claim(journal, keys, "b") == {key: record(key) for key in keys}
    assert [row.hits for row in journal.stats()] == [5000]


def test_statistics_are_by_suite_version_day_and_engine(journal: Journal) -> None:
    claim(journal, ["pending"])
    journal.record([record("x"), record("y"), record("z", answered_at="2025-03-02T10:00:00+00:00")])
    journal.record([record("w", suite="Another"), record("v", engine="slow")])
    claim(journal, ["x", "y", "pending"], "b")
    claim(journal, ["x"], "b")
    suite, version = "decomposition", "concepts-v1.0"
    assert journal.stats() == [
        Usage("Another", version, "2025-03-01", "fast", 1, 100, 20, 0.25, 0),
        Usage(suite, version, "2025-03-01", "fast", 2, 200, 40, 0.5, 3),
        Usage(suite, version, "2025-03-01", "slow", 1, 100, 20, 0.25, 0),
        Usage(suite, version, "2025-03-02", "fast", 1, 100, 20, 0.25, 0),
    ]


def test_a_purge_forgets_answers_by_suite_and_age(journal: Journal) -> None:
    claim(journal, ["pending"])
    journal.record([record("old"), record("new", answered_at="2025-03-05T00:00:00+00:00")])
    journal.record([record("other", suite="other"), record("older", suite="other", answered_at="2024-01-01")])
    with pytest.raises(ValueError, match="needs a suite"):
        journal.purge(suite=None, before=None)
    assert journal.purge(suite="other", before="2025-01-01") == 1
    assert journal.purge(suite=None, before="2025-03-04") == 2
    assert journal.purge(suite="decomposition", before=None) == 1
    assert journal.purge(suite="decomposition", before=None) == 0
    assert claim(journal, ["pending", "old"], "b") == {"pending": False, "old": True}


def test_it_is_there_when_opened_again(journal_url: str) -> None:
    with Journal.open(journal_url) as first:
        first.record([record("x")])
        with Journal.open(journal_url) as second:
            assert second.answered(["x"]) == {"x"}
    with Journal.open(journal_url) as third:
        assert third.answered(["x"]) == {"x"}


def claim_and_record(url: str, owner: str, keys: list[str]) -> list[str]:
    random.Random(owner).shuffle(keys)
    claimed: list[str] = []
    with Journal.open(url) as journal:
        for start in range(0, len(keys), 50):
            states = claim(journal, keys[start : start + 50], owner)
            mine = [key for key, state in states.items() if state is True]
            journal.record([record(key, owner) for key in mine])
            claimed += mine
    return claimed


def test_eight_processes_share_eight_hundred_calls(journal_url: str, processes: ProcessPoolExecutor) -> None:
    keys = [f"key-{number}" for number in range(800)]
    claimed = at_once(processes, 8, claim_and_record, journal_url, keys)
    assert sorted(key for each in claimed for key in each) == sorted(keys)
    with Journal.open(journal_url) as journal:
        known = claim(journal, keys)
    for number, mine in enumerate(claimed):
        assert all(known[key] == record(key, f"process-{number}") for key in mine)


@pytest.mark.parametrize("moment", [1, 150])
def test_a_killed_writer_loses_nothing_that_was_recorded(journal_url: str, moment: int) -> None:
    keys = [f"key-{number}" for number in range(1000)]
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, journal_url, *keys], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        printed = [writer.stdout.readline().strip() for _ in range(moment)]
        writer.send_signal(signal.SIGKILL)
        printed += writer.stdout.read().split()
    with Journal.open(journal_url) as journal:
        known = claim(journal, keys, "b")
        answered = [key for key in keys if known[key] == record(key, "x" * 10_000)]
        assert printed == answered[: len(printed)]
        assert len(answered) - len(printed) in (0, 1)
        assert len(answered) < len(keys)
        assert all(known[key] is False for key in keys[len(answered) :])
    with Journal.open(journal_url, clock=lambda: time.time() + LEASE) as later:
        known = claim(later, keys, "b")
        assert [key for key in keys if known[key] is True] == keys[len(answered) :]


def test_importing_it_is_light() -> None:
    program = "import sys, eval_pipeline.engines.journal, eval_pipeline.cli.journal; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"sqlalchemy", "dagster", "rich"} & set(done.stdout.split())
