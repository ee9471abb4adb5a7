"""What suggestions show without golden ones: several that differ, and nothing that is forbidden."""

from typing import Any

from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import Case
from eval_pipeline.suite.production import Measure, ProductionMeasures, Served, Share, share_of
from eval_pipeline.suites.suggestions.scoring import distinct, length_appropriateness, shows


def different(served: Served) -> Share | None:
    """Suggestions that differ from each other and from the span, and name something ÷ suggestions."""
    own = normalize(served.input.span) if served.input else ""
    given = served.output.suggestions
    if not given:
        return None
    kept = [each for each in distinct(given) if normalize(each) != own and shows(each)]
    return Share(float(len(kept)), float(len(given)))


def well_sized(served: Served) -> Share | None:
    """How well the length of suggestions suits the span: their mean."""
    if served.input is None or not normalize(served.input.span) or not served.output.suggestions:
        return None
    given = [length_appropriateness(served.input.span, each) for each in served.output.suggestions]
    return Share(sum(given), float(len(given)))


def forbidden(served: Served) -> Share | None:
    """Suggestions that golden sets forbid ÷ suggestions."""
    known = {normalize(each) for each in served.canaries}
    return share_of(normalize(each) in known for each in served.output.suggestions)


def forbidden_outputs(case: Case[Any, Any]) -> list[str]:
    """What a golden case forbids."""
    return list(case.expected.forbidden_outputs)


MEASURES = ProductionMeasures(
    measures=(
        Measure("different", "Suggestions that differ from each other and from the span ÷ all.", different),
        Measure("length_appropriateness", "The suite's own measure of length: its mean.", well_sized),
        Measure(
            "forbidden_rate", "Suggestions that golden sets forbid ÷ suggestions.", forbidden, better="lower"
        ),
    ),
    words=(1, 500),
    items=lambda output: len(output.suggestions),
    most_items=20,
    source=lambda given: str(given.prompt),
    canaries=forbidden_outputs,
)
