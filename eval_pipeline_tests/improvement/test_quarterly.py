"""Thresholds that a quarter's evaluations propose."""

from __future__ import annotations

import pytest

from eval_pipeline.gates import Gate
from eval_pipeline.improvement.quarterly import propose
from eval_pipeline_tests.surveying import point

GATE = Gate.model_validate({"fail": "< 0.60", "pass": ">= 0.70"})


@pytest.mark.parametrize(
    ("values", "kind", "passes", "blocked", "let_through"),
    [
        ([0.9] * 10, "tighten", 0.896, 0, 0),
        ([0.65] * 2 + [0.9] * 18, "tighten", 0.875, 2, 0),
        ([0.5] * 10, "loosen", 0.497, 0, 10),
        ([0.7] * 10, "keep", None, 0, 0),
        ([0.9] * 7, "unknown", None, 0, 0),
    ],
)
def test_a_threshold_is_held_against_history(
    values: list[float], kind: str, passes: float | None, blocked: int, let_through: int
) -> None:
    points = [point(number, value, version=f"v{number}") for number, value in enumerate(values)]
    found = propose("accuracy", GATE, points)
    assert found.kind == kind
    assert (found.new_passes.limit if found.new_passes else None) == pytest.approx(passes)
    assert (len(found.blocked), len(found.let_through)) == (blocked, let_through)


def test_less_is_better_the_other_way_round() -> None:
    gate = Gate.model_validate({"fail": "> 0.05", "pass": "<= 0.02"})
    points = [point(number, 0.001) for number in range(10)]
    found = propose("accuracy", gate, points)
    assert found.kind == "tighten"
    assert found.new_passes is not None
    assert 0.001 <= found.new_passes.limit < 0.0015
