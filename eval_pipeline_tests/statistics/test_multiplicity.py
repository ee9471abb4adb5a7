"""Corrections for many tests, against statsmodels."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eval_pipeline.statistics.multiplicity import benjamini_hochberg, holm

P_VALUES = arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 1))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(P_VALUES)
def test_corrections_agree_with_statsmodels(p_values: Any) -> None:
    from statsmodels.stats.multitest import multipletests

    with mock.patch("gc.collect"):  # statsmodels collects garbage every time, and a test run has much of it
        expected = [multipletests(p_values, method=method)[1] for method in ("holm", "fdr_bh")]
    assert holm(p_values) == pytest.approx(expected[0])
    assert benjamini_hochberg(p_values) == pytest.approx(expected[1])


@given(P_VALUES, st.randoms())
def test_order_does_not_matter(p_values: Any, random: Any) -> None:
    order = list(range(len(p_values)))
    random.shuffle(order)
    for correct in (holm, benjamini_hochberg):
        assert correct(p_values)[order] == pytest.approx(correct(p_values[order]))


def test_a_test_that_was_not_possible_does_not_count() -> None:
    assert holm([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert benjamini_hochberg([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert np.isnan(holm([np.nan])).all()
    assert len(holm([])) == 0


def test_families_stand_on_the_last_axis() -> None:
    rows = np.array([[0.01, 0.02], [0.5, 0.04]])
    assert holm(rows) == pytest.approx(np.array([holm(rows[0]), holm(rows[1])]))


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, 1.2])
