"""Verdicts on simulated comparisons: how often they are right, beside simpler rules, and how fast they are.

Scores of a case are alike over trials (the within-case correlation), bounded, and shared between the
sides of a comparison; metrics of a case are correlated. A drop hits one metric. Every promise is
printed with what was found; a cell breaks one only beyond three standard errors of the simulation.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from eval_pipeline.statistics.looks import Plan
from eval_pipeline.statistics.pairs import LeaveOneOut, Moments, Pairs, of_means, of_ratios, paired
from eval_pipeline.statistics.significance import RESAMPLES, bootstrap_means
from eval_pipeline.statistics.stopping import progress
from eval_pipeline.statistics.verdicts import Estimate, Rules, judge

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
Kind = Literal["mean", "ratio", "binary"]

SEED = 20_250_101
CASES = (5, 10, 30, 100, 1000)
TRIALS = (1, 3, 5)
CORRELATIONS = (0.0, 0.3, 0.7)
KINDS: tuple[Kind, ...] = ("mean", "ratio", "binary")
FAMILIES = (1, 5, 14)
DROPS = (0.0, 0.02, 0.05, 0.10)
MOST_TRIALS = 5
TOLERANCE = 0.05
NOTICEABLE = 0.01
LEVEL, SCATTER, RATE = 0.75, 0.2, 0.8
"""Latent mean and standard deviation of graded scores; rate of right answers of binary ones."""
ALIKE = 0.5
"""The correlation between metrics."""
REPETITIONS = {5: 4000, 10: 4000, 30: 2400, 100: 1500, 1000: 400}
NUMBERS_AT_ONCE = 3_000_000
RULES = Rules.of(TOLERANCE, noticeable=NOTICEABLE)
OURS, BARE, POOLED, UNPAIRED = "verdict", "bare tolerance", "pooled sd", "unpaired t"
METHODS = (OURS, BARE, POOLED, UNPAIRED)


class Cell(NamedTuple):
    """One setting of the simulation."""

    kind: Kind
    cases: int
    correlation: float
    trials: int | Literal["adaptive"]
    metrics: int
    drop: float


@dataclass
class Tally:
    """What happened in a cell: sums over its comparisons."""

    comparisons: int = 0
    regressed: dict[str, int] = field(default_factory=dict)
    """Comparisons in which a method calls the metric (or, with no change, any metric) regressed."""
    verdicts: dict[str, int] = field(default_factory=dict)
    covered: int = 0
    intervals: int = 0
    trials: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Count another part of the same cell."""
        for name in ("comparisons", "covered", "intervals", "trials"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("regressed", "verdicts", "reasons"):
            mine, theirs = getattr(self, name), getattr(other, name)
            for key, count in theirs.items():
                mine[key] = mine.get(key, 0) + count

    def rate(self, method: str = OURS) -> float:
        """The share of comparisons that a method calls regressed."""
        return self.regressed.get(method, 0) / self.comparisons


Tallies = dict[Cell, Tally]


@lru_cache
def latent_shift(kind: Kind, drop: float) -> float:
    """By how much the latent score must fall for the metric to fall by `drop`."""
    if kind == "binary":
        return float(special.ndtri(RATE) - special.ndtri(RATE - drop))
    low, high = 0.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        fell = clipped_mean(LEVEL) - clipped_mean(LEVEL - SCATTER * middle)
        low, high = (middle, high) if fell < drop else (low, middle)
    return low


def clipped_mean(level: float) -> float:
    """The mean of a normal score that is cut off at 0 and 1."""
    low, high = -level / SCATTER, (1 - level) / SCATTER
    density = [math.exp(-(bound**2) / 2) / math.sqrt(2 * math.pi) for bound in (low, high)]
    inside = special.ndtr(high) - special.ndtr(low)
    return float(level * inside + SCATTER * (density[0] - density[1]) + special.ndtr(-high))


class Latent(NamedTuple):
    """Normal scores `[case, trial, comparison, metric]` and sizes `[case, trial, comparison, 1]`."""

    before: Values
    after: Values
    sizes_before: Values
    sizes_after: Values


def draw(random: np.random.Generator, cases: int, comparisons: int, correlation: float) -> Latent:
    """Scores of both sides in every trial, without a change."""

    def normal(trials: int) -> Values:
        own = random.standard_normal((cases, trials, comparisons, max(FAMILIES)), dtype=np.float32)
        shared = random.standard_normal((cases, trials, comparisons, 1), dtype=np.float32)
        return np.float32(math.sqrt(1 - ALIKE)) * own + np.float32(math.sqrt(ALIKE)) * shared

    by_case = np.float32(math.sqrt(correlation)) * normal(1)
    noise = np.float32(math.sqrt(1 - correlation))
    sizes = random.integers(1, 9, size=(cases, 1, comparisons, 1))
    before, after = (by_case + noise * normal(MOST_TRIALS) for _ in range(2))
    more = [random.integers(0, 3, size=(cases, MOST_TRIALS, comparisons, 1)) for _ in range(2)]
    return Latent(before, after, *((sizes + each).astype(np.float64) for each in more))


def scores(kind: Kind, latent: Values, drop: float) -> Values:
    """What latent scores show as a metric's values."""
    shifted = latent - latent_shift(kind, drop)
    if kind == "binary":
        return np.asarray(shifted > -special.ndtri(RATE), dtype=np.float64)
    return np.asarray(np.clip(LEVEL + SCATTER * shifted, 0.0, 1.0), dtype=np.float64)


def side(kind: Kind, values: Values, sizes: Values) -> LeaveOneOut:
    """A side of the comparison, by the package's own means or ratios."""
    if kind == "ratio":
        return of_ratios(values * sizes, np.broadcast_to(sizes, values.shape))
    return of_means(values)


def simulate(cases: int, correlation: float, repetitions: int, seed: int = SEED) -> Tallies:
    """All cells of one number of cases and one correlation."""
    random = np.random.default_rng([seed, cases, int(correlation * 10)])
    tallies: Tallies = {}
    block = max(1, min(repetitions, NUMBERS_AT_ONCE // (cases * MOST_TRIALS * max(FAMILIES))))
    for start in range(0, repetitions, block):
        latent = draw(random, cases, min(block, repetitions - start), correlation)
        for kind in KINDS:
            for drop, found in experiments(kind, latent):
                for trials, metrics, tally in tallied(found, drop):
                    cell = Cell(kind, cases, correlation, trials, metrics, drop)
                    tallies.setdefault(cell, Tally()).add(tally)
    return tallies


class Experiment(NamedTuple):
    """A block of comparisons after every number of trials: `[comparison, metric]`."""

    looks: list[Moments]
    """Against a side with all trials, after 1, 2, … trials."""
    fixed: dict[int, Moments]
    """With as many trials on both sides."""
    others: dict[int, dict[str, Flags]]
    """What simpler rules call regressed."""


def experiments(kind: Kind, latent: Latent) -> Iterator[tuple[float, Experiment]]:
    """The comparisons with no change, and then with each drop of the first metric."""
    before = scores(kind, latent.before, 0.0)
    base = experiment(kind, latent, before, scores(kind, latent.after, 0.0))
    yield 0.0, base
    for drop in DROPS[1:]:
        dropped = experiment(kind, latent, before[..., :1], scores(kind, latent.after[..., :1], drop))
        yield (
            drop,
            Experiment(
                [with_first(*both) for both in zip(base.looks, dropped.looks, strict=True)],
                {trials: with_first(base.fixed[trials], dropped.fixed[trials]) for trials in TRIALS},
                dropped.others,
            ),
        )


def experiment(kind: Kind, latent: Latent, before: Values, after: Values) -> Experiment:
    """Pair the sides by the package's own means or ratios."""
    looks = range(1, MOST_TRIALS + 1)
    sides = {trials: side(kind, after[:, :trials], latent.sizes_after[:, :trials]) for trials in looks}
    whole = side(kind, before, latent.sizes_before)
    fixed, others = {}, {}
    for trials in TRIALS:
        first = side(kind, before[:, :trials], latent.sizes_before[:, :trials])
        pairs = paired(first, sides[trials])
        fixed[trials] = pairs.moments
        others[trials] = simpler_rules(pairs)
    return Experiment([paired(whole, sides[trials]).moments for trials in looks], fixed, others)


def with_first(base: Moments, dropped: Moments) -> Moments:
    """All metrics, the first of them replaced."""
    joined: dict[str, Any] = {
        each.name: np.concatenate([getattr(dropped, each.name), getattr(base, each.name)[:, 1:]], axis=1)
        for each in fields(base)
        if each.name != "trials"
    }
    return replace(base, **joined)


def simpler_rules(pairs: Pairs) -> dict[str, Flags]:
    """What the other rules call regressed, `[comparison, metric]`."""
    drop = pairs.value_before - pairs.value_after
    found = {BARE: drop > TOLERANCE + 1e-9, UNPAIRED: unpaired_t(pairs.before, pairs.after)}
    if pairs.before.shape[1] > 1:
        variances = [each.mean(axis=0).var(axis=0, ddof=1) for each in (pairs.before, pairs.after)]
        found[POOLED] = drop > 2 * np.sqrt((variances[0] + variances[1]) / 2)
    return found


def unpaired_t(before: Values, after: Values) -> Flags:
    """A fall that an unpaired two-sided t-test on all scores calls significant at 5 %."""
    count = before.shape[0] * before.shape[1]
    means = [each.mean(axis=(0, 1)) for each in (before, after)]
    pooled = (before.var(axis=(0, 1), ddof=1) + after.var(axis=(0, 1), ddof=1)) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = (means[1] - means[0]) / np.sqrt(2 * pooled / count)
    return np.asarray(statistic < -special.stdtrit(2 * count - 2, 0.975))


def tallied(found: Experiment, drop: float) -> Iterator[tuple[int | Literal["adaptive"], int, Tally]]:
    """The tallies of one block, for every number of trials and metrics."""
    for metrics in FAMILIES:
        for trials in TRIALS:
            moments = found.fixed[trials].select(slice(None), slice(metrics))
            yield trials, metrics, fixed_trials(moments, found.others[trials], drop)
        looks = [each.select(slice(None), slice(metrics)) for each in found.looks]
        yield "adaptive", metrics, adaptive_trials(looks, drop)


def called(flags: Flags, drop: float) -> int:
    """Comparisons with a call: on the metric that fell or, where none did, on any."""
    return int((flags[:, 0] if drop else flags.any(axis=-1)).sum())


def outcome(verdicts: NDArray[np.str_], drop: float) -> dict[str, int]:
    """How comparisons end: the verdict on the metric that fell, or the worst verdict on any."""
    left = np.ones(len(verdicts), dtype=bool)
    ends = {}
    for name in ("regressed", "inconclusive", "improved", "unchanged"):
        hit = left & ((verdicts[:, 0] == name) if drop else (verdicts == name).any(axis=-1))
        ends[name], left = int(hit.sum()), left & ~hit
    return ends


def fixed_trials(moments: Moments, others: dict[str, Flags], drop: float) -> Tally:
    """All comparisons of a block, judged once."""
    found = judge(moments, RULES)
    metrics = moments.cases.shape[-1]
    regressed = {OURS: called(found.verdict == "regressed", drop)}
    regressed |= {name: called(flags[:, :metrics], drop) for name, flags in others.items()}
    checked = slice(1) if drop else slice(None)
    covered = ((found.low <= -drop) & (-drop <= found.high))[:, checked]
    return Tally(
        comparisons=len(found.verdict),
        regressed=regressed,
        verdicts=outcome(found.verdict, drop),
        covered=int(covered.sum()),
        intervals=covered.size,
    )


def adaptive_trials(looks: list[Moments], drop: float) -> Tally:
    """All comparisons of a block, trial by trial, each until it stops."""
    plan = Plan(1, MOST_TRIALS, MOST_TRIALS)
    comparisons, metrics = looks[0].cases.shape
    ends = np.full((comparisons, metrics), "inconclusive")
    reasons = np.full(comparisons, "out_of_trials")
    trials = np.zeros(comparisons, dtype=int)
    going = np.arange(comparisons)
    for number, moments in enumerate(looks, start=1):
        found = progress([Estimate(moments.select(going), plan)], RULES)
        stop = found.settled | ~found.worthwhile | found.exhausted
        ends[going[stop]], trials[going[stop]] = found.verdict[stop], number
        reasons[going[found.settled]] = "settled"
        if not found.exhausted:
            reasons[going[~found.settled & ~found.worthwhile]] = "futile"
        going = going[~stop]
    return Tally(
        comparisons=comparisons,
        regressed={OURS: called(ends == "regressed", drop)},
        verdicts=outcome(ends, drop),
        trials=int(trials.sum()),
        reasons={name: int((reasons == name).sum()) for name in ("settled", "futile", "out_of_trials")},
    )


class Promise(NamedTuple):
    """A bound, and whether the simulation keeps it."""

    text: str
    found: str
    kept: bool | None
    """None for what is shown and not promised."""


def beyond(rate: float, bound: float, trials: int) -> bool:
    """Whether a simulated rate exceeds a bound by more than three of its standard errors."""
    return rate > bound + 3 * math.sqrt(bound * (1 - bound) / trials)


def coverage_promises(tallies: Tallies) -> Iterator[Promise]:
    """Intervals hold their coverage."""
    fixed = {
        cell: tally for cell, tally in tallies.items() if cell.trials != "adaptive" and cell.metrics == 1
    }
    graded = {cell: tally for cell, tally in fixed.items() if cell.kind != "binary"}
    shares = {cell: (tally.covered / tally.intervals, tally.intervals) for cell, tally in graded.items()}
    large = [share for cell, share in shares.items() if cell.cases >= 10]
    kept = not any(beyond(1 - share, 0.07, count) or beyond(share, 0.97, count) for share, count in large)
    found = f"{min(large)[0]:.1%} to {max(large)[0]:.1%}"
    yield Promise("coverage 93–97 % from 10 cases, means and ratios", found, kept)
    small = float(np.mean([share for cell, (share, _) in shares.items() if cell.cases == 5]))
    yield Promise("coverage at 5 cases on average at least 93 %", f"{small:.1%}", small >= 0.93)
    for cases in CASES:
        binary = [
            tally.covered / tally.intervals
            for cell, tally in fixed.items()
            if cell.kind == "binary" and cell.cases == cases
        ]
        text = f"coverage of binary metrics, {cases} cases, on average at least 93 %"
        yield Promise(text, f"{np.mean(binary):.1%}", bool(np.mean(binary) >= 0.93))


def false_alarm_promises(tallies: Tallies) -> Iterator[Promise]:
    """Nothing changed, and nothing is called regressed."""
    for adaptive in (False, True):
        rates = [
            (tally.rate(), tally.comparisons)
            for cell, tally in tallies.items()
            if not cell.drop and (cell.trials == "adaptive") == adaptive
        ]
        text = (
            f"any metric regressed with no change, at most 5 %, {'adaptive' if adaptive else 'fixed'} trials"
        )
        kept = not any(beyond(rate, 0.05, count) for rate, count in rates)
        worst, average = max(rates)[0], float(np.mean([rate for rate, _ in rates]))
        yield Promise(text, f"worst cell {worst:.1%}, average {average:.1%}", kept)


def gaps(tallies: Tallies, holds: Callable[[Cell, str], bool]) -> list[tuple[float, Cell, str]]:
    """By how much a simpler rule that holds its false alarms is more powerful, cell by cell."""
    return [
        (tally.rate(method) - tally.rate(), cell, method)
        for cell, tally in tallies.items()
        if cell.drop and cell.trials != "adaptive"
        for method in METHODS[1:]
        if method in tally.regressed and holds(cell, method)
    ]


def power_promises(tallies: Tallies) -> Iterator[Promise]:
    """No rule that holds 5 % false alarms sees more.

    A rule holds for a number of cases, trials and metrics if it does for every kind and correlation:
    whoever compares knows the former and not the latter.
    """

    def holds_for_design(cell: Cell, method: str) -> bool:
        alike = [
            tally.rate(method)
            for other, tally in tallies.items()
            if not other.drop
            and (other.cases, other.trials, other.metrics) == (cell.cases, cell.trials, cell.metrics)
        ]
        return max(alike) <= 0.05

    def holds_in_cell(cell: Cell, method: str) -> bool:
        return tallies[cell._replace(drop=0.0)].rate(method) <= 0.05

    gap, cell, method = max(gaps(tallies, holds_for_design), default=(0.0, None, "no rule"))
    kept = not cell or gap <= 0.05 + 3 * math.sqrt(0.25 / tallies[cell].comparisons)
    text = "power within 5 points of the best rule that holds 5 %"
    yield Promise(text, f"behind by {max(gap, 0):.1%} at most ({method}{place(cell)})", kept)
    behind = [gap for gap, *_ in gaps(tallies, holds_in_cell)]
    share = float(np.mean([gap > 0.05 for gap in behind]))
    text = "the same beside rules that happen to hold 5 % in that very cell"
    yield Promise(text, f"further behind in {share:.1%} of {len(behind)}, by {max(behind):.1%} at most", None)


def place(cell: Cell | None) -> str:
    """A cell in a few words."""
    if cell is None:
        return ""
    return (
        f"; {cell.kind}, {cell.cases} cases × {cell.trials}, correlation {cell.correlation:g}, "
        f"{cell.metrics} metrics, drop {cell.drop:.0%}"
    )


def adaptive_promises(tallies: Tallies) -> Iterator[Promise]:
    """Trials stop early where the answer is clear, and where it cannot become clear."""
    for drop in (0.0, 0.10):
        used = {
            cell: tally.trials / tally.comparisons / MOST_TRIALS
            for cell, tally in tallies.items()
            if cell.trials == "adaptive" and cell.cases >= 30 and cell.drop == drop
        }
        worst = max(used, key=lambda cell: used[cell])
        text = f"calls at most 60 % from 30 cases, {f'drop of {drop:.0%}' if drop else 'no change'}"
        found = f"worst cell {used[worst]:.0%}, average {np.mean(list(used.values())):.0%}"
        yield Promise(text, found, used[worst] <= 0.60)


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
    sides = of_means(before), of_means(after)
    moments = paired(*sides).moments
    closed = seconds(lambda: Estimate(moments).interval(), 5)
    whole = seconds(lambda: judge(paired(of_means(before), of_means(after)).moments, RULES), 5)
    text = "closed-form intervals of the same in milliseconds"
    yield Promise(
        text, f"{closed * 1e3:.2f} ms; with pairing and verdicts {whole * 1e3:.0f} ms", whole < 0.25
    )


def print_cells(tallies: Tallies) -> None:
    """Every cell: what each rule calls regressed, how comparisons end inconclusive, and trials used."""
    print(
        "Percent of comparisons called regressed: verdict / bare tolerance / pooled sd / unpaired t"
        " (with no change: any metric), and percent that end inconclusive (i)."
    )
    header = "".join(f"{f'drop {drop:.0%}' if drop else 'no change':>27}" for drop in DROPS)
    print(f"{'':<44}{header}")
    rows = dict.fromkeys(cell._replace(drop=0.0) for cell in sorted(tallies, key=cell_order))
    for row in rows:
        shown = "".join(f"{summary(tallies[row._replace(drop=drop)]):>27}" for drop in DROPS)
        print(f"{place(row)[2:].rsplit(',', 1)[0]:<62}{shown}")


def cell_order(cell: Cell) -> tuple[int, int, float, int, str]:
    """The order of rows."""
    return KINDS.index(cell.kind), cell.cases, cell.correlation, cell.metrics, str(cell.trials)


def summary(tally: Tally) -> str:
    """One entry of the table."""
    rates = "/".join(f"{tally.rate(name):.0%}"[:-1] if name in tally.regressed else "–" for name in METHODS)
    if tally.trials:
        rates = f"{tally.rate():.0%}"[:-1] + f" ×{tally.trials / tally.comparisons:.1f} trials"
    return f"{rates} i{tally.verdicts['inconclusive'] / tally.comparisons:.0%}"[:-1]


def run(repetitions: dict[int, int], workers: int) -> Tallies:
    """Simulate everything, the largest parts first."""
    parts = [
        (cases, correlation) for cases in sorted(repetitions, reverse=True) for correlation in CORRELATIONS
    ]
    tallies: Tallies = {}
    with ProcessPoolExecutor(workers) as pool:
        jobs = [pool.submit(simulate, cases, correlation, repetitions[cases]) for cases, correlation in parts]
        for job in jobs:
            tallies.update(job.result())
    return tallies


def main() -> int:
    """Print all cells and every promise; 1 where one is broken."""
    started = time.perf_counter()
    speed = list(speed_promises())
    tallies = run(REPETITIONS, min(2, os.cpu_count() or 1))
    print_cells(tallies)
    promises = [
        *coverage_promises(tallies),
        *false_alarm_promises(tallies),
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
