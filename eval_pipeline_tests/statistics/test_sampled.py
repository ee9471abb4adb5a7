"""Estimates from samples: tables worked by hand, NumPy and statsmodels as oracles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from eval_pipeline.statistics.sampled import Side, compare_sides, sampled_rate, wilson


def test_a_table_worked_by_hand() -> None:
    """Two of stratum a stand for 2 each, two of b for 10 each: (2 + 0 + 10 + 10) ÷ 24."""
    found = sampled_rate([1, 0, 1, 1], [1, 1, 1, 1], [0.5, 0.5, 0.1, 0.1], ["a", "a", "b", "b"])
    assert found.value == pytest.approx(22 / 24)
    assert found.effective == pytest.approx(24**2 / (2**2 + 2**2 + 10**2 + 10**2))
    assert found.sampled == 4
    residuals = [(1 - 22 / 24) / 24, (0 - 22 / 24) / 24, (1 - 22 / 24) / 24, (1 - 22 / 24) / 24]
    parts = [(1 - p) * (e / p) ** 2 for e, p in zip(residuals, [0.5, 0.5, 0.1, 0.1], strict=True)]
    assert found.strata["a"].variance == pytest.approx(parts[0] + parts[1])
    assert found.strata["b"].variance == pytest.approx(parts[2] + parts[3])
    assert found.strata["a"].value == 0.5
    assert found.strata["b"].value == 1.0
    assert found.variance == pytest.approx(sum(parts) * 4 / 3)
    assert not found.enough


def test_a_rate_of_counts_is_a_ratio_of_sums() -> None:
    """Three of four concepts and one of two: 4 ÷ 6, and not the mean of shares."""
    assert sampled_rate([3, 1], [4, 2], [0.5, 0.5], ["a", "a"]).value == pytest.approx(4 / 6)


def test_what_has_no_whole_does_not_count() -> None:
    found = sampled_rate([1, 0], [1, 0], [0.5, 0.1], ["a", "b"])
    assert (found.value, found.sampled, list(found.strata)) == (1.0, 1, ["a"])
    nothing = sampled_rate([0], [0], [0.5], ["a"])
    assert math.isnan(nothing.value)
    assert (nothing.sampled, nothing.effective, nothing.enough) == (0, 0.0, False)


def test_who_looked_at_everything_is_sure() -> None:
    found = sampled_rate([1, 0, 1], [1, 1, 1], [1, 1, 1], ["a", "a", "a"])
    assert (found.low, found.value, found.high) == (2 / 3, 2 / 3, 2 / 3)


def test_that_all_are_alike_is_no_certainty() -> None:
    found = sampled_rate([0.0] * 40, [1.0] * 40, [0.05] * 40, ["a"] * 40)
    assert found.value == found.low == 0.0
    assert found.high == pytest.approx(wilson(0.0, 40)[1])
    assert 0.05 < found.high < 0.1
    assert found.enough


def test_the_variance_is_that_of_the_textbook() -> None:
    """With equal chances it is about (1 − f) s² ÷ n."""
    random = np.random.default_rng(7)
    values = random.normal(5, 2, 200)
    found = sampled_rate(values, np.ones(200), np.full(200, 0.2), ["a"] * 200, fraction=False)
    assert found.value == pytest.approx(values.mean())
    assert found.variance == pytest.approx(0.8 * values.var(ddof=1) / 200)
    assert found.effective == pytest.approx(200)


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(0.01, 1), st.sampled_from("abc")),
        min_size=1,
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
def test_order_does_not_matter(rows: list[tuple[int, int, float, str]], random: object) -> None:
    def estimate(of: list[tuple[int, int, float, str]]) -> tuple[float, ...]:
        part, whole, chance, strata = zip(*of, strict=True)
        parts = [min(a, b) for a, b in zip(part, whole, strict=True)]
        return sampled_rate(parts, whole, chance, strata)[:6]

    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert_allclose(estimate(rows), estimate(shuffled), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("part", "whole", "chances", "strata"),
    [
        ([1], [1], [0.0], ["a"]),
        ([1], [1], [1.5], ["a"]),
        ([1, 1], [1], [0.5], ["a"]),
        ([math.nan], [1], [0.5], ["a"]),
    ],
)
def test_what_cannot_be_is_refused(
    part: list[float], whole: list[float], chances: list[float], strata: list[str]
) -> None:
    with pytest.raises(ValueError, match=r"must|chance"):
        sampled_rate(part, whole, chances, strata)


def sides(seed: int, shared: bool) -> tuple[Side, Side]:
    random = np.random.default_rng(seed)
    made = []
    for number, mean in enumerate((0.6, 0.7)):
        users = np.tile(np.arange(40), 5)
        own = random.normal(0, 0.5, 40)[users]
        values = mean + own + random.normal(0, 0.3, 200)
        names = [f"u{user}" if shared else f"{number}u{user}" for user in users]
        made.append(Side.of(values, np.ones(200), np.ones(200), names))
    return made[0], made[1]


@pytest.mark.slow
def test_statsmodels_gives_the_same_standard_error() -> None:
    """A regression on the side, with errors clustered by user, and its small-sample factor taken out."""
    import statsmodels.api as sm

    before, after = sides(1, shared=False)
    values = np.concatenate([before.part, after.part])
    side = np.repeat([0.0, 1.0], [len(before.part), len(after.part)])
    groups = np.unique([*before.clusters, *after.clusters], return_inverse=True)[1]
    fitted = sm.OLS(values, sm.add_constant(side)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    found = compare_sides(before, after)
    assert found.difference == pytest.approx(fitted.params[1])
    counts = [len(set(before.clusters)), len(set(after.clusters))]
    assert found.clusters == tuple(counts)
    assert counts[0] == counts[1]  # so that one factor serves both
    assert found.error == pytest.approx(fitted.bse[1] * math.sqrt(counts[0] / (counts[0] - 1)))


def test_users_on_both_sides_count_once() -> None:
    """The same users, one of whose answers each moved by the same: the difference has no scatter."""
    before = Side.of([0.1, 0.5, 0.9], [1, 1, 1], [1, 1, 1], ["a", "b", "c"])
    after = Side.of([0.3, 0.7, 1.1], [1, 1, 1], [1, 1, 1], ["a", "b", "c"])
    found = compare_sides(before, after)
    assert found.difference == pytest.approx(0.2)
    assert found.p_value == 2 * 0.5**3
    strangers = compare_sides(before, after._replace(clusters=["d", "e", "f"]))
    assert strangers.p_value > 0.3


def test_a_user_who_asks_often_is_one_observation() -> None:
    few = compare_sides(
        Side.of([0, 1, 0, 1], [1] * 4, [1] * 4, ["a", "b", "c", "d"]),
        Side.of([1, 1, 0, 1], [1] * 4, [1] * 4, ["e", "f", "g", "h"]),
    )
    many = compare_sides(
        Side.of([0, 1, 0, 1] * 50, [1] * 200, [1] * 200, ["a", "b", "c", "d"] * 50),
        Side.of([1, 1, 0, 1] * 50, [1] * 200, [1] * 200, ["e", "f", "g", "h"] * 50),
    )
    assert many.p_value == pytest.approx(few.p_value)


def test_too_few_users_tell_nothing() -> None:
    one = Side.of([1.0, 0.0], [1, 1], [1, 1], ["a", "a"])
    two = Side.of([1.0, 0.0], [1, 1], [1, 1], ["b", "c"])
    assert math.isnan(compare_sides(one, two).p_value)
    assert math.isnan(compare_sides(Side.of([], [], [], []), two).difference)
