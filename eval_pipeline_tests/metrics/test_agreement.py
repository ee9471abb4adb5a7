"""Cohen's κ by hand and against scikit-learn."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.metrics.agreement import cohen_kappa

_labels = st.sampled_from("ABC")


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([], None),
        ([("A", "A")] * 5, None),
        ([("A", "A"), ("B", "B")], 1.0),
        ([("A", "B"), ("B", "A")], -1.0),
        # 50 items: 20 both yes, 15 both no, 5 and 10 apart. Observed 0.7, by chance 0.5.
        ([("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15, 0.4),
    ],
)
def test_worked_examples(pairs: list[tuple[str, str]], kappa: float | None) -> None:
    assert cohen_kappa(pairs) == (None if kappa is None else pytest.approx(kappa))


@settings(deadline=None)
@given(st.lists(st.tuples(_labels, _labels), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_it_equals_scikit_learn_in_any_order(pairs: list[tuple[str, str]], order: random.Random) -> None:
    from sklearn.metrics import cohen_kappa_score

    ours = cohen_kappa(pairs)
    assert cohen_kappa(order.sample(pairs, len(pairs))) == ours
    if ours is None:
        assert len({label for pair in pairs for label in pair}) == 1
    else:
        assert ours == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
