"""How time and memory grow with the number of cases: `python -m benchmarks.growth [--full]`.

Every stage of an evaluation runs in a process of its own on 1,000, 10,000 and 100,000 cases, with `--full` on
1,000,000, too. The project holds itself to exponents of at most 1.1 in processor seconds and in memory, to a
comparison that takes at most 3 × what scoring one side does, and to 2.5 GB. Whole chains in Dagster show that
what is left for people to read does not grow with the cases.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.growth.project import write_project
from benchmarks.growth.stages import STAGES

SMALL = 200
SIZES = (1_000, 10_000, 100_000)
FULL = 1_000_000
STEEPEST, STEEPEST_STEP = 1.1, 1.25
"""The largest exponent over all sizes, and from the last but one to the last, which two runs alone tell."""
DEAREST, LARGEST = 3.0, 2.5e9
UNMEASURED = ("ask_before",)
LEFT = (20_000, 100_000)
"""Cases of the chains whose traces are measured; a page holds as many as the smaller one has."""
MOST_LEFT = 1.1
"""How many times as much the larger of them may leave."""


class Taken(NamedTuple):
    """What a stage took."""

    seconds: float
    peak: float
    """Bytes, all of the process."""
    grown: float
    """Bytes, beyond what it had before the stage began."""


def measured(stage: str, small: Path, root: Path) -> Taken:
    """Run a stage in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.growth.stages", stage, str(small), str(root)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Taken(**json.loads(done.stdout.splitlines()[-1]))


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """The slope of a line through the logarithms: 1 where twice the cases take twice as much."""
    xs, ys = [math.log(each) for each in sizes], [math.log(each) for each in values]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return above / sum((x - mean_x) ** 2 for x in xs)


def grow(folder: Path, sizes: Sequence[int]) -> dict[str, list[Taken]]:
    """Every stage on every size, in the order of a chain."""
    small = folder / "small"
    write_project(small, SMALL)
    for stage in STAGES:
        measured(stage, small, small)
    taken: dict[str, list[Taken]] = {stage: [] for stage in STAGES}
    for size in sizes:
        root = folder / str(size)
        write_project(root, size)
        for stage in STAGES:
            taken[stage].append(measured(stage, small, root))
    return taken


def shown(sizes: Sequence[int], taken: dict[str, list[Taken]]) -> bool:
    """Print the table; whether all of it keeps what is promised."""
    kept = True
    print(
        f"{'stage':10}"
        + "".join(f"{size:>22,}" for size in sizes)
        + f"{'time':>8}{'memory':>8}{'last step':>11}"
    )
    for stage, values in taken.items():
        if stage in UNMEASURED:
            continue
        slopes = [exponent(sizes, [getattr(each, name) for each in values]) for name in ("seconds", "grown")]
        step = exponent(sizes[-2:], [each.seconds for each in values[-2:]])
        cells = "".join(f"{each.seconds:>11.2f} s{each.peak / 1e6:>6,.0f} MB" for each in values)
        kept &= max(slopes) <= STEEPEST and step <= STEEPEST_STEP
        print(f"{stage:10}{cells}{slopes[0]:>8.2f}{slopes[1]:>8.2f}{step:>11.2f}")
    compare, score = taken["compare"][-1], taken["score"][-1]
    peak = max(each.peak for values in taken.values() for each in values)
    print(f"comparing takes {compare.seconds / score.seconds:.1f} × scoring (bound {DEAREST:g})")
    print(f"the most memory is {peak / 1e9:.2f} GB (bound {LARGEST / 1e9:g})")
    return kept and compare.seconds <= DEAREST * score.seconds and peak <= LARGEST


def left_by_chains(folder: Path) -> bool:
    """Print what whole chains leave to be read; whether it is bounded."""
    from benchmarks.growth.chain import left_by_chain

    left = [left_by_chain(write_project(folder / f"chain-{size}", size)) for size in LEFT]
    for name in left[0]:
        sizes = [each[name] for each in left]
        print(
            f"{name}: " + ", ".join(f"{size / 1e3:,.0f} KB" for size in sizes) + f" (bound {MOST_LEFT:g} ×)"
        )
    return all(left[1][name] <= MOST_LEFT * left[0][name] for name in left[0])


def main() -> None:
    """Measure, print, and exit with 1 where a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="a million cases, too")
    sizes = (*SIZES, FULL) if parser.parse_args().full else SIZES
    with tempfile.TemporaryDirectory() as folder:
        kept = shown(sizes, grow(Path(folder), sizes))
        kept &= left_by_chains(Path(folder))
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
