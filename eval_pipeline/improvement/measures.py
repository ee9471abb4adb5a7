"""What an answer shows without a golden one, as reasons to look at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from eval_pipeline.improvement.failures import Measures
from eval_pipeline.improvement.requests import Request
from eval_pipeline.monitoring import Measuring, Production, Target, canaries_of, every_measure
from eval_pipeline.numbers import number
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite
from eval_pipeline.suite.production import Measure

HALF = 0.5
"""Where no target says what a measure should be, an answer fails that is on its worse half."""
OF_THE_CONTRACT = "contract_valid"


def failing_measures(project: Project, suite: Suite, production: Production) -> Measures:
    """How answers of a suite are measured: what is worse than its target, or than half, is a reason."""
    measuring = Measuring(suite, canaries_of(project, suite))
    known = every_measure(suite)
    targets = production.of(suite.name).quality

    def failing(request: Request, output: Any, fields: Mapping[str, Any]) -> Iterator[str]:
        row = {
            "output": request.output,
            "error": request.error,
            "retrieved": list(request.passages),
            "input": msgspec.json.encode(fields).decode(),
        }
        for name, part, whole in measuring.measure(row):
            measure = known[name]
            if name != OF_THE_CONTRACT and _fails(measure, part / whole, targets.get(name)):
                yield f"{name} is {number(part / whole, measure.unit)}"

    return failing


def _fails(measure: Measure, value: float, target: Target | None) -> bool:
    if target is not None:
        return (target.above is not None and value <= target.above) or (
            target.below is not None and value >= target.below
        )
    if measure.unit != "fraction":
        return False
    return {"higher": value < HALF, "lower": value > HALF, "neither": False}[measure.better]
