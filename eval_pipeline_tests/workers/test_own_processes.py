"""Workers that are processes of this machine: what they are given is done, though some of them die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval_pipeline.workers import Done, Shards, Workers, WorkersLost, open_workers
from eval_pipeline_tests.sharding import with_this_repository
from eval_pipeline_tests.workers.tasks import die, die_once, double, fail

DRIVER = """
import sys
from eval_pipeline.workers import Shards, open_workers
from eval_pipeline_tests.workers.tasks import say_who_and_wait

if __name__ == "__main__":
    with open_workers(Shards(processes=1)) as workers:
        workers.submit(0, say_who_and_wait, sys.argv[1])
        list(workers.completed(600))
"""


def all_of(workers: Workers, count: int) -> list[Done]:
    done: list[Done] = []
    while len(done) < count:
        done += workers.completed(1.0)
    return sorted(done)


def is_running(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_what_is_handed_in_is_done_though_workers_die(tmp_path: Path) -> None:
    with open_workers(Shards(processes=2)) as workers:
        for number in range(4):
            workers.submit(number, double, number)
        for number in range(4, 6):
            workers.submit(number, die_once, str(tmp_path / str(number)))
        assert all_of(workers, 6) == [*(Done(each, 2 * each) for each in range(4)), (4, "4"), (5, "5")]


def test_what_a_task_raises_is_raised_here() -> None:
    with open_workers(Shards(processes=1)) as workers:
        workers.submit(0, fail, 7)
        with pytest.raises(LookupError, match="there is no 7"):
            all_of(workers, 1)


def test_a_task_that_kills_whoever_takes_it_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_pipeline.workers.own_processes.MOST_DEATHS", 1)
    with open_workers(Shards(processes=1)) as workers:
        workers.submit(0, die, None)
        with pytest.raises(WorkersLost, match="a shard's process died 2 times"):
            all_of(workers, 1)


def test_workers_end_with_who_started_them(tmp_path: Path) -> None:
    script, said = tmp_path / "driver.py", tmp_path / "worker"
    script.write_text(DRIVER)
    driver = subprocess.Popen([sys.executable, str(script), str(said)], env=with_this_repository())
    while not (said.exists() and said.read_text()):
        assert driver.poll() is None
        time.sleep(0.02)
    worker = int(said.read_text())
    assert is_running(worker)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    while is_running(worker):
        time.sleep(0.02)
