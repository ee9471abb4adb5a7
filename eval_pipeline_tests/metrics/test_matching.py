"""The matcher against every matching there is, and the sweep against every pair of spans."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.metrics.matching import Candidate, maximum_matching, overlaps

Sized = tuple[int, tuple[float, ...]]


def _value(pairs: list[tuple[int, int]], fits: dict[tuple[int, int], tuple[float, ...]]) -> Sized:
    sums = [sum(column) for column in zip(*(fits[pair] for pair in pairs), strict=True)]
    return len(pairs), tuple(sums)


def _best(candidates: list[Candidate]) -> Sized:
    """The value of the best matching, by enumeration."""
    best: Sized = (0, ())
    width = len(candidates[0].weights) if candidates else 0

    def extend(start: int, rows: set[int], columns: set[int], sums: tuple[float, ...], size: int) -> None:
        nonlocal best
        best = max(best, (size, sums)) if size else best
        for index in range(start, len(candidates)):
            each = candidates[index]
            if each.row not in rows and each.column not in columns:
                grown = tuple(a + b for a, b in zip(sums, each.weights, strict=True))
                extend(index + 1, rows | {each.row}, columns | {each.column}, grown, size + 1)

    extend(0, set(), set(), (0.0,) * width, 0)
    return best


_weights = st.tuples(st.integers(-3, 3), st.integers(0, 2), st.integers(-1, 1))
_candidates = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)), _weights, min_size=1, max_size=12
).map(lambda fits: [Candidate(row, column, weights) for (row, column), weights in fits.items()])


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(_candidates, st.randoms(use_true_random=False))
def test_it_is_the_best_of_all_matchings_in_any_order(
    candidates: list[Candidate], order: random.Random
) -> None:
    matched = maximum_matching(candidates)
    fits = {(each.row, each.column): each.weights for each in candidates}
    assert len({row for row, _ in matched}) == len({column for _, column in matched}) == len(matched)
    assert set(matched) <= fits.keys()
    assert _value(matched, fits) == _best(candidates)
    shuffled = order.sample(candidates, len(candidates))
    assert maximum_matching(shuffled) == matched


@pytest.mark.parametrize(
    ("candidates", "matched"),
    [
        ([], []),
        ([(7, 9, (1,))], [(7, 9)]),
        # Greedy takes the long overlap and loses the second match.
        ([(0, 0, (9,)), (0, 1, (5,)), (1, 0, (5,))], [(0, 1), (1, 0)]),
        # Equal sums on the first level: the second decides.
        ([(0, 0, (1, 0)), (1, 1, (1, 0)), (0, 1, (1, 1)), (1, 0, (1, 0))], [(0, 1), (1, 0)]),
        # The first level wants column 0 used, by whichever row; the second would rather leave it.
        (
            [(row, column, (5 * (column == 0), 3 * (column > 0))) for row in (0, 1) for column in (0, 1, 2)]
            + [(0, 1, (0, 4))],
            [(0, 1), (1, 0)],
        ),
        # Without weights, any maximum matching, but always the same.
        ([(0, 1, ()), (0, 0, ())], [(0, 0)]),
        # A pair named twice counts once, with its better weights.
        ([(0, 0, (1,)), (0, 0, (3,)), (1, 0, (2,))], [(0, 0)]),
    ],
)
def test_small_matchings(
    candidates: list[tuple[int, int, tuple[float, ...]]], matched: list[tuple[int, int]]
) -> None:
    assert maximum_matching(candidates) == matched


def test_a_tiny_difference_of_the_first_weight_outweighs_any_second_weight() -> None:
    far = 10**9
    candidates = [(0, 0, (0.3 + 1e-6, 0)), (1, 1, (0.3, 0)), (0, 1, (0.3, far)), (1, 0, (0.3, far))]
    assert maximum_matching(candidates) == [(0, 0), (1, 1)]


def test_a_large_component_is_solved_exactly_on_every_level() -> None:
    size = 60
    source = np.random.default_rng(5)
    weights = source.integers(0, 10**6, (size, size + 3))
    second = source.integers(0, 10**6, (size, size + 3))
    flat = [(i, j, (1, 0, int(weights[i, j]))) for i in range(size) for j in range(size + 3)]
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(weights, maximize=True)
    assert maximum_matching(flat) == list(zip(rows.tolist(), columns.tolist(), strict=True))
    tied = [(i, j, (0, int(second[i, j]) % 2, int(weights[i, j]))) for i, j, _ in flat]
    matched = maximum_matching(tied)
    combined = (second % 2) * 10**9 + weights
    best = combined[linear_sum_assignment(combined, maximize=True)].sum()
    assert sum(int(combined[pair]) for pair in matched) == best


def test_candidates_need_equally_many_weights() -> None:
    with pytest.raises(ValueError, match="same number of weights"):
        maximum_matching([(0, 0, (1,)), (1, 1, (1, 2))])


_spans = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=12).map(
    lambda found: sorted((start, start + length) for start, length in found)
)


@given(_spans, _spans)
def test_the_sweep_finds_every_overlapping_pair_once(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    expected = [
        (i, j, min(a[1], b[1]) - max(a[0], b[0]))
        for i, a in enumerate(first)
        for j, b in enumerate(second)
        if min(a[1], b[1]) > max(a[0], b[0])
    ]
    found = overlaps(
        [s for s, _ in first], [e for _, e in first], [s for s, _ in second], [e for _, e in second]
    )
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected
