"""What answers cost, in words."""

from __future__ import annotations

import pytest

from eval_pipeline.answers import Answer
from eval_pipeline.answers.costs import costs_of


@pytest.mark.parametrize(
    ("cost", "tokens", "expected"),
    [
        (None, None, ""),
        (0.0, None, ""),
        (None, {"prompt": 70, "completion": 30}, "unknown, 200 tokens for 2 answers"),
        (0.25, 100, "$0.5000, 200 tokens for 2 answers"),
        (0.25, None, "$0.5000 for 2 answers"),
        (0.0, 100, "$0.0000, 200 tokens for 2 answers"),
    ],
)
def test_a_cost_that_nobody_knows_is_not_nothing(
    cost: float | None, tokens: int | dict[str, int] | None, expected: str
) -> None:
    answers = [Answer(name, 1, "{}", cost_usd=cost, tokens=tokens) for name in ("a", "b")]
    assert costs_of(answers).spent == expected
