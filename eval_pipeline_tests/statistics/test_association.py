"""The exact test of an excess, against SciPy, by hand, and by counting everything."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eval_pipeline.statistics.association import Stratum, excess_p


def test_by_hand() -> None:
    """All three marked ones of fifteen lie among three: one way of 455."""
    assert excess_p([Stratum(15, 3, 3, 3)]) == pytest.approx(1 / 455)
    assert excess_p([Stratum(3, 1, 1, 1)] * 5) == pytest.approx(3.0**-5), "a trial, five times of three"
    assert excess_p([]) == 1.0
    assert excess_p([Stratum(10, 4, 0, 0)]) == 1.0


@given(st.integers(1, 60), st.data())
def test_one_set_is_fishers_test(total: int, data: st.DataObject) -> None:
    inside, marked = data.draw(st.integers(0, total)), data.draw(st.integers(0, total))
    both = data.draw(st.integers(max(0, inside + marked - total), min(inside, marked)))
    expected = stats.hypergeom(total, marked, inside).sf(both - 1)
    assert excess_p([Stratum(total, inside, marked, both)]) == pytest.approx(expected, abs=1e-9)


def test_several_sets_are_counted_out() -> None:
    """Every way to choose the part of either set, each as likely as any other."""
    first, second = Stratum(4, 2, 2, 2), Stratum(5, 2, 3, 1)
    hits = [
        len({0, 1}.intersection(one)) + len({0, 1, 2}.intersection(other))
        for one, other in product(combinations(range(4), 2), combinations(range(5), 2))
    ]
    assert excess_p([first, second]) == pytest.approx(sum(each >= 3 for each in hits) / len(hits))


@pytest.mark.parametrize("wrong", [Stratum(3, 4, 1, 1), Stratum(3, 2, 1, 2), Stratum(3, 2, 1, -1)])
def test_what_does_not_add_up(wrong: Stratum) -> None:
    with pytest.raises(ValueError, match="does not add up"):
        excess_p([wrong])
