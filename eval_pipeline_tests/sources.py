"""Small sources of cases and answers for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from eval_pipeline.answers import Answer
from eval_pipeline.files import content_hash
from eval_pipeline.golden import GoldenCase
from eval_pipeline.scoring import score_cases, summarize
from eval_pipeline.suite import Case, Context, Suite


def golden(case: Case[Any, Any]) -> GoldenCase:
    """A case as a golden set holds it."""
    return GoldenCase(case, f"{case.id}.json", 1, content_hash(case.input), content_hash(case))


class Recorded:
    """Answers by case id, the same in every trial; an `Answer` stands for itself."""

    def __init__(self, outputs: Mapping[str, Any], trials: int = 1) -> None:
        self._outputs = outputs
        self.trials = tuple(range(1, trials + 1))

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        """The answer for a case."""
        if case_id not in self._outputs:
            return None
        output = self._outputs[case_id]
        if isinstance(output, Answer):
            return output
        return Answer(case_id, trial, msgspec.json.encode(output).decode())


def values(
    suite: Suite,
    cases: Sequence[GoldenCase],
    outputs: Mapping[str, Any],
    context: Context | None = None,
) -> dict[str, float | None]:
    """Every metric's value."""
    scores = score_cases(suite, cases, Recorded(outputs), context or Context())
    return {name: each.value for name, each in summarize(suite, scores, {}).metrics.items()}
