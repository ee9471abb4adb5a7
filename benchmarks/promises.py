"""What verdicts promise, and whether a simulation keeps it.

Every promise is about many cells. The worst one is shown with its standard error; a promise is broken where a
cell is so far beyond the bound that luck in any of the cells hardly explains it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from benchmarks.tallies import ADAPTIVE, SAID, TOLERANCE, Cell, Tallies, Tally, place
from benchmarks.worlds import METRICS, MOST_TRIALS, WORLDS

LUCK = 0.01
"""The chance that a promise which is only just kept counts as broken."""
MOST_CALLS = 0.35
"""The share of five trials that is asked, on average over worlds."""
BEHIND = 0.05


class Promise(NamedTuple):
    """A bound, and whether the simulation keeps it."""

    text: str
    found: str
    kept: bool | None
    """None for what is shown and not promised."""


class Share(NamedTuple):
    """A share that was found in a cell, and its standard error."""

    found: float
    error: float


Shares = dict[Cell, Share]


def share_of(found: float, of: int) -> Share:
    """A share of so many comparisons."""
    return Share(found, math.sqrt(max(found * (1 - found), 0.0) / of))


def at_most(text: str, shares: Shares, bound: float) -> Promise:
    """A promise about the worst of some shares."""
    reach = NormalDist().inv_cdf(1 - LUCK / len(shares))
    kept = all(each.found <= bound + reach * each.error for each in shares.values())
    cell = max(shares, key=lambda each: shares[each].found)
    average = float(np.mean([each.found for each in shares.values()]))
    return Promise(text, f"worst {shown(shares[cell])} ({place(cell)}), average {average:.1%}", kept)


def shown(share: Share) -> str:
    """A share in percent with its standard error."""
    return f"{share.found:.1%} ± {100 * share.error:.1f}"


def coverage_promises(tallies: Tallies) -> Iterator[Promise]:
    """Intervals hold their coverage."""
    kinds = {world.name: world.kind for world in WORLDS}
    missed = {
        cell: share_of(1 - tally.covered / tally.intervals, tally.intervals)
        for cell, tally in tallies.items()
        if tally.intervals and cell.metrics == METRICS and cell.sides == 1
    }
    large = {
        cell: share
        for cell, share in missed.items()
        if kinds[cell.world] == "continuous" and cell.cases >= 10
    }
    yield at_most("means and ratios, from 10 cases: intervals miss at most 7 %", large, 0.07)
    covered = {cell: Share(1 - found, error) for cell, (found, error) in large.items()}
    yield at_most("means and ratios, from 10 cases: intervals cover at most 97 %", covered, 0.97)
    average = float(
        np.mean([1 - share.found for cell, share in missed.items() if kinds[cell.world] == "binary"])
    )
    yield Promise("right or wrong: coverage on average at least 93 %", f"{average:.1%}", average >= 0.93)
    hard = {cell: share for cell, share in missed.items() if kinds[cell.world] == "hard" and cell.cases >= 30}
    yield at_most("harder worlds, from 30 cases: intervals miss at most 10 %", hard, 0.10)


def false_alarm_promises(tallies: Tallies) -> Iterator[Promise]:
    """Nothing changed, and nothing is called regressed."""
    kinds: dict[str, Callable[[Cell], bool]] = {
        "fixed trials": lambda cell: cell.trials != ADAPTIVE and cell.sides == 1,
        "adaptive trials": lambda cell: cell.trials == ADAPTIVE,
        "two sides at once": lambda cell: cell.sides == 2,
    }
    for name, chosen in kinds.items():
        quiet = {cell: tally for cell, tally in tallies.items() if not cell.drop and chosen(cell)}
        rates = {cell: share_of(tally.rate, tally.comparisons) for cell, tally in quiet.items()}
        yield at_most(f"no change, any metric regressed, at most 5 %, {name}", rates, 0.05)
        unclear = [tally.unclear / tally.comparisons for cell, tally in quiet.items() if cell.cases >= 30]
        text = f"no change, any metric inconclusive, from 30 cases, {name}"
        yield Promise(text, f"average {np.mean(unclear):.0%}", None)


def exclusion_promises(tallies: Tallies) -> Iterator[Promise]:
    """A drop by the tolerance is not called unchanged, and no change is, as often as can be."""
    said = {
        cell: share_of(tally.share(*SAID), tally.comparisons)
        for cell, tally in tallies.items()
        if cell.drop == TOLERANCE
    }
    yield at_most(
        "a drop of the tolerance called unchanged or no worse, at most 5 %, over all looks", said, 0.05
    )
    quiet = {
        cell: tally
        for cell, tally in tallies.items()
        if not cell.drop and cell.cases >= 30 and cell.trials != ADAPTIVE and cell.sides == 1
    }
    unchanged = {
        cell: behind(tally, tally.oracle_unchanged, tally.unchanged, tally.unchanged_apart)
        for cell, tally in quiet.items()
    }
    text = "no change, from 30 cases: unchanged is behind an oracle's two one-sided tests by at most 5 points"
    yield at_most(text, unchanged, BEHIND)
    no_worse = {
        cell: behind(tally, tally.oracle_no_worse, tally.no_worse, tally.no_worse_apart)
        for cell, tally in quiet.items()
    }
    yield at_most("no worse (or better) likewise, beside one one-sided test", no_worse, BEHIND)


def power_promises(tallies: Tallies) -> Iterator[Promise]:
    """Verdicts see what a permutation test sees, where that test holds its own level."""
    gaps = {
        cell: behind(tally, tally.permuted, tally.regressed, tally.permuted_apart)
        for cell, tally in tallies.items()
        if cell.drop
        and cell.cases >= 10
        and cell.trials != ADAPTIVE
        and cell.sides == 1
        and _holds_its_level(tallies[cell._replace(drop=0.0)])
    }
    text = "power, from 10 cases: behind a paired permutation test with Holm's correction by at most 5 points"
    yield at_most(text, gaps, BEHIND)


def _holds_its_level(quiet: Tally) -> bool:
    share = share_of(quiet.permuted / quiet.comparisons, quiet.comparisons)
    return share.found <= 0.05 + 3 * share.error


def behind(tally: Tally, others: int, ours: int, apart: int) -> Share:
    """By how much we say something less often than another would, of the same comparisons."""
    gap = (others - ours) / tally.comparisons
    return Share(gap, math.sqrt(max(apart / tally.comparisons - gap**2, 0.0) / tally.comparisons))


def adaptive_promises(tallies: Tallies) -> Iterator[Promise]:
    """Trials stop early where the answer is clear, and where it cannot become clear."""
    for drop in (0.0, 0.10):
        used = [
            tally.trials / tally.comparisons / MOST_TRIALS
            for cell, tally in tallies.items()
            if cell.trials == ADAPTIVE and cell.cases >= 30 and cell.drop == drop
        ]
        text = f"{f'drop of {drop:.0%}' if drop else 'no change'}, calls of adaptive trials, from 30 cases, "
        text += f"at most {MOST_CALLS:.0%} of five trials on average over worlds"
        average = float(np.mean(used))
        yield Promise(text, f"{average:.0%}, {min(used):.0%} to {max(used):.0%}", average <= MOST_CALLS)
