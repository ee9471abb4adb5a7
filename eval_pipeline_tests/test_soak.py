"""A small slice of `make soak`, and what it takes for broken."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.soak import books, clock
from benchmarks.soak.months import MONTH, SETTLED, Month, Soak, table
from benchmarks.soak.world import Target

with_a_compiler = pytest.mark.skipif(clock.COMPILER is None, reason="there is no C compiler to move a clock")


@with_a_compiler
def test_a_few_nights(tmp_path: Path) -> None:
    with Soak(tmp_path, seed=11) as soak:
        soak.live(600.0, 2, print)
        told = table(soak)
        assert soak.troubles == [], told
        assert soak.counts.states("finished") >= 8
        assert soak.counts.states("killed") >= 1
        assert books.messages(soak.world.project).total() >= 1
        assert "nights                             4\n" in told
        lost = soak.world.targets[0].titles
        lost[next(iter(lost))] += 1
        (trouble,) = books.broken(soak.world.project, soak.counts.ran, soak.world.targets)
        assert trouble.startswith("target 1 heard ")
        ended = next(each for each in soak.counts.ran if each.state == "finished")
        nobody = [each for each in soak.counts.ran if each.run != ended.run]
        assert f"history has {ended.run}, which nobody began" in books.broken(soak.world.project, nobody, [])


@with_a_compiler
def test_a_clock_that_is_moved(tmp_path: Path) -> None:
    moved = clock.Clock(tmp_path)
    shown = "import time, datetime; print(time.time(), datetime.datetime.now().timestamp(), time.monotonic())"
    environment = {**os.environ, **moved.environment}
    for year in (2031, 2019):
        moment = datetime.datetime(year, 2, 3, tzinfo=datetime.UTC)
        moved.show(moment)
        told = subprocess.run([sys.executable, "-c", shown], env=environment, capture_output=True, check=True)
        one, other, _ = map(float, told.stdout.split())
        assert 0 <= one - moment.timestamp() < 3600
        assert one <= other < one + 3600
        assert (moved.now - moment).total_seconds() < 3600


@pytest.mark.parametrize(
    ("sizes", "kilobytes", "troubles"),
    [
        ([1, 20, 40, 60, 80, 80, 81, 80], [9, 100, 100, 101, 100, 104, 100, 105], []),
        ([1, 20, 40, 60, 80, 90, 100, 110], [100] * 8, ["the disk grows by 10.0 MB a month"]),
        ([1] * 8, [50, 100, 100, 105, 110, 115, 118, 120], ["the daemon's memory grew from 100 to 120 kB"]),
        ([1, 20, 40], [100] * 3, []),
    ],
)
def test_what_grows(tmp_path: Path, sizes: list[int], kilobytes: list[int], troubles: list[str]) -> None:
    assert (MONTH, SETTLED) == (30, 4)
    soak = Soak(tmp_path, seed=1)
    soak.months = [
        Month({"all": 10**6 * size}, memory) for size, memory in zip(sizes, kilobytes, strict=True)
    ]
    assert soak.growth() == troubles


def test_what_targets_heard_is_counted_by_incident() -> None:
    target = Target()
    target.titles = Counter(
        {"Critical: toy v1": 2, "Warning: toy v1": 1, "Now critical: toy v1": 1, "Recovered: b": 3}
    )
    heard = {("opened", "toy v1"): 3, ("worse", "toy v1"): 1, ("recovered", "b"): 3}
    assert books.by_kind(target) == heard
