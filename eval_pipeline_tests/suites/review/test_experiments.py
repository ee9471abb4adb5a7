"""The improvement delta: the document's table, worked by hand, and where it is shown."""

from __future__ import annotations

import pytest

from eval_pipeline.suites.review.experiments import cross_experiment, improvement, readings

BASE = [60.0, 62.0, 64.0]


@pytest.mark.parametrize(
    ("after", "delta", "rule", "label"),
    [
        ([70.0, 72.0, 74.0], 10.0, True, "Major improvement"),
        ([65.5, 69.5, 73.5], 7.5, True, "Major improvement"),
        ([60.0, 68.0, 76.0], 6.0, False, "Possible improvement"),
        ([65.0, 67.0, 69.0], 5.0, True, "Minor change"),
        ([60.0, 62.0, 64.0], 0.0, False, "Minor change"),
        ([50.0, 52.0, 54.0], -10.0, True, "Regression"),
        ([59.0, 61.0, 63.0], -1.0, False, "Possible regression"),
        ([70.0, 72.0], 9.0, None, "Possible improvement"),
        ([50.0], -12.0, None, "Possible regression"),
        ([None, 1.0, 2.0], None, None, "undefined"),
    ],
)
def test_the_improvement_delta(
    after: list[float | None], delta: float | None, rule: bool | None, label: str
) -> None:
    assert improvement(BASE, after) == (delta, rule)
    (reading,) = readings({"oes": BASE}, {"oes": after})
    assert (reading.name, reading.value, reading.label) == ("improvement_delta", delta, label)
    assert reading.details["pooled_sd_rule"] is rule
    assert reading.details["oes_before"] == 62.0


def test_the_words_have_units_and_say_that_the_verdict_decides() -> None:
    (reading,) = readings({"oes": BASE}, {"oes": [70.0, 72.0, 74.0]})
    assert reading.text == (
        "improvement_delta +10.0 points (oes 62.0 points → 72.0 points; beyond 2 pooled standard deviations)"
        ": Major improvement, high confidence. It informs; the verdict decides."
    )
    assert cross_experiment({}) == []
