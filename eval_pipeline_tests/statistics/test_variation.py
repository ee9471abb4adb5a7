"""Stability of runs, consistency of findings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.statistics.variation import (
    finding_consistency,
    overall_stability,
    pooled_sd_rule,
    recurrent_findings,
    run_stability,
    stability_label,
)


@pytest.mark.parametrize(
    ("values", "stability"),
    [
        ([0.57, 0.65, 0.73], 1 - 0.08 / 0.65),
        ([0.5, 0.5, 0.5], 1.0),
        ([0.0, 0.0, 0.0], 1.0),
        ([-1.0, 0.0, 1.0], None),  # a mean of 0 with scatter
        ([0.5, 0.6], None),  # two trials are too few
        ([0.5, None, 0.6], None),  # a trial without a value is not left out in silence
        ([], None),
        ([0.0, 0.0, 1.0], 1 - 3**0.5),  # below 0, shown as it is
    ],
)
def test_run_stability(values: list[float | None], stability: float | None) -> None:
    assert run_stability(values) == (None if stability is None else pytest.approx(stability))


@pytest.mark.parametrize(
    ("stability", "label"),
    [(0.81, "STABLE"), (0.8, "MODERATE"), (0.6, "MODERATE"), (0.59, "UNSTABLE"), (-2, "UNSTABLE")],
)
def test_edges_of_stability_are_moderate(stability: float, label: str) -> None:
    assert stability_label(stability) == label


@pytest.mark.parametrize(
    ("stabilities", "label"),
    [
        ([0.9, 0.95], "STABLE"),
        ([0.9, 0.7], "MODERATE"),
        ([0.9, 0.7, 0.1], "UNSTABLE"),
        ([0.1, None], "UNSTABLE"),
        ([0.9, None], None),
        ([], None),
    ],
)
def test_an_experiment_is_as_stable_as_its_worst_metric(
    stabilities: list[float | None], label: str | None
) -> None:
    assert overall_stability(stabilities) == label


def test_finding_consistency_counts_findings_and_says_over_how_many_trials() -> None:
    trials = [{"a", "b", "c"}, {"a", "b"}, {"a", "d"}]
    assert finding_consistency(trials) == (0.25, 3)
    assert recurrent_findings(trials) == {"a", "b"}
    assert finding_consistency([["a", "a"], ["a"]]) == (1.0, 2)
    assert finding_consistency([set(), set()]) == (None, 2)
    assert finding_consistency([]) == (None, 0)
    assert recurrent_findings([{"a"}, {"b"}]) == set()  # half is not over half


@given(st.lists(st.sets(st.integers(0, 5)), max_size=6), st.randoms())
def test_the_order_of_trials_does_not_matter(trials: list[set[int]], random: Any) -> None:
    shuffled = list(trials)
    random.shuffle(shuffled)
    assert finding_consistency(shuffled) == finding_consistency(trials)
    assert recurrent_findings(shuffled) == recurrent_findings(trials)


def test_the_pooled_sd_rule() -> None:
    assert pooled_sd_rule([60, 62, 64], [70, 72, 74]) is True
    assert pooled_sd_rule([60, 62, 64], [62, 64, 66]) is False
    assert pooled_sd_rule([60], [70, 71]) is None
