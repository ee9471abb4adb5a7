"""How often intervals of sampled measures hold the truth, by simulation.

Days of requests in strata of very different sizes and chances, with disliked answers drawn more often, are
sampled again and again as `monitoring/sampling.py` draws them; the truth is what all of its requests show.
Every world must be covered in 93 to 97 % of the days, or the command fails.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.statistics.sampled import Side, compare_sides, sampled_rate

Values = NDArray[np.float64]
SEED = 20_260_301
LOWEST, HIGHEST = 0.93, 0.97
LUCK = 3.0
"""Standard errors that a simulated share may lie beyond a bound."""


class Population(NamedTuple):
    """All requests of a day."""

    part: Values
    whole: Values
    chances: Values
    strata: NDArray[np.str_]

    @property
    def truth(self) -> float:
        """What looking at every request would show."""
        return float(self.part.sum() / self.whole.sum())


class World(NamedTuple):
    """A kind of day."""

    name: str
    draw: Callable[[np.random.Generator], Population]
    fraction: bool = True


def _population(
    random: np.random.Generator,
    sizes: tuple[int, ...],
    chances: tuple[float, ...],
    rates: tuple[float, ...],
    disliked: float = 0.0,
    concepts: bool = False,
) -> Population:
    """Strata of given sizes, chances and rates; of what is wrong, a share is disliked and drawn by half."""
    strata = np.repeat([f"stratum {number}" for number in range(len(sizes))], sizes)
    chance = np.repeat(chances, sizes)
    rate = np.repeat(rates, sizes)
    total = len(strata)
    whole = random.integers(10, 31, total).astype(np.float64) if concepts else np.ones(total)
    own = np.clip(rate + random.normal(0, 0.05, total), 0, 1) if concepts else rate
    part = random.binomial(whole.astype(np.int64), own).astype(np.float64)
    wrong = part < whole if not concepts else part < 0.8 * whole
    raised = wrong & (random.random(total) < disliked)
    return Population(part, whole, np.where(raised, np.maximum(chance, 0.5), chance), strata)


def _skewed(random: np.random.Generator) -> Population:
    """Lengths of answers: a long tail."""
    sizes = (6000, 300)
    strata = np.repeat(["usual", "rare"], sizes)
    values = random.lognormal(5, 0.5, sum(sizes))
    return Population(values, np.ones(sum(sizes)), np.repeat([0.05, 0.4], sizes), strata)


WORLDS = (
    World("one stratum, 90 % right", lambda r: _population(r, (4000,), (0.05,), (0.9,))),
    World(
        "five strata, chances from 2 % to all",
        lambda r: _population(
            r, (8000, 2000, 500, 120, 30), (0.02, 0.05, 0.2, 0.5, 1.0), (0.9, 0.85, 0.8, 0.7, 0.5)
        ),
    ),
    World(
        "disliked answers drawn by half",
        lambda r: _population(r, (6000, 1000), (0.04, 0.15), (0.85, 0.7), disliked=0.3),
    ),
    World("2 % wrong", lambda r: _population(r, (20_000, 1000), (0.03, 0.1), (0.98, 0.95))),
    World(
        "quotes of concepts: ratio of sums",
        lambda r: _population(r, (3000, 800), (0.05, 0.2), (0.95, 0.85), disliked=0.2, concepts=True),
    ),
    World("lengths of answers", _skewed, fraction=False),
    World("just above 30", lambda r: _population(r, (900, 60), (0.04, 0.25), (0.75, 0.6))),
)


def coverage(world: World, repetitions: int) -> tuple[float, float, float]:
    """How often intervals hold the truth, how far estimates are off on average, and their effective n."""
    random = np.random.default_rng([SEED, WORLDS.index(world)])
    held, off, effective, counted = 0, 0.0, 0.0, 0
    for _ in range(repetitions):
        day = world.draw(random)
        drawn = random.random(len(day.part)) < day.chances
        found = sampled_rate(
            day.part[drawn],
            day.whole[drawn],
            day.chances[drawn],
            day.strata[drawn].tolist(),
            fraction=world.fraction,
        )
        if not found.enough:
            continue
        counted += 1
        held += found.low <= day.truth <= found.high
        off += found.value - day.truth
        effective += found.effective
    return held / counted, off / counted, effective / counted


def comparison_coverage(repetitions: int) -> float:
    """How often intervals of a difference between two versions hold it, with users who ask often."""
    random = np.random.default_rng([SEED, 1000])
    held = 0
    for _ in range(repetitions):
        sides = []
        for rate in (0.7, 0.75):
            asked = random.poisson(3, 80) + 1
            users = np.repeat(np.arange(80), asked)
            own = np.clip(rate + random.normal(0, 0.15, 80), 0, 1)[users]
            chances = np.where(random.random(len(users)) < 0.5, 0.5, 1.0)
            drawn = random.random(len(users)) < chances
            right = random.random(len(users)) < own
            names = [f"{rate}/{user}" for user in users[drawn]]
            sides.append(Side.of(right[drawn], np.ones(int(drawn.sum())), 1 / chances[drawn], names))
        found = compare_sides(sides[0], sides[1])
        truth = _clipped_mean(0.75) - _clipped_mean(0.7)
        held += found.low <= truth <= found.high
    return held / repetitions


def _clipped_mean(rate: float) -> float:
    """The mean of a user's rate after clipping, by a fine sum."""
    grid = np.linspace(-6, 6, 20_001)
    weights = np.exp(-(grid**2) / 2)
    return float(np.sum(np.clip(rate + 0.15 * grid, 0, 1) * weights) / weights.sum())


def main() -> int:
    """Simulate, print, and fail where a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=3000)
    repetitions = parser.parse_args().repetitions
    broken = False
    print(f"{'world':40} {'covered':>9} {'off by':>9} {'effective n':>12}")
    for world in WORLDS:
        held, off, effective = coverage(world, repetitions)
        broken |= _is_broken(held, repetitions)
        print(f"{world.name:40} {held:9.1%} {off:9.4f} {effective:12.0f}")
    held = comparison_coverage(repetitions)
    broken |= _is_broken(held, repetitions)
    print(f"{'two versions, clustered by user':40} {held:9.1%}")
    print("BROKEN" if broken else f"kept: every world is covered {LOWEST:.0%} to {HIGHEST:.0%}")
    return int(broken)


def _is_broken(held: float, repetitions: int) -> bool:
    reach = LUCK * (held * (1 - held) / repetitions) ** 0.5
    return not LOWEST - reach <= held <= HIGHEST + reach


if __name__ == "__main__":
    sys.exit(main())
