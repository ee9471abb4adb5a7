"""What a good golden set for suggestions contains."""

from collections.abc import Iterator
from typing import Any

from eval_pipeline.metrics.text import normalize
from eval_pipeline.numbers import limit
from eval_pipeline.suite import Requirement, case_count, each_case, every_value, no_case_lists
from eval_pipeline.suites._video.syntax import faults
from eval_pipeline.suites.suggestions.cases import Qualities, SuggestionCase

PARENTS = (
    "subject",
    "action",
    "environment",
    "camera",
    "lighting",
    "time",
    "shot",
    "style",
    "technical",
    "audio",
)
CORE = {"category_coherence": 0.9, "diversity": 0.5, "non_repetition": 0.6, "syntactic_validity": 0.95}
"""The qualities that every case has a minimum for, and the document's minima."""


def measure(case: SuggestionCase) -> dict[str, Any]:
    """What the requirements look at."""
    expected = case.expected
    forbidden = {normalize(text) for text in expected.forbidden_outputs}
    return {
        "minima": sum(getattr(expected.qualities, name) is not None for name in CORE),
        "lowered_minima": [] if expected.why_lower.strip() else list(_lowered(expected.qualities)),
        "original_forbidden": int(normalize(case.input.span) in forbidden),
        "own_category_allowed": int(case.input.category in expected.allowed_categories),
        "unsound_prompt": [f"{fault.after} {fault.text}".strip() for fault in faults(case.input.prompt)],
    }


def _lowered(qualities: Qualities) -> Iterator[str]:
    """The qualities of which a case expects less than the document does."""
    for name, least in CORE.items():
        minimum = getattr(qualities, name)
        if minimum is not None and minimum.min < least:
            yield f"{name} {limit(minimum.min)}, the document has {limit(least)}"


REQUIREMENTS: tuple[Requirement, ...] = (
    case_count(minimum=50, target=50, ideal=100),
    every_value("parent", PARENTS, "At least one case for each parent category."),
    each_case("minima", "Each case has a minimum for the four gated qualities.", minimum=4),
    no_case_lists(
        "lowered_minima",
        "Minima are the document's, or the case says in `whyLower` why they are not.",
        "less is expected than the document does, for no reason given",
    ),
    each_case("original_forbidden", "Each case forbids the original itself.", minimum=1),
    each_case("own_category_allowed", "Each case allows the category of its own span.", minimum=1),
    no_case_lists(
        "unsound_prompt",
        "Every prompt is grammatical by itself, by the check that judges suggestions.",
        "the check of syntax stumbles over the prompt itself, and will over any suggestion",
        severity="warning",
    ),
)
