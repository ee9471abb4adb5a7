"""Histories of nights, simulated: how often a suite without change alarms, and how soon a slide is seen.

Every night asks the same cases once. Whether a case is right depends on its own difficulty, or its score
scatters around its own level; metrics of a case are correlated. A slide moves every case a point a night.
"""

from __future__ import annotations

import sys
import time
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from eval_pipeline.comparison.trends import ALPHA
from eval_pipeline.statistics.slides import DECLINES, course_of

Values = NDArray[np.float64]
Kind = Literal["coin", "mixed", "sure", "graded"]

SEED = 20_250_301
NIGHTS = 30
SLIDE = 0.01
ALIKE = 0.5
"""The correlation between the metrics of a case."""
NUMBERS_AT_ONCE = 4_000_000


class World(NamedTuple):
    """How the cases of a suite answer, night after night."""

    kind: Kind
    cases: int
    metrics: int
    histories: int

    def __str__(self) -> str:
        how = {
            "coin": "right or wrong, a third flips every night",
            "mixed": "right or wrong, a tenth flips every night",
            "sure": "right or wrong, one case in twenty may flip",
            "graded": "graded, a scatter of 8 points",
        }[self.kind]
        return f"{how}; {self.cases:,} cases, {self.metrics} metrics"


WORLDS = tuple(
    World(kind, cases, metrics, 2000 if cases <= 100 else 1000)
    for kind in ("coin", "mixed", "sure", "graded")
    for cases in (15, 30, 100, 300)
    for metrics in (5, 14)
)


def nights(world: World, slide: float, histories: int, random: np.random.Generator) -> Values:
    """Scores `[history, night, metric, case]`."""
    shape = (histories, 1, world.metrics, world.cases)

    def correlated(*axes: int) -> Values:
        shared = random.normal(size=(histories, *axes, 1, world.cases))
        own = random.normal(size=(histories, *axes, world.metrics, world.cases))
        return np.asarray(np.sqrt(ALIKE) * shared + np.sqrt(1 - ALIKE) * own)

    fall = slide * np.arange(NIGHTS)[:, np.newaxis, np.newaxis]
    if world.kind == "graded":
        level = random.normal(0.75, 0.15, shape)
        return np.clip(level - fall + 0.08 * correlated(NIGHTS), 0, 1)
    weight = {"coin": 4.0, "mixed": 0.4, "sure": 0.4}[world.kind]
    chance = random.beta(0.75 * weight, 0.25 * weight, shape)
    if world.kind == "sure":
        chance = np.where(random.random(shape) < 0.05, random.random(shape), chance > 0.25)
    return np.asarray(special.ndtr(correlated(NIGHTS)) < np.clip(chance - fall, 0, 1), dtype=np.float64)


def alarms(
    world: World, slide: float, histories: int, gates: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether any metric alarms, `[history, night]`, and whether three declines of any size would.

    `gates` is the number of gated metrics that share the level.
    """
    random = np.random.default_rng([SEED, world.cases, world.metrics, int(slide * 1000)])
    size = max(1, NUMBERS_AT_ONCE // (NIGHTS * world.metrics * world.cases))
    found, bare = np.zeros((2, histories, NIGHTS), dtype=bool)
    for start in range(0, histories, size):
        part = slice(start, min(start + size, histories))
        scores = nights(world, slide, part.stop - start, random)
        differences = np.diff(scores, axis=1)
        squares = differences**2
        fourth = (squares**2).sum(axis=-1)
        freedom = squares.sum(axis=-1) ** 2 / np.where(fourth > 0, fourth, 1.0)
        noise = differences.std(axis=-1, ddof=1) / np.sqrt(world.cases)
        heights, noise, freedom = (np.moveaxis(each, 1, 0) for each in (scores.mean(-1), noise, freedom))
        for night in range(2, NIGHTS + 1):
            course = course_of(heights[:night], noise[: night - 1], freedom[: night - 1])
            alarm = course.declining() | course.sliding(ALPHA / gates)
            found[part, night - 1] = alarm.any(axis=-1)
            bare[part, night - 1] = (course.declines >= DECLINES).any(axis=-1)
    return found, bare


def seen_after(world: World) -> str:
    """In which night one metric that slides is seen: in half of the histories, and in nine of ten."""
    found, _ = alarms(world._replace(metrics=1), SLIDE, 200, world.metrics)
    nights_ = np.where(found.any(axis=1), found.argmax(axis=1) + 1, np.inf)
    half, most = np.quantile(nights_, (0.5, 0.9), method="higher")
    return ", ".join(f"{night:.0f}" if np.isfinite(night) else f"> {NIGHTS}" for night in (half, most))


def main() -> int:
    """Print every world; 1 where more histories alarm than promised."""
    started = time.perf_counter()
    broken = 0
    print(f"{'':<8}{'world':<78}{'alarms':>8}{'bare rule':>11}   slide seen in night (half, nine of ten)")
    for world in WORLDS:
        found, bare = alarms(world, 0.0, world.histories, world.metrics)
        share, any_decline = (each.any(axis=1).mean() for each in (found, bare))
        kept = share <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / world.histories)
        broken += not kept
        seen = seen_after(world) if world.metrics == WORLDS[0].metrics else ""
        print(
            f"{'kept' if kept else 'BROKEN':<8}{world!s:<78}{share:>8.2%}{any_decline:>11.0%}   {seen}",
            flush=True,
        )
    print(f"Of histories of {NIGHTS} nights without change, at most {ALPHA:.0%} alarm.")
    print(f"{len(WORLDS)} worlds in {time.perf_counter() - started:.0f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
