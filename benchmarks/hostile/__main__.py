"""Attacks the command line, and says what was tried and what broke.

    python -m benchmarks.hostile --minutes 19

Exits with 1 where an input brought about exit 70, a traceback, more than 20 s of processor time, more than
1 GB, a silent change of a number, a file that is lost or half written, an answer that is lost or paid for
twice, or a gate that was talked round.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.hostile import damage, faults, forks, keys, kills, projects, targets, templates, texts
from benchmarks.hostile.commands import load
from benchmarks.hostile.tally import Tried, broken, ended, table
from benchmarks.kills import Trouble, run_and_kill
from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import work_in_memory

WORKERS = 2
KILLED_RUNS = 8


class Share(NamedTuple):
    """What one worker does: of the rounds, in the order that the seed gives, until there is no time."""

    worker: int
    rounds: int
    seed: int
    until: float


def damaged_suites(share: Share) -> list[Tried]:
    """One worker's share of the damaged files of all shipped suites."""
    with tempfile.TemporaryDirectory() as folder:
        project = projects.shipped(Path(folder) / "project")
        projects.warm_up(project)
        return _damaged(project, list(targets.of_shipped(project)), share, Path(folder) / "copy")


def damaged_toy(share: Share) -> list[Tried]:
    """One worker's share of the damaged files of the toy and of its state; its commands run whole chains."""
    with tempfile.TemporaryDirectory() as folder:
        project = projects.toy(Path(folder) / "project")
        targets.close_databases(project)
        return _damaged(project, list(targets.of_toy(project)), share, Path(folder) / "copy")


def _damaged(project: Project, found: list[targets.Target], share: Share, copy: Path) -> list[Tried]:
    attacker = damage.Attacker(projects.Pristine(project, copy), share.seed)
    planned = damage.attacks(found, share.rounds)
    random.Random(share.seed).shuffle(planned)
    tried = []
    for attack in planned[share.worker :: WORKERS]:
        if time.monotonic() > share.until:
            break
        tried.append(attacker.do(attack))
        if tried[-1].end == "broke" or len(tried) % 500 == 0:
            _say(f"damaged files: {len(tried):,} tried by worker {share.worker}", tried[-1:])
    return tried


def _on_toy(
    attack: Callable[[projects.Pristine], list[Tried]], made: Callable[[Path], Project] = projects.toy
) -> list[Tried]:
    with tempfile.TemporaryDirectory() as folder:
        return attack(projects.Pristine(made(Path(folder) / "project"), Path(folder) / "copy"))


def _killed_command(name: str, _: int) -> list[Tried]:
    return _on_toy(partial(kills.kill_all, names=(name,)))


def _killed_runs(seed: int) -> list[Tried]:
    """Runs killed while they start, ask and finish."""
    said: list[str] = []
    trouble = ""
    try:
        run_and_kill(KILLED_RUNS, 120, 2, seed, said.append)
    except Trouble as broken_promise:
        trouble = f"{broken_promise} [after {len(said)} kills]"
    survived = [ended("kill", "run", "")] * (min(len(said), KILLED_RUNS) - bool(trouble))
    return [*survived, *([ended("kill", "run", trouble)] if trouble else [])]


OTHERS: dict[str, Callable[[int], list[Tried]]] = {
    "HTTP faults": lambda _: _on_toy(faults.misbehave),
    **{f"kills of {name}": partial(_killed_command, name) for name in kills.DOINGS},
    "kills of runs": _killed_runs,
    "injection": lambda _: _on_toy(texts.inject),
    "templates": lambda _: _on_toy(templates.try_templates),
    "pull requests": lambda _: _on_toy(forks.attack, forks.repository),
    "keys": lambda _: _on_toy(keys.echo),
}
"""What is not a damaged file; what takes longest comes first."""
FILES = {"files of the suites": (damaged_suites, 1.0, 0.85), "files of the toy": (damaged_toy, 0.0, 1.0)}
"""Who damages them, how many of the rounds, at least one, and until when, of all the time."""


def other(name: str, seed: int) -> list[Tried]:
    """One of them."""
    started = time.monotonic()
    tried = OTHERS[name](seed)
    _say(f"{name}: {len(tried):,} tried in {time.monotonic() - started:.0f} s", tried)
    return tried


def _say(what: str, tried: list[Tried]) -> None:
    print("\n".join((what, *broken(tried))), flush=True)


def main() -> None:
    """Run as told by the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--rounds",
        type=int,
        default=6,
        help="how often each mutation is tried on each kind of file of a suite",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=19.0, help="when to stop damaging files")
    parser.add_argument("--only", nargs="+", choices=(*OTHERS, *FILES), default=(*OTHERS, *FILES))
    given = parser.parse_args()
    started = time.monotonic()
    work_in_memory()
    load()
    with ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("fork")) as pool:
        others = [name for name in OTHERS if name in given.only]
        results = list(pool.map(other, others, [given.seed] * len(others)))
        for attack, of_rounds, of_time in (FILES[name] for name in FILES if name in given.only):
            rounds, until = max(1, round(of_rounds * given.rounds)), started + of_time * 60 * given.minutes
            shares = [Share(worker, rounds, given.seed, until) for worker in range(WORKERS)]
            results += pool.map(attack, shares)
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
