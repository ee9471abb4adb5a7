"""The simulation of `benchmarks.verdicts` in small: no promise is broken by more than chance explains."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.promises import (
    Share,
    at_most,
    behind,
    exclusion_promises,
    false_alarm_promises,
    power_promises,
)
from benchmarks.tallies import ADAPTIVE, Cell, Tallies, Tally
from benchmarks.verdicts import DROPS, oracle, simulate
from benchmarks.worlds import LEVEL, METRICS, SCATTER, WORLDS, clipped_mean, graded_shift

SMALL = {"means": 30, "right or wrong": 10, "a minority flips": 5, "lognormal sizes": 10}


@pytest.fixture(scope="module")
def tallies() -> Tallies:
    """One number of cases for each of some worlds."""
    return {
        cell: tally
        for world in WORLDS
        if world.name in SMALL
        for cell, tally in simulate(world, SMALL[world.name], 300).items()
    }


def test_intervals_cover(tallies: Tallies) -> None:
    for cell, tally in tallies.items():
        if tally.intervals and cell.metrics == METRICS and not cell.drop:
            assert tally.covered / tally.intervals > 0.92


def test_the_promises_hold_in_small(tallies: Tallies) -> None:
    assert {cell.sides for cell in tallies} == {1, 2}
    for promises in (false_alarm_promises, exclusion_promises, power_promises):
        for promise in promises(tallies):
            assert promise.kept is not False, promise


def test_large_drops_are_seen_in_fewer_trials_than_there_are(tallies: Tallies) -> None:
    assert tallies[Cell("means", 30, (3, 3), METRICS, 1, 0.10)].rate > 0.8
    adaptive = tallies[Cell("means", 30, ADAPTIVE, METRICS, 1, 0.10)]
    assert adaptive.rate > 0.8
    assert adaptive.trials / adaptive.comparisons < 4


def test_the_simulated_drop_is_the_true_drop() -> None:
    for drop in DROPS[1:]:
        fell = clipped_mean(LEVEL) - clipped_mean(LEVEL - SCATTER * graded_shift(drop))
        assert fell == pytest.approx(drop)


def test_a_promise_is_broken_only_beyond_what_luck_in_many_cells_explains() -> None:
    cells = [Cell("means", cases, (1, 1), 1, 1, 0.0) for cases in range(100)]
    quiet = dict.fromkeys(cells, Share(0.05, 0.01))
    # A hundred cells at one per cent together: 3.72 standard errors.
    lucky = at_most("", quiet | {cells[7]: Share(0.087, 0.01)}, 0.05)
    assert lucky.kept
    assert lucky.found.startswith("worst 8.7% ± 1.0 (means, 7 cases, 1 and 1 trials, 1 metrics)")
    assert not at_most("", quiet | {cells[7]: Share(0.088, 0.01)}, 0.05).kept


def test_what_is_behind_another_test_is_paired() -> None:
    # Of 100 comparisons the other says it of 30, we of 26; they differ about 6: 5 are theirs alone, 1 ours.
    share = behind(Tally(comparisons=100), 30, 26, 6)
    assert share == pytest.approx((0.04, ((0.06 - 0.04**2) / 100) ** 0.5))


def test_the_oracle_keeps_the_levels_of_the_verdicts() -> None:
    gaps = np.array([-0.035, -0.02, -0.009, 0.0, 0.02, 0.035])
    unchanged, no_worse = oracle(gaps, error=0.01, level=0.05)
    assert unchanged.tolist() == [False, False, True, True, False, False]
    assert no_worse.tolist() == [False, False, True, True, True, True]
