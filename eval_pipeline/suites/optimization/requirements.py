"""What a good golden set for optimization contains."""

from typing import Any

from eval_pipeline.suite import Requirement, case_count, each_case, every_value
from eval_pipeline.suites.optimization.cases import SIZES, OptimizationCase, has_subject

TARGETS = ("sora", "veo3", "runway", "kling", "luma")
CORE = ("intent_preservation", "structural_completeness", "word_count_compliance", "technical_density")


def measure(case: OptimizationCase) -> dict[str, Any]:
    """What the requirements look at."""
    expected = case.expected
    return {
        "minima": sum(getattr(expected.qualities, name) is not None for name in CORE),
        "required_elements": len(expected.required_elements),
        "forbidden_patterns": len(expected.forbidden_patterns),
        "detectable_subjects": int(has_subject(case)),
    }


REQUIREMENTS: tuple[Requirement, ...] = (
    case_count(minimum=30, target=30, ideal=60),
    every_value("size", SIZES, "At least five minimal, partial and complex inputs.", minimum=5),
    every_value("target_model", TARGETS, "At least three cases for each target model.", minimum=3),
    each_case("minima", "Each case has a minimum for the four gated qualities.", minimum=4),
    each_case("required_elements", "Each case names an element that must stay.", minimum=1),
    each_case("forbidden_patterns", "Each case names a pattern that must not appear.", minimum=1),
    each_case("detectable_subjects", "The subject of each input can be found.", minimum=1),
)
