"""The journal, on SQLite and on a real PostgreSQL: nothing is asked twice, nothing answered is lost."""

from __future__ import annotations

import json
import multiprocessing
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from eval_pipeline.cli.journal import command
from eval_pipeline.engines import Journal, Usage
from eval_pipeline.engines.journal import Call, Record
from eval_pipeline.problems import BadInput
from eval_pipeline.project import ROOT_VARIABLE, STATE_VARIABLE, Project
from eval_pipeline.store import database_file, database_url
from eval_pipeline.store.database import URL_VARIABLE
from eval_pipeline_tests.postgres import PASSWORD, USER, Server, postgres_server

REPOSITORY = Path(__file__).resolve().parents[2]
BARRIERS: dict[int, Barrier] = {}  # a barrier reaches a process only as it starts
WRONG = "wr0ng-one"
LEASE = 600.0
PER_MINUTE, BURST = 6000.0, 20.0
WRITER = """
import sys
from eval_pipeline.engines.journal import Journal
from eval_pipeline_tests.engines.test_journal import claim, record
url, *keys = sys.argv[1:]
with Journal.open(url) as journal:
    claim(journal, keys, "killed")
    print("ready", flush=True)
    for key in keys:
        journal.record([record(key, "x" * 10_000)])
        print(key, flush=True)
"""


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres_server() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/state/journal.sqlite"
    running: Server = request.getfixturevalue("server")
    return running.new_schema()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def journal(url: str, clock: Clock) -> Iterator[Journal]:
    with Journal.open(url, clock=clock) as opened:
        yield opened


def call(key: str, **changes: Any) -> Call:
    plain = Call(key, "fast", "model-1", "decomposition", "concepts-v1.0", f"case-{key}", 1, "")
    return msgspec.structs.replace(plain, **changes)


def record(
    key: str, text: str = "{}", answered_at: str = "2025-03-01T10:00:00+00:00", **changes: Any
) -> Record:
    return Record(call(key, **changes), text, "stop", 100, 20, 12.5, 0.25, 1, answered_at)


def claim(journal: Journal, keys: Sequence[str], owner: str = "a") -> dict[str, Record | bool]:
    return journal.claim([call(key) for key in keys], owner, LEASE)


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
    journal.record(
        [msgspec.structs.replace(record("x"), finish_reason="\0\ud83d", prompt_tokens=10**30), record("y")]
    )
    found = claim(journal, ["x", "y"])
    assert found["y"] == record("y")
    assert isinstance(found["x"], Record)
    assert (found["x"].finish_reason, found["x"].prompt_tokens) == ("??", 2**40)


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


def test_it_is_there_when_opened_again(url: str) -> None:
    with Journal.open(url) as first:
        first.record([record("x")])
        with Journal.open(url) as second:
            assert second.answered(["x"]) == {"x"}
    with Journal.open(url) as third:
        assert third.answered(["x"]) == {"x"}


def test_a_bucket_gives_its_burst_and_then_its_rate(journal: Journal, clock: Clock) -> None:
    def take(amount: float) -> float:
        return journal.take("requests", amount, per_minute=60, burst=10)

    assert [take(4), take(6)] == [0, 0]
    assert take(3) == pytest.approx(3)
    clock.now += 2
    assert take(3) == pytest.approx(1)
    assert take(2) == 0
    assert journal.take("another", 10, per_minute=60, burst=10) == 0
    clock.now += 3600
    assert [take(10), take(1)] == [0, pytest.approx(1)]


def test_more_than_the_burst_is_given_by_a_full_bucket(journal: Journal, clock: Clock) -> None:
    def take(amount: float) -> float:
        return journal.take("tokens", amount, per_minute=60, burst=10)

    assert take(1) == 0
    assert take(25) == pytest.approx(1)
    clock.now += 1
    assert take(25) == 0
    assert take(1) == pytest.approx(16)
    clock.now += 16
    assert take(1) == 0


def test_what_was_not_used_can_be_given_back(journal: Journal, clock: Clock) -> None:
    journal.give_back("tokens", 100)
    assert journal.take("tokens", 10, per_minute=60, burst=10) == 0
    journal.give_back("tokens", 4)
    assert journal.take("tokens", 4, per_minute=60, burst=10) == 0
    journal.give_back("tokens", 100)
    assert journal.take("tokens", 10, per_minute=60, burst=10) == 0
    journal.give_back("tokens", -5)
    assert journal.take("tokens", 1, per_minute=60, burst=10) == pytest.approx(6)


def test_a_pause_holds_everybody_and_the_longest_counts(journal: Journal, clock: Clock, url: str) -> None:
    journal.pause("requests", clock.now + 30)
    journal.pause("requests", clock.now + 5)
    with Journal.open(url, clock=clock) as other:
        assert other.take("requests", 1, per_minute=60, burst=10) == pytest.approx(30)
        assert other.take("another", 1, per_minute=60, burst=10) == 0
        clock.now += 30
        assert other.take("requests", 10, per_minute=60, burst=10) == 0


def test_a_clock_set_back_neither_fills_nor_freezes_a_bucket(journal: Journal, clock: Clock) -> None:
    def take() -> float:
        return journal.take("requests", 10, per_minute=60, burst=10)

    assert take() == 0
    clock.now -= 5
    assert take() == pytest.approx(10)
    clock.now -= 86_400
    assert take() == pytest.approx(10)
    clock.now += 10
    assert take() == 0


def keep_barriers(barriers: dict[int, Barrier]) -> None:
    BARRIERS.update(barriers)


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    barriers = {count: context.Barrier(count) for count in (4, 8)}
    with ProcessPoolExecutor(max(barriers), context, keep_barriers, (barriers,)) as pool:
        yield pool


def work_when_all_are_ready(
    count: int, work: Callable[..., Any], url: str, owner: str, arguments: tuple[Any, ...]
) -> Any:
    BARRIERS[count].wait(timeout=60)
    return work(url, owner, *arguments)


def at_once(
    processes: ProcessPoolExecutor, count: int, work: Callable[..., Any], url: str, *arguments: Any
) -> list[Any]:
    """Do the same in as many processes, which start at the same moment."""
    started = [
        processes.submit(work_when_all_are_ready, count, work, url, f"process-{number}", arguments)
        for number in range(count)
    ]
    return [each.result() for each in started]


def claim_and_record(url: str, owner: str, keys: list[str]) -> list[str]:
    random.Random(owner).shuffle(keys)
    claimed: list[str] = []
    with Journal.open(url) as journal:
        for start in range(0, len(keys), 50):
            found = claim(journal, keys[start : start + 50], owner)
            mine = [key for key, state in found.items() if state is True]
            journal.record([record(key, owner) for key in mine])
            claimed += mine
    return claimed


def test_eight_processes_share_two_thousand_calls(url: str, processes: ProcessPoolExecutor) -> None:
    keys = [f"key-{number}" for number in range(2000)]
    claimed = at_once(processes, 8, claim_and_record, url, keys)
    assert sorted(key for each in claimed for key in each) == sorted(keys)
    with Journal.open(url) as journal:
        found = claim(journal, keys)
    for number, mine in enumerate(claimed):
        assert all(found[key] == record(key, f"process-{number}") for key in mine)


def take_many(url: str, owner: str, count: int) -> tuple[float, float]:
    started = time.time()
    with Journal.open(url) as journal:
        for _ in range(count):
            while wait := journal.take("shared", 1, PER_MINUTE, BURST):
                time.sleep(wait)
    return started, time.time()


def test_four_processes_never_take_more_than_a_bucket_gives(url: str, processes: ProcessPoolExecutor) -> None:
    times = at_once(processes, 4, take_many, url, 40)
    elapsed = max(ended for _, ended in times) - min(started for started, _ in times)
    given = BURST + PER_MINUTE / 60 * elapsed
    assert given >= 4 * 40


@pytest.mark.parametrize("moment", [1, 150])
def test_a_killed_writer_loses_nothing_that_was_recorded(url: str, moment: int) -> None:
    keys = [f"key-{number}" for number in range(1000)]
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, url, *keys], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        told = [writer.stdout.readline().strip() for _ in range(moment)]
        writer.send_signal(signal.SIGKILL)
        told += writer.stdout.read().split()
    with Journal.open(url) as journal:
        found = claim(journal, keys, "b")
        answered = [key for key in keys if found[key] == record(key, "x" * 10_000)]
        assert told == answered[: len(told)]
        assert len(answered) - len(told) in (0, 1)
        assert len(answered) < len(keys)
        assert all(found[key] is False for key in keys[len(answered) :])
    with Journal.open(url, clock=lambda: time.time() + LEASE) as later:
        found = claim(later, keys, "b")
        assert [key for key in keys if found[key] is True] == keys[len(answered) :]


def raised(action: Callable[[], Any]) -> str:
    """Everything that a person or a log would see of an error."""
    with pytest.raises(BadInput) as caught:
        action()
    return "".join(traceback.format_exception(caught.value))


def test_a_wrong_password_is_told_without_the_password(server: Server) -> None:
    address = server.url("postgres", password=WRONG)
    told = raised(lambda: Journal.open(address))
    assert "127.0.0.1/postgres cannot be used" in told
    assert "password authentication failed" in told
    assert WRONG not in told
    assert USER not in told


@pytest.mark.parametrize("dead", [False, True])
def test_a_missing_database_or_server_is_told_without_credentials(server: Server, dead: bool) -> None:
    address = server.url("nowhere")
    told = raised(lambda: Journal.open(address.replace(f":{server.port}/", ":1/") if dead else address))
    assert "127.0.0.1/nowhere cannot be used" in told
    assert ("refused" if dead else "does not exist") in told
    assert not any(secret in told for secret in (PASSWORD, "s3cr3t", USER))


def test_a_failure_in_the_middle_is_told_without_credentials_or_content(server: Server) -> None:
    from sqlalchemy import create_engine

    address = server.new_schema()
    with Journal.open(address) as journal:
        engine = create_engine(address)
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE journal_calls")
        engine.dispose()
        answer = record("x", "what a model wrote")
        told = raised(lambda: journal.record([answer]))
    assert 'relation "journal_calls" does not exist' in told
    assert not any(secret in told for secret in (PASSWORD, "s3cr3t", USER, "what a model wrote"))


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("s3cr3t", "is not a database's URL"),
        ("/path/s3cr3t.sqlite", "is not a database's URL"),
        ("postgresql://user:name:s3cr3t@host:s3cr3t/database", "is not a database's URL"),
        ("postgresql://user:p@s3cr3t@host/database", "is not a database's URL"),
        ("postgresql://user:p@s3cr3t/s3cr3t@host/database", "is not a database's URL"),
        ("postgresql://us/er:s3cr3t@host/database", "is not a database's URL"),
        ("postgresql+asyncpg://user:s3cr3t@host/database", "names another driver"),
        ("mysql://user:s3cr3t@host/database", "is neither a SQLite file nor a PostgreSQL database"),
        ("sqlite://user:s3cr3t@host/database", "is neither a SQLite file nor a PostgreSQL database"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
    ],
)
def test_a_url_that_cannot_be_used_is_told_without_repeating_it(address: str, reason: str) -> None:
    told = raised(lambda: Journal.open(address))
    assert reason in told
    assert "s3cr3t" not in told


def test_a_missing_driver_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "needs the package psycopg" in raised(lambda: Journal.open("postgresql://user@host/database"))


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite").write_text("not a database, " * 100)
    assert "file is not a database" in raised(lambda: Journal.open(f"sqlite:///{tmp_path}/journal.sqlite"))
    inside = f"sqlite:///{tmp_path}/journal.sqlite/journal.sqlite"
    assert "cannot be used" in raised(lambda: Journal.open(inside))


def test_the_url_is_the_environment_s_or_a_file_in_the_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path, tmp_path / "a b?c%41#d@e")
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    file = project.state / "journal.sqlite"
    assert database_file(database_url(project)) == file
    with Journal.open(database_url(project)) as journal:
        journal.record([record("x")])
    assert file.exists()
    monkeypatch.setenv(URL_VARIABLE, "postgresql://user:password@host/database")
    assert database_url(project) == "postgresql://user:password@host/database"
    assert database_file(database_url(project)) is None


def test_importing_it_is_light() -> None:
    program = "import sys, eval_pipeline.engines.journal, eval_pipeline.cli.journal; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"sqlalchemy", "dagster", "rich"} & set(done.stdout.split())


def run(*arguments: str, answer: str | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(command, arguments, input=answer)
    return done.exit_code, done.output


@pytest.fixture
def here(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The journal's URL, in an environment that names it."""
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    monkeypatch.setenv(URL_VARIABLE, url)
    return url


def test_the_command_shows_and_forgets(here: str) -> None:
    with Journal.open(here) as journal:
        assert "The journal is empty" in run("stats")[1]
        journal.record([record("x"), record("y", suite="other", answered_at="9999-01-01T00:00:00+00:00")])
        claim(journal, ["x"])
        shown = run("stats")[1]
        assert "decomposition" in shown
        assert "2 calls for $0.50; 1 answer reused." in shown
        assert msgspec.json.decode(run("stats", "--json")[1], type=list[Usage]) == journal.stats()
        assert "Nothing was forgotten." in run("purge", "--suite", "other", answer="n\n")[1]
        assert run("purge", "--older-than", "30", "--yes") == (0, "1 answer forgotten.\n")
        assert "1 answer forgotten." in run("purge", "--suite", "other", answer="y\n")[1]
        assert journal.stats() == []


def test_the_command_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    for arguments in (["stats"], ["purge", "--suite", "x", "--yes"]):
        assert "There is no journal yet" in run(*arguments)[1]
    assert json.loads(run("stats", "--json")[1]) == []
    assert not (tmp_path / "state").exists()
    done = CliRunner().invoke(command, ["purge", "--yes"])
    assert isinstance(done.exception, BadInput)
    assert "Give --suite, --older-than or both." in str(done.exception)
