"""Bins of confidence: where values fall, and what the table says of them."""

import numpy as np
import pytest

from eval_pipeline.suite import KeyedSums
from eval_pipeline.suites.decomposition.calibration import (
    calibration_counts,
    calibration_rows,
    mean_confidence,
)


@pytest.mark.parametrize(
    ("confidence", "name"),
    [
        (0.0, "0.0–0.2"),
        (0.2, "0.2–0.4"),
        (0.6, "0.6–0.8"),
        (0.7999, "0.6–0.8"),
        (1.0, "0.8–1.0"),
        (1.01, "outside 0–1"),
        (-0.1, "outside 0–1"),
        (95.0, "outside 0–1"),
    ],
)
def test_every_confidence_has_a_bin(confidence: float, name: str) -> None:
    assert {count.row_key for count in calibration_counts({"x": confidence}, ())} == {name}


def test_the_table_sets_what_was_said_beside_what_was_right() -> None:
    """Of three concepts that were 90 % sure, two are right."""
    cells = np.array([[[3.0, 2.0, 2.7], [1.0, 0.0, 7.0]]])
    table = KeyedSums(("0.8–1.0", "outside 0–1"), ("concepts", "correct", "confidence"), cells)
    first, second = calibration_rows(table)
    assert (first["concepts"], first["correct"]) == (3, 2)
    assert first["share correct"] == pytest.approx(2 / 3)
    assert first["mean confidence"] == pytest.approx(0.9)
    assert second["mean confidence"] is None


def test_a_confidence_that_is_no_fraction_is_not_averaged() -> None:
    assert mean_confidence({"a": 0.5, "b": 1.0, "c": 80.0}) == pytest.approx(0.75)
    assert mean_confidence({"c": 80.0}) is None
    assert mean_confidence({}) is None
