"""Shards: the same numbers wherever they are worked out, what they cost, and what they survive.

    python -m benchmarks.shards               # everything, as ratios
    python -m benchmarks.shards --kills 20    # workers are killed at random moments
    python -m benchmarks.shards --only limits # one part: suites, numbers, speed, overhead, memory, limits

The bounds that the project holds itself to: one process, several and a Dask cluster give the same numbers to
the last bit, for every suite in shards of three cases and for 200,000 cases of a trivial one; two workers
take at most 0.6 × the time of one on work that is bound by scoring; a shard costs less than 0.3 s beside its
work; who hands them out needs less than 50 bytes per case; limits per minute hold within 2 % over four
workers, and no call is made twice. It exits with 1 where one of them is broken.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from benchmarks.engine import VERSION as ECHO
from benchmarks.engine import write_project
from benchmarks.kills import endpoint
from eval_pipeline import stages
from eval_pipeline.loading import find_suite, shipped_names
from eval_pipeline.project import Project
from eval_pipeline.prompts import active_versions
from eval_pipeline.store import Store
from eval_pipeline.suites.decomposition import SUITE as DECOMPOSITION
from eval_pipeline_tests.sharding import (
    DaskCluster,
    assert_same,
    assert_same_scores,
    cut,
    dask_cluster,
    evaluate,
)

CASES = 200_000
VERSION = "guess-v1.0"
MOST_TIME = 0.6
ROUNDS = 2
MOST_OVERHEAD = 0.3
MOST_BYTES = 50
MOST_OFF = 0.02
PER_MINUTE = 1200
MINUTE = 60.0
SAMPLE_SECONDS = 0.02
MODULE = '''"""The parity of a number, and as much work as a scorer likes."""

import hashlib

import msgspec

import eval_pipeline.suite as kit
from eval_pipeline.golden import JsonCases

ROUNDS = {rounds}


class Entry(msgspec.Struct):
    id: str
    number: int
    kind: str


class Given(msgspec.Struct):
    number: int


class Parity(msgspec.Struct):
    even: bool


def score(item: kit.Item, context: kit.Context) -> kit.CaseScore:
    digest = b""
    for _ in range(ROUNDS):
        digest = hashlib.sha256(digest).digest()
    right = item.case.expected == item.output.even
    wrong = [] if right else [kit.Diagnosis("wrong", str(item.case.expected), str(item.output.even))]
    counts = {{"right": float(right), "part": item.case.input.number % 7 / 3}}
    return kit.CaseScore(counts, [kit.KeyedCount("parity", str(right), "", 1)], wrong)


SUITE = kit.Suite(
    name="parity",
    description="Whether numbers are even.",
    reader=JsonCases(
        Entry, lambda each: kit.Case(each.id, Given(each.number), each.number % 2 == 0, {{"kind": each.kind}})
    ),
    input=Given,
    expected=bool,
    output=Parity,
    score=kit.per_case(score),
    errored=lambda case, answer: kit.CaseScore({{"right": 0.0, "part": 0.0}}),
    metrics=(
        kit.Metric("accuracy", "Right ÷ all.", kit.ratio_of("right", "answers")),
        kit.Metric("part", "Parts ÷ all.", kit.ratio_of("part", "answers")),
    ),
    embedded=lambda given, parameters, resources: {{"even": given.number % 2 == 0 or given.number % 10 == 3}},
)
'''

broken: list[str] = []


def hold(what: str, value: float, bound: float) -> None:
    """Say how a measure stands to its bound, and keep in mind where it is above it."""
    sign = "✓" if value <= bound else "✗"
    print(f"{sign} {what}: {value:.3g}, at most {bound:g} ({value / bound:.0%})", flush=True)
    if value > bound:
        broken.append(what)


@contextmanager
def parity(cases: int, rounds: int = 0) -> Iterator[Project]:
    """A project with that many cases of a suite that takes as long to score as is asked for."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in {
            "suites/parity/__init__.py": MODULE.format(rounds=rounds),
            f"prompts/parity/{VERSION}.md": "---\nsuite: parity\nstatus: active\n---\nEven: {{ number }}?\n",
            "golden/parity/gates.yaml": 'metrics: {accuracy: {fail: "< 0.5", pass: ">= 0.8"}}\n',
            "engines.yaml": "default: embedded\nengines: {embedded: {kind: embedded}}\n",
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        (root / "golden/parity/cases").mkdir()
        with (root / "golden/parity/cases/cases.jsonl").open("w") as file:
            for number in range(cases):
                entry = {"id": f"case-{number:07}", "number": number, "kind": f"kind {number % 3}"}
                file.write(json.dumps(entry) + "\n")
        yield Project(root, root / ".eval")


@contextmanager
def shipped() -> Iterator[Project]:
    """A copy of this project."""
    here = Project.find()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("golden", "prompts"):
            shutil.copytree(here.root / name, root / name)
        shutil.copy(here.engines_file, root)
        yield Project(root, root / ".eval")


def suites() -> None:
    """Every suite in shards of three cases: on processes, and on a cluster."""
    with shipped() as project, dask_cluster(2, project.root / "cluster") as cluster:
        for name in shipped_names():
            suite = find_suite(project, name)
            (version, *_) = active_versions(suite, project.prompts(name))
            cut(project)
            whole = evaluate(project, suite, version)
            for where in ({"processes": 2}, {"dask": cluster.address}):
                cut(project, cases=3, **where)
                assert_same(evaluate(project, suite, version), whole)
            print(f"✓ {name}: the same numbers on processes and on a cluster", flush=True)


def numbers(cases: int, kills: int = 0, seed: int = 1) -> None:
    """A trivial suite: the same numbers, though workers be killed."""
    with parity(cases) as project, dask_cluster(2, project.root / "cluster") as cluster:
        suite = find_suite(project, "parity")
        whole = evaluate(project, suite, VERSION)
        chance = random.Random(seed)
        print(f"{cases:,} cases: {_seconds(lambda: evaluate(project, suite, VERSION)):.1f} s in one process")
        for where, kill in (
            ({"processes": 2}, lambda: _kill_process(chance)),
            ({"dask": cluster.address}, lambda: _kill_worker(cluster, chance)),
        ):
            cut(project, cases=max(1, cases // 100), **where)
            with _killing(kills // 2, kill, chance) as killed:
                started = time.monotonic()
                results = [evaluate(project, suite, VERSION)]
                while len(killed) < kills // 2:
                    results.append(evaluate(project, suite, VERSION))
            for result in results:
                assert_same(result, whole)
            name = next(iter(where))
            took = f"{time.monotonic() - started:.1f} s for {len(results)} runs"
            print(f"✓ {name}: the same numbers, {len(killed)} workers killed, {took}", flush=True)


@contextmanager
def _killing(kills: int, kill: Callable[[], bool], chance: random.Random) -> Iterator[list[float]]:
    """Kill workers at random moments until there were that many, or the block ends."""
    killed: list[float] = []
    over = threading.Event()

    def work() -> None:
        while len(killed) < kills and not over.wait(chance.uniform(0.1, 4.0)):
            if kill():
                killed.append(time.monotonic())

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def _kill_process(chance: random.Random) -> bool:
    children = multiprocessing.active_children()
    if not children:
        return False
    chance.choice(children).kill()
    return True


def _kill_worker(cluster: DaskCluster, chance: random.Random) -> bool:
    running = [each for each in cluster.workers if each.poll() is None]
    if not running:
        return False
    chance.choice(running).kill()
    cluster.add_worker()
    return True


def _seconds(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


def speed(cases: int) -> None:
    """Two workers against one, where scoring takes the time; the best of two rounds each."""
    with parity(cases, rounds=400) as project:
        suite = find_suite(project, "parity")
        bench = stages.Workbench(project, suite)
        golden = stages.load_golden(bench).table
        answers = stages.answer_cases(bench, golden, VERSION)
        took, scores = dict.fromkeys((1, 2), math.inf), {}
        for processes in (1, 2) * ROUNDS:
            cut(project, processes=processes)
            work = stages.Workbench(project, suite)
            started = time.monotonic()
            scores[processes] = stages.score_answers(work, golden, answers).scores
            took[processes] = min(took[processes], time.monotonic() - started)
        assert_same_scores(scores[1], scores[2])
        print(f"scoring {cases:,} cases: {took[1]:.1f} s with one worker, {took[2]:.1f} s with two")
        hold("time of two workers ÷ of one", took[2] / took[1], MOST_TIME)


def overhead(cases: int) -> None:
    """What a shard costs beside its work."""
    with parity(cases) as project:
        suite = find_suite(project, "parity")
        took = {}
        for count in (2, 102):
            cut(project, processes=1, cases=-(-cases // count))
            took[count] = _seconds(lambda: evaluate(project, suite, VERSION))
        hold("seconds per shard, asked and scored", (took[102] - took[2]) / 100, MOST_OVERHEAD)


DRIVER = """
import sys, threading, time
from pathlib import Path
from eval_pipeline import stages
from eval_pipeline.loading import find_suite
from eval_pipeline.project import Project

def main():
    root = Path(sys.argv[1])
    project = Project(root, root / ".eval")
    bench = stages.Workbench(project, find_suite(project, "parity"))
    golden = bench.store.golden("parity")
    peak, over = [0], threading.Event()

    def watch():
        while not over.wait(0.01):
            status = Path("/proc/self/status").read_text()
            peak[0] = max(peak[0], int(status.partition("RssAnon:")[2].split()[0]))

    threading.Thread(target=watch, daemon=True).start()
    answers = stages.answer_cases(bench, golden, "guess-v1.0")
    scored = stages.score_answers(bench, golden, answers)
    over.set()
    print(peak[0])

if __name__ == "__main__":
    main()
"""


def memory(cases: int) -> None:
    """What who hands out shards needs for each further case, at the most: memory that no file backs."""
    peaks = {}
    for count in (cases // 10, cases):
        with parity(count) as project:
            suite = find_suite(project, "parity")
            bench = stages.Workbench(project, suite)
            Store(project.state).keep_golden("parity", stages.load_golden(bench).table)
            cut(project, processes=2, cases=2000)
            script = project.root / "driver.py"
            script.write_text(DRIVER)
            told = subprocess.run(
                [sys.executable, str(script), str(project.root)], capture_output=True, text=True, check=True
            )
            peaks[count] = int(told.stdout) * 1024
    grown = (peaks[cases] - peaks[cases // 10]) / (cases - cases // 10)
    print(", ".join(f"{count:,} cases: {peak / 2**20:.0f} MB" for count, peak in peaks.items()))
    hold("bytes per case of who hands out shards", grown, MOST_BYTES)


def limits(seconds: float = 75.0) -> None:
    """Four workers that share a limit per minute."""
    cases = round(PER_MINUTE * seconds / MINUTE)
    with tempfile.TemporaryDirectory() as folder, endpoint() as model:
        project = write_project(Path(folder), model.url, cases, 40)
        engines = yaml.safe_load(project.engines_file.read_text())
        engines["engines"]["e"]["requests_per_minute"] = PER_MINUTE
        project.engines_file.write_text(yaml.safe_dump(engines))
        cut(project, processes=4, cases=-(-cases // 8))
        bench = stages.Workbench(project, DECOMPOSITION)
        golden = stages.load_golden(bench).table
        stages.answer_cases(bench, golden, ECHO)
        moments = sorted(model.moments)
        hold("calls per question", max(model.asked.values()), 1)
        hold("questions without a call", cases - len(model.asked), 0.5)
    window = min(MINUTE, seconds)
    most = max(
        sum(start <= each < start + window for each in moments) for start in moments[:: max(1, cases // 200)]
    )
    hold("calls in a minute ÷ those allowed", most / (PER_MINUTE * window / MINUTE), 1 + MOST_OFF)
    pace = (len(moments) - 1) / (moments[-1] - moments[0]) * MINUTE
    hold("those allowed ÷ the pace", PER_MINUTE / pace, 1 + MOST_OFF)


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--kills", type=int, default=0, help="kill so many workers at random moments")
    parser.add_argument("--seed", type=int, default=1)
    parts: dict[str, Callable[[argparse.Namespace], Any]] = {
        "suites": lambda given: suites(),
        "numbers": lambda given: numbers(given.cases),
        "speed": lambda given: speed(given.cases),
        "overhead": lambda given: overhead(given.cases // 10),
        "memory": lambda given: memory(given.cases),
        "limits": lambda given: limits(),
    }
    parser.add_argument("--only", choices=parts)
    given = parser.parse_args()
    if given.kills:
        numbers(given.cases, given.kills, given.seed)
    else:
        for name, part in parts.items():
            if given.only in (None, name):
                part(given)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
