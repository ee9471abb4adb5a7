from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eval_pipeline.statistics.correlation import ranks, spearman

PAIRS = st.lists(st.tuples(st.integers(-5, 5), st.floats(-3, 3, width=16)), min_size=10, max_size=40)


@given(PAIRS)
def test_it_is_what_scipy_says(pairs: list[tuple[int, float]]) -> None:
    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    found = spearman(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
        return
    assert found is not None
    assert found.value == pytest.approx(stats.spearmanr(first, second).statistic, abs=1e-9)
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert list(ranks(second)) == list(stats.rankdata(second))


def test_few_pairs_say_nothing() -> None:
    assert spearman(range(9), range(9)) is None
    with pytest.raises(ValueError, match="counterpart"):
        spearman([1.0], [])


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    random = np.random.default_rng(3)
    truth = 6 / np.pi * np.arcsin(0.5 / 2)  # ρ of ranks where normals correlate by 0.5
    held = 0
    for _ in range(400):
        one = random.normal(size=60)
        two = 0.5 * one + np.sqrt(0.75) * random.normal(size=60)
        found = spearman(one.tolist(), two.tolist())
        assert found is not None
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 400 <= 0.98
