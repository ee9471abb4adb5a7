"""Attacks the command line, and says what was tried and what broke.

    python -m benchmarks.hostile --rounds 6

Exits with 1 where an input brought about exit 70, a traceback, more than 20 s of processor time, more than
1 GB, a silent change of a number, or a file that is lost or half written. Kills during runs are
`python -m benchmarks.kills`; faults of endpoints are in the tests of the engines.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from benchmarks.hostile import damage, keys, kills, projects, targets, templates, texts
from benchmarks.hostile.commands import load
from benchmarks.hostile.tally import Tried, broken, table
from eval_pipeline.project import Project

WORKERS = 2
ROUNDS_OF_TOY = 1
"""Its commands run whole chains, which takes long."""


class Share(NamedTuple):
    """What one worker does: of the rounds, in the order that the seed gives, until there is no time."""

    worker: int
    rounds: int
    seed: int
    until: float


def damaged(share: Share) -> list[Tried]:
    """One worker's share of the damaged files; the toy's first, so that time is left for them."""
    tried: list[Tried] = []
    with tempfile.TemporaryDirectory() as folder:
        project = projects.toy(Path(folder) / "project")
        targets.close_databases(project)
        few = share._replace(rounds=ROUNDS_OF_TOY)
        tried += _damaged(project, list(targets.of_toy(project)), few, Path(folder) / "copy")
    with tempfile.TemporaryDirectory() as folder:
        project = projects.shipped(Path(folder) / "project")
        tried += _damaged(project, list(targets.of_shipped(project)), share, Path(folder) / "copy")
    return tried


def _damaged(project: Project, found: list[targets.Target], share: Share, copy: Path) -> list[Tried]:
    attacker = damage.Attacker(projects.Pristine(project, copy), share.seed)
    planned = damage.attacks(found, share.rounds)
    random.Random(share.seed).shuffle(planned)
    tried = []
    for attack in planned[share.worker :: WORKERS]:
        if time.monotonic() > share.until:
            break
        tried.append(attacker.do(attack))
    return tried


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
        "--rounds", type=int, default=6, help="how often each mutation is tried on each kind of file"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=19.0, help="when to stop damaging files")
    given = parser.parse_args()
    started = time.monotonic()
    load()
    shares = [
        Share(worker, given.rounds, given.seed, started + 60 * given.minutes) for worker in range(WORKERS)
    ]
    with ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("fork")) as pool:
        results = [*pool.map(everything_else, range(WORKERS)), *pool.map(damaged, shares)]
    tried = [each for result in results for each in result]
    tried.sort(key=lambda each: (each.attack, each.target))
    print(table(tried))
    print(f"{time.monotonic() - started:.0f} s with the seed {given.seed}.")
    if troubles := broken(tried):
        print("\n".join(("Broke:", *troubles)))
        sys.exit(1)
    print("Nothing broke.")


if __name__ == "__main__":
    main()
