"""Projects whose golden sets are cut, workers to try that with, and what has to be the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import yaml

from eval_pipeline import stages
from eval_pipeline.project import Project
from eval_pipeline.scoring import Scores
from eval_pipeline.store import AnswerTable, Scored
from eval_pipeline.suite import Suite
from eval_pipeline.workers import Done

REPOSITORY = Path(__file__).resolve().parent.parent
TABLES = ("counts", "keyed", "diagnoses")


def with_this_repository() -> dict[str, str]:
    """The environment of a process that finds the modules of tests."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY)}


def cut(project: Project, **shards: Any) -> None:
    """Let a project cut its golden sets; without anything said, let it not."""
    engines = yaml.safe_load(project.engines_file.read_text())
    engines["shards"] = shards or "none"
    project.engines_file.write_text(yaml.safe_dump(engines))


class Here:
    """Workers that are this process: every task is done as it is handed in, the last one first."""

    def __init__(self, *_: object) -> None:
        self._tasks: list[tuple[int, Callable[[Any], Any], Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tasks.clear()

    def submit(self, number: int, function: Callable[[Any], Any], task: Any) -> None:
        self._tasks.append((number, function, task))

    def completed(self, seconds: float) -> Iterator[Done]:
        while self._tasks:
            number, function, task = self._tasks.pop()
            yield Done(number, function(task))


class Evaluated(NamedTuple):
    """What came out, as far as it is the same wherever it is worked out."""

    answers: AnswerTable
    scored: Scored
    numbers: bytes
    """The summary, and what became of every case."""


def evaluate(
    project: Project, suite: Suite, version: str, cases: int | None = None, **asking: Any
) -> Evaluated:
    """Ask and score every case, or so many."""
    bench = stages.Workbench(project, suite)
    golden = stages.draw_cases(stages.load_golden(bench).table, cases)
    answers = stages.answer_cases(bench, golden, version, **asking)
    scored = stages.score_answers(bench, golden, answers)
    evaluation = stages.evaluate(bench, scored, answers.costs)
    numbers = msgspec.json.encode([evaluation.id, evaluation.summary, evaluation.case_results])
    return Evaluated(answers, scored, numbers)


def answered(table: AnswerTable) -> list[tuple[Any, ...]]:
    """The answers in their order, but for how long they took."""
    return [
        (each.case_id, each.trial, each.text, each.error, each.detail, bytes(each.carried), each.cost_usd)
        for each in table
    ]


def assert_same(one: Evaluated, other: Evaluated) -> None:
    """See that nothing is different, to the last bit."""
    assert answered(one.answers) == answered(other.answers)
    assert one.answers.identity == other.answers.identity
    assert one.answers.costs.errors == other.answers.costs.errors
    assert one.answers.costs.examples == other.answers.costs.examples
    assert one.answers.costs.cost_usd == other.answers.costs.cost_usd
    assert_same_scores(one.scored.scores, other.scored.scores)
    assert one.numbers == other.numbers


def assert_same_scores(one: Scores, other: Scores) -> None:
    """See that tables hold the same, whatever the order of their columns."""
    for name in TABLES:
        left, right = getattr(one, name), getattr(other, name)
        assert sorted(left.column_names) == sorted(right.column_names)
        assert left.select(right.column_names).equals(right)


@contextmanager
def dask_cluster(workers: int, folder: Path) -> Iterator[DaskCluster]:
    """A scheduler and workers on loopback, as plain processes."""
    cluster = DaskCluster(folder)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.stop()


class DaskCluster:
    """A scheduler on loopback, and its workers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "scheduler.log"
        self.scheduler = self._start(
            "scheduler", self._log, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
        )
        self.workers: list[subprocess.Popen[bytes]] = []
        self.address = self._address()

    def _start(self, what: str, log: Path, *arguments: str) -> subprocess.Popen[bytes]:
        with log.open("ab") as out:
            return subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_" + what, *arguments],
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                env=with_this_repository(),
            )

    def _address(self) -> str:
        deadline = time.monotonic() + 60
        while not (found := re.search(r"tcp://127\.0\.0\.1:\d+", self._log.read_text())):
            assert time.monotonic() < deadline, self._log.read_text()
            time.sleep(0.05)
        return found[0]

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start one more, with one thread and no process beside it."""
        log = self._folder / f"worker-{len(self.workers)}.log"
        alone = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        here = ("--local-directory", str(self._folder), "--death-timeout", "20")
        self.workers.append(self._start("worker", log, self.address, *alone, *here))
        return self.workers[-1]

    def stop(self) -> None:
        """End all of it."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
