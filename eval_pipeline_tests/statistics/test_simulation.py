"""The simulation of `benchmarks.verdicts` in small: no promise is broken by more than chance explains."""

from __future__ import annotations

import pytest

from benchmarks import verdicts as benchmark
from benchmarks.verdicts import ADAPTIVE, SAID, Cell, Tallies, simulate
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


def test_false_alarms_are_rare_with_adaptive_trials_and_with_two_sides(tallies: Tallies) -> None:
    assert {cell.sides for cell in tallies} == {1, 2}
    for cell, tally in tallies.items():
        if not cell.drop:
            assert not benchmark.beyond(tally.rate, 0.05, tally.comparisons)


def test_a_drop_by_the_tolerance_is_rarely_called_unchanged(tallies: Tallies) -> None:
    for cell, tally in tallies.items():
        if cell.drop == benchmark.TOLERANCE:
            assert not benchmark.beyond(tally.share(*SAID), 0.05, tally.comparisons)


def test_the_promises_about_silence_and_power_hold_in_small(tallies: Tallies) -> None:
    for promise in (*benchmark.exclusion_promises(tallies), *benchmark.power_promises(tallies)):
        assert promise.kept, promise


def test_large_drops_are_seen_in_fewer_trials_than_there_are(tallies: Tallies) -> None:
    assert tallies[Cell("means", 30, (3, 3), METRICS, 1, 0.10)].rate > 0.8
    adaptive = tallies[Cell("means", 30, ADAPTIVE, METRICS, 1, 0.10)]
    assert adaptive.rate > 0.8
    assert adaptive.trials / adaptive.comparisons < 4


def test_the_simulated_drop_is_the_true_drop() -> None:
    for drop in benchmark.DROPS[1:]:
        fell = clipped_mean(LEVEL) - clipped_mean(LEVEL - SCATTER * graded_shift(drop))
        assert fell == pytest.approx(drop)
