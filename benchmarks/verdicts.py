"""Verdicts on simulated comparisons: how often they are right, beside tests that know more or do less.

Each world is simulated at many numbers of cases and trials. Every promise is printed with what was found.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.promises import (
    Promise,
    adaptive_promises,
    coverage_promises,
    exclusion_promises,
    false_alarm_promises,
    power_promises,
)
from benchmarks.tallies import ADAPTIVE, NO_WORSE, TOLERANCE, UNCHANGED, Cell, Tallies, Tally, place
from benchmarks.worlds import METRICS, MOST_TRIALS, WORLDS, Drawn, Values, World
from eval_pipeline.statistics.estimates import Estimate
from eval_pipeline.statistics.looks import Plan
from eval_pipeline.statistics.multiplicity import holm
from eval_pipeline.statistics.pairs import LeaveOneOut, Moments, of_means, of_ratios, paired
from eval_pipeline.statistics.significance import RESAMPLES, bootstrap_means
from eval_pipeline.statistics.stopping import progress
from eval_pipeline.statistics.verdicts import Rules, judge, judge_together

Flags = NDArray[np.bool_]
Signs = NDArray[np.float32]

SEED = 20_250_101
REPETITIONS = {5: 3000, 10: 3000, 30: 2400, 100: 1600, 200: 800, 1000: 240}
HARD_UP_TO = 200
"""The largest number of cases for worlds other than means, ratios, and right or wrong."""
FIXED = ((1, 1), (3, 3), (1, 3))
"""Trials before and after."""
DROPS = (0.0, 0.05, 0.10)
NOTICEABLE = 0.01
SWAPS = 2000
"""Random exchanges of sides of the permutation test that verdicts are compared with."""
NUMBERS_AT_ONCE = 3_000_000
RULES = Rules.of(TOLERANCE, noticeable=NOTICEABLE)


def simulate(world: World, cases: int, repetitions: int, seed: int = SEED) -> Tallies:
    """All cells of one world and one number of cases."""
    random = np.random.default_rng([seed, WORLDS.index(world), cases])
    tallies: Tallies = {}
    block = max(1, min(repetitions, NUMBERS_AT_ONCE // (cases * MOST_TRIALS * METRICS)))
    for start in range(0, repetitions, block):
        drawn = world.draw(random, cases, min(block, repetitions - start))
        swaps = random.choice([-1.0, 1.0], size=(SWAPS, cases)).astype(np.float32)
        for trials, metrics, sides, drop, tally in _block(drawn, swaps):
            cell = Cell(world.name, cases, trials, metrics, sides, drop)
            tallies.setdefault(cell, Tally()).add(tally)
    return tallies


Found = tuple[tuple[int, int], int, int, float, Tally]


def _block(drawn: Drawn, swaps: Signs) -> Iterator[Found]:
    """The tallies of one block, for every number of trials, metrics, sides and every drop."""
    quiet = _Compared(drawn, swaps, 0.0, None)
    yield from quiet.tallies()
    for drop in DROPS[1:]:
        yield from _Compared(drawn, swaps, drop, quiet).tallies()


class _Compared:
    """A block of comparisons `[comparison, metric]`: all metrics without change, or the first one dropped."""

    def __init__(self, drawn: Drawn, swaps: Signs, drop: float, quiet: _Compared | None) -> None:
        self.drop = drop
        after = drawn.after(drop)
        self._sides = [
            _Side(drawn, place, each[..., : after.shape[-1]]) for place, each in enumerate(drawn.before)
        ]
        last = _Side(drawn, 2, after)
        self.fixed: dict[tuple[int, int], Moments] = {}
        self.second: dict[tuple[int, int], Moments] = {}
        self.p_values: dict[tuple[int, int], Values] = {}
        for trials in FIXED:
            self.fixed[trials] = self._with(quiet, "fixed", trials, self._sides[0], last, trials)
            if trials[0] == trials[1]:
                self.second[trials] = self._with(quiet, "second", trials, self._sides[1], last, trials)
            p_values = permutation_p(self._sides[0], last, trials, swaps)
            if quiet:
                p_values = np.concatenate([p_values, quiet.p_values[trials][:, 1:]], axis=1)
            self.p_values[trials] = p_values
        self.looks = {
            number: self._with(quiet, "looks", number, self._sides[0], last, (MOST_TRIALS, number))
            for number in range(1, MOST_TRIALS + 1)
        }

    @staticmethod
    def _with(
        quiet: _Compared | None, what: str, key: Any, before: _Side, after: _Side, trials: tuple[int, int]
    ) -> Moments:
        """The metrics of the sides; where only the first was drawn, beside the others that did not change."""
        moments = paired(before.left_out(trials[0]), after.left_out(trials[1])).moments
        if quiet is None:
            return moments
        base: Moments = getattr(quiet, what)[key]
        joined: dict[str, Any] = {
            each.name: np.concatenate([getattr(moments, each.name), getattr(base, each.name)[:, 1:]], axis=1)
            for each in fields(base)
            if each.name != "trials"
        }
        return replace(base, **joined)

    def tallies(self) -> Iterator[Found]:
        """For every number of trials, metrics and sides."""
        for metrics in (1, METRICS):
            for trials, moments in self.fixed.items():
                some = moments.select(slice(None), slice(metrics))
                yield trials, metrics, 1, self.drop, self._judged([some], trials)
            looks = [each.select(slice(None), slice(metrics)) for each in self.looks.values()]
            yield ADAPTIVE, metrics, 1, self.drop, adaptive_trials(looks, self.drop)
        for trials, moments in self.second.items():
            yield trials, METRICS, 2, self.drop, self._judged([self.fixed[trials], moments], trials)

    def _judged(self, family: list[Moments], trials: tuple[int, int]) -> Tally:
        """All comparisons of a block, judged once."""
        found = judge_together([Estimate(each) for each in family], [RULES] * len(family))
        verdicts = np.concatenate([each.verdict for each in found], axis=1)
        metrics = family[0].cases.shape[-1]
        first, drop = found[0], self.drop
        checked = slice(1) if drop else slice(None)
        known = np.isfinite(first.low)[:, checked]
        covered = ((first.low <= -drop) & (-drop <= first.high))[:, checked]
        error = float(self.fixed[trials].difference[:, checked].std())  # of all metrics: they scatter alike
        unchanged, no_worse = oracle(first.difference[:, 0], error, RULES.alpha / metrics)
        ours = [np.isin(verdicts[:, 0], names) for names in (UNCHANGED, NO_WORSE)]
        regressed = called(verdicts == "regressed", drop)
        permuted = called(holm(self.p_values[trials][:, :metrics]) <= RULES.alpha, drop)
        return Tally(
            comparisons=len(verdicts),
            regressed=int(regressed.sum()),
            permuted=int(permuted.sum()),
            permuted_apart=int((regressed != permuted).sum()),
            first=counted(verdicts[:, 0]),
            unclear=int((verdicts == "inconclusive").any(axis=1).sum()),
            covered=int(covered[known].sum()),
            intervals=int(known.sum()),
            oracle_unchanged=int(unchanged.sum()),
            unchanged_apart=int((unchanged != ours[0]).sum()),
            oracle_no_worse=int(no_worse.sum()),
            no_worse_apart=int((no_worse != ours[1]).sum()),
        )


def oracle(gaps: Values, error: float, level: float) -> tuple[Flags, Flags]:
    """Whether tests that know the true standard error call differences unchanged, and no worse or better.

    What they find to have changed at the level of a change is neither unchanged nor, where it fell, no worse.
    """
    changed = np.abs(gaps) >= max(NormalDist().inv_cdf(1 - level) * error, NOTICEABLE)
    excluded = TOLERANCE - NormalDist().inv_cdf(1 - RULES.alpha) * error
    return ~changed & (np.abs(gaps) < excluded), (gaps > -excluded) & ~(changed & (gaps < 0))


class _Side:
    """One side's scores, with their sizes where they are of ratios."""

    def __init__(self, drawn: Drawn, place: int, scores: Values) -> None:
        self._scores = scores
        self._sizes = drawn.sizes[place] if drawn.sizes else None

    def left_out(self, trials: int) -> LeaveOneOut:
        """The first trials, by the package's own means or ratios."""
        scores = self._scores[:, :trials]
        if self._sizes is None:
            return of_means(scores)
        sizes = self._sizes[:, :trials]
        return of_ratios(scores * sizes, np.broadcast_to(sizes, scores.shape))

    def counts(self, trials: int) -> tuple[Values, Values]:
        """Numerators and denominators of each case over its trials, `[case, comparison × metric]`."""
        scores = self._scores[:, :trials]
        sizes = (
            np.ones(scores.shape)
            if self._sizes is None
            else np.broadcast_to(self._sizes[:, :trials], scores.shape)
        )
        above, below = (scores * sizes).mean(axis=1), sizes.mean(axis=1)
        return above.reshape(len(above), -1), below.reshape(len(below), -1)


def permutation_p(before: _Side, after: _Side, trials: tuple[int, int], swaps: Signs) -> Values:
    """One-sided p-values of a paired permutation test: cases change sides, and the ratio is taken anew."""
    (above, below), (above_after, below_after) = before.counts(trials[0]), after.counts(trials[1])
    comparisons = before._scores.shape[2]
    tops = [(above + above_after).sum(axis=0), (swaps @ (above_after - above).astype(np.float32))]
    bottoms = [(below + below_after).sum(axis=0), (swaps @ (below_after - below).astype(np.float32))]
    swapped = (tops[0] + tops[1]) / (bottoms[0] + bottoms[1]) - (tops[0] - tops[1]) / (
        bottoms[0] - bottoms[1]
    )
    observed = above_after.sum(axis=0) / below_after.sum(axis=0) - above.sum(axis=0) / below.sum(axis=0)
    reached = (swapped <= observed + 1e-6).sum(axis=0)
    return np.asarray((reached + 1) / (SWAPS + 1)).reshape(comparisons, -1)


def called(flags: Flags, drop: float) -> Flags:
    """Which comparisons have a call: on the metric that fell or, where none did, on any."""
    return np.asarray(flags[:, 0] if drop else flags.any(axis=-1), dtype=np.bool_)


def counted(verdicts: NDArray[np.str_]) -> dict[str, int]:
    """How often each verdict occurs."""
    names, counts = np.unique(verdicts, return_counts=True)
    return dict(zip(names.tolist(), counts.tolist(), strict=True))


def adaptive_trials(looks: list[Moments], drop: float) -> Tally:
    """All comparisons of a block, trial by trial, each until it stops."""
    plan = Plan(1, MOST_TRIALS, MOST_TRIALS)
    comparisons, metrics = looks[0].cases.shape
    ends = np.full((comparisons, metrics), "inconclusive")
    trials = np.zeros(comparisons, dtype=int)
    going = np.arange(comparisons)
    for number, moments in enumerate(looks, start=1):
        found = progress([Estimate(moments.select(going), plan)], [RULES])
        stop = found.settled | ~found.worthwhile | found.exhausted
        ends[going[stop]], trials[going[stop]] = found.verdict[stop], number
        going = going[~stop]
    return Tally(
        comparisons=comparisons,
        regressed=int(called(ends == "regressed", drop).sum()),
        first=counted(ends[:, 0]),
        unclear=int((ends == "inconclusive").any(axis=1).sum()),
        trials=int(trials.sum()),
    )


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """The shortest time that the work takes."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def speed_promises() -> Iterator[Promise]:
    """10,000 cases × 20 metrics: a bootstrap beside a loop that resamples one metric at a time."""
    random = np.random.default_rng(SEED)
    before = random.random((10_000, 1, 20))
    after = np.clip(before + random.normal(0, 0.1, before.shape), 0, 1)
    differences = (after - before)[:, 0]
    part = 500

    column, legacy = differences[:, 0].copy(), np.random.RandomState(SEED)

    def loop() -> None:
        for _ in range(part):
            np.mean(legacy.choice(column, size=len(column), replace=True))

    def resampled() -> None:
        np.quantile(bootstrap_means(differences, seed=SEED), [0.025, 0.975], axis=0)

    looped = seconds(loop, 5) * RESAMPLES / part * differences.shape[1]
    shared = seconds(resampled, 3)
    text = "bootstrap of 10,000 cases × 20 metrics at least 20 × as fast as a loop"
    yield Promise(
        text, f"{looped / shared:.0f} × ({shared:.1f} s, loop {looped:.0f} s)", looped / shared >= 20
    )
    for cases, most in ((1_000, 0.5), (100_000, None)):
        sides = [random.random((cases, 1, 20)) for _ in range(2)]
        sizes = random.integers(1, 9, (cases, 1, 20)).astype(np.float64)

        def whole(sides: list[Values] = sides, sizes: Values = sizes) -> None:
            judge(paired(*(of_ratios(each * sizes, sizes) for each in sides)).moments, RULES)

        taken = seconds(whole, 3)
        text = f"one comparison of {cases:,} cases × 20 metrics{' in at most 0.5 s' if most else ''}"
        yield Promise(text, f"{taken:.2f} s", taken <= most if most else None)


def print_cells(tallies: Tallies) -> None:
    """Every cell: regressed, what permutations call so, and how verdicts on the first metric are spread."""
    print("Percent regressed (with no change: any metric) / by permutation; of the first metric")
    print("unchanged + no worse / by an oracle, inconclusive; coverage; trials used")
    for cell, tally in sorted(tallies.items()):
        oracle, permuted = (each / tally.comparisons for each in (tally.oracle_no_worse, tally.permuted))
        cover = f"{tally.covered / tally.intervals:.1%}" if tally.intervals else ""
        used = f"× {tally.trials / tally.comparisons:.1f}" if tally.trials else ""
        print(
            f"{place(cell):<68} drop {cell.drop:>4.0%}  {tally.rate:6.1%} / {permuted:6.1%}"
            f"  {tally.no_worse / tally.comparisons:5.0%} / {oracle:4.0%}"
            f"  {tally.share('inconclusive'):5.0%}  {cover} {used}"
        )


def run(repetitions: dict[int, int], workers: int) -> Tallies:
    """Simulate everything, the largest parts first."""
    parts = [
        (world, cases, count)
        for cases, count in sorted(repetitions.items(), reverse=True)
        for world in WORLDS
        if cases <= HARD_UP_TO or world.kind != "hard"
    ]
    tallies: Tallies = {}
    with ProcessPoolExecutor(workers) as pool:
        jobs = [pool.submit(_simulate_named, world.name, cases, count) for world, cases, count in parts]
        for job in jobs:
            tallies.update(job.result())
    return tallies


def _simulate_named(name: str, cases: int, repetitions: int) -> Tallies:
    return simulate(next(world for world in WORLDS if world.name == name), cases, repetitions)


def main() -> int:
    """Print all cells and every promise; 1 where one is broken."""
    started = time.perf_counter()
    speed = list(speed_promises())
    tallies = run(REPETITIONS, min(2, os.cpu_count() or 1))
    print_cells(tallies)
    promises = [
        *coverage_promises(tallies),
        *false_alarm_promises(tallies),
        *exclusion_promises(tallies),
        *power_promises(tallies),
        *adaptive_promises(tallies),
        *speed,
    ]
    print()
    for promise in promises:
        state = {True: "kept", False: "BROKEN", None: "shown"}[promise.kept]
        print(f"{state:<8}{promise.text}: {promise.found}")
    print(f"{len(tallies)} cells in {time.perf_counter() - started:.0f} s")
    return 1 if any(promise.kept is False for promise in promises) else 0


if __name__ == "__main__":
    sys.exit(main())
