"""Sign flips: counted, by saddlepoint, and beside an independent library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from eval_pipeline.statistics import flips
from eval_pipeline.statistics.flips import sign_flips


def test_all_signs_of_three_cases() -> None:
    """Sums of ±1 ±2 ±4: the observed 1 − 2 − 4 = −5 is the second lowest of eight."""
    low, high = sign_flips(np.array([[1.0], [-2.0], [-4.0]]))
    assert (low[0], high[0]) == (2 / 8, 7 / 8)


def test_ties_count_as_reached_and_zeros_change_nothing() -> None:
    low, _ = sign_flips(np.array([[-1.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [0.0, 1.0]]))
    assert low.tolist() == [4 / 8, 11 / 16]


@pytest.mark.parametrize("cases", [4, 30])
def test_nothing_that_differs_has_p_one_and_what_is_unknown_has_none(cases: int) -> None:
    table = np.zeros((cases, 2))
    table[0, 1] = np.nan
    low, high = sign_flips(table)
    assert (low[0], high[0]) == (1.0, 1.0)
    assert np.isnan([low[1], high[1]]).all()


@pytest.mark.parametrize("cases", [3, 11, 12, 13, 40])
def test_cases_that_all_fell_have_the_least_p(cases: int) -> None:
    low, high = sign_flips(-np.linspace(0.1, 5, cases)[:, np.newaxis])
    assert low[0] == pytest.approx(0.5**cases)
    assert high[0] == pytest.approx(1, abs=1e-3)


def test_the_rounding_of_floats_is_no_difference() -> None:
    """Of forty cases three fell; the others differ by what floats lose."""
    table = np.full((40, 1), 1e-16)
    table[:3] = -1 / 3
    assert sign_flips(table)[0] == pytest.approx([1 / 8])


def test_counted_flips_are_scipys_permutation_test() -> None:
    values = np.random.default_rng(1).normal(-0.4, 1, 10)
    expected = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="less"
    )
    assert sign_flips(values[:, np.newaxis])[0] == pytest.approx([expected.pvalue])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["normal", "heavy", "grained", "outlier"]))
def test_the_saddlepoint_is_near_to_counting(seed: int, kind: str) -> None:
    """Fourteen cases: seldom lower by a tenth, and with one giant case higher, which is the careful side."""
    random = np.random.default_rng(seed)
    table = {
        "normal": random.normal(-0.3, 1, (14, 1)),
        "heavy": random.standard_t(2, (14, 1)),
        "grained": random.integers(-2, 2, (14, 1)) / 3,
        "outlier": np.concatenate([[[-9.0]], random.normal(-0.3, 1, (13, 1))]),
    }[kind]
    signs = 2.0 * (np.arange(2**14)[:, np.newaxis] >> np.arange(14) & 1) - 1
    counted = float((signs @ table[:, 0] <= table.sum() + 1e-9).mean())
    near = flips._saddlepoint(table, np.zeros(1, dtype=np.int64))[0][0]
    if 0.002 < counted < 0.2:
        assert 0.85 * counted < near < 1.5 * counted


def test_right_or_wrong_is_the_binomial_test() -> None:
    table = np.repeat([-1.0, 1.0, 0.0], [14, 5, 30])[:, np.newaxis]
    expected = stats.binomtest(5, 19, alternative="less").pvalue
    assert sign_flips(table)[0] == pytest.approx([expected], rel=0.05)
    assert sign_flips(table / 3)[0] == pytest.approx([expected], rel=0.05)
