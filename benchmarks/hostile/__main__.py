"""Attacks the command line, and says what was tried and what broke.

    python -m benchmarks.hostile --rounds 4

Exits with 1 where an input brought about exit 70, a traceback, more than 20 s of processor time, more than
1 GB, a silent change of a number, or a file that is lost or half written. Kills during runs are
`python -m benchmarks.kills`; faults of endpoints are in the tests of the engines.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.hostile import damage, keys, kills, projects, targets, templates, texts
from benchmarks.hostile.tally import Tried, broken, table
from eval_pipeline.cli import COMMANDS
from eval_pipeline.project import Project

WORKERS = 2
Share = tuple[int, int, int]
"""Which worker this is, how many rounds there are, and the seed."""


def load() -> None:
    """Import what commands need, once for all children."""
    for name in COMMANDS:
        importlib.import_module(f"eval_pipeline.cli.{name}")


def damaged(share: Share) -> list[Tried]:
    """One worker's share of the damaged files, each kind of project after the other."""
    tried: list[Tried] = []
    for build, found in ((projects.shipped, targets.of_shipped), (projects.toy, targets.of_toy)):
        with tempfile.TemporaryDirectory() as folder:
            tried += damage_in(build(Path(folder) / "project"), found, share, Path(folder) / "copy")
    return tried


def damage_in(
    project: Project, found: Callable[..., object], share: Share, copy: Path, every: int = 1
) -> list[Tried]:
    """A share of the attacks on the files of a project."""
    worker, rounds, seed = share
    targets.close_databases(project)
    chosen = list(found(project))  # type: ignore[call-overload]
    attacker = damage.Attacker(projects.Pristine(project, copy), seed)
    return [attacker.do(attack) for attack in damage.attacks(chosen, rounds)[worker :: WORKERS * every]]


def everything_else(worker: int) -> list[Tried]:
    """One worker's share of kills, templates, texts and keys."""
    with tempfile.TemporaryDirectory() as folder:
        pristine = projects.Pristine(projects.toy(Path(folder) / "project"), Path(folder) / "copy")
        if worker:
            return [*templates.try_templates(pristine), *texts.inject(pristine), *keys.echo(pristine)]
        return kills.kill_all(pristine)


def main() -> None:
    """Run as told by the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--rounds", type=int, default=4, help="how often each mutation is tried on each kind of file"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    started = time.monotonic()
    load()
    workers = range(WORKERS)
    with ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("fork")) as pool:
        shares = [(worker, given.rounds, given.seed) for worker in workers]
        results = [*pool.map(everything_else, workers), *pool.map(damaged, shares)]
    tried = [each for result in results for each in result]
    print(table(tried))
    print(f"{time.monotonic() - started:.0f} s with the seed {given.seed}.")
    if troubles := broken(tried):
        print("\n".join(("Broke:", *troubles)))
        sys.exit(1)
    print("Nothing broke.")


if __name__ == "__main__":
    main()
