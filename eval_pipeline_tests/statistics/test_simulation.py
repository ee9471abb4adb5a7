"""The simulation of `benchmarks.verdicts` in small: no promise is broken by more than chance explains."""

from __future__ import annotations

import pytest

from benchmarks import verdicts as benchmark
from benchmarks.verdicts import BARE, OURS, Cell, Tallies, simulate


@pytest.fixture(scope="module")
def tallies() -> Tallies:
    return {**simulate(10, 0.3, 300), **simulate(30, 0.7, 200)}


def test_intervals_cover(tallies: Tallies) -> None:
    for cell, tally in tallies.items():
        if cell.trials != "adaptive" and cell.metrics == 14 and not cell.drop:
            assert tally.covered / tally.intervals > 0.92


def test_false_alarms_are_rare_with_and_without_adaptive_trials(tallies: Tallies) -> None:
    for cell, tally in tallies.items():
        if not cell.drop:
            assert not benchmark.beyond(tally.rate(), 0.05, tally.comparisons)


def test_a_fall_by_the_tolerance_is_rarely_called_unchanged(tallies: Tallies) -> None:
    for cell, tally in tallies.items():
        if cell.drop == benchmark.TOLERANCE and cell.kind != "binary":
            assert not benchmark.beyond(
                tally.verdicts["unchanged"] / tally.comparisons, 0.2, tally.comparisons
            )


def test_large_drops_are_seen_and_the_bare_rule_cries_wolf(tallies: Tallies) -> None:
    assert tallies[Cell("mean", 30, 0.7, 5, 14, 0.10)].rate() > 0.95
    assert tallies[Cell("mean", 30, 0.7, "adaptive", 14, 0.10)].rate() > 0.9
    quiet = tallies[Cell("mean", 10, 0.3, 1, 14, 0.0)]
    assert quiet.rate(BARE) > 0.5
    assert quiet.rate(OURS) < 0.1


def test_adaptive_trials_save_calls(tallies: Tallies) -> None:
    for kind in benchmark.KINDS:
        for drop in (0.0, 0.10):
            tally = tallies[Cell(kind, 30, 0.7, "adaptive", 1, drop)]
            assert tally.trials / tally.comparisons < 0.65 * benchmark.MOST_TRIALS


def test_the_simulated_drop_is_the_true_drop() -> None:
    for drop in benchmark.DROPS[1:]:
        shift = benchmark.latent_shift("mean", drop)
        fell = benchmark.clipped_mean(benchmark.LEVEL) - benchmark.clipped_mean(
            benchmark.LEVEL - benchmark.SCATTER * shift
        )
        assert fell == pytest.approx(drop)
