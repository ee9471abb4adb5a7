"""What a good golden set for reviews contains."""

from typing import Any

from eval_pipeline.numbers import counted
from eval_pipeline.suite import Overview, Requirement, case_count, each_case, every_value
from eval_pipeline.suites.review.cases import CATEGORIES, KINDS, SEVERITIES, ReviewCase

TASKS_PER_CATEGORY = 3


def measure(case: ReviewCase) -> dict[str, Any]:
    """What the requirements look at."""
    errors = case.expected.errors
    return {
        "expected_errors": len(errors),
        "severities": len({error.severity for error in errors}),
        "categories": sorted({error.category for error in errors}),
    }


def _rare_categories(overview: Overview) -> list[str]:
    results = [name for names in overview.measures["categories"] for name in names]
    return [
        f"{name}: in {counted(results.count(name), 'task')}, at least {TASKS_PER_CATEGORY} needed"
        for name in CATEGORIES
        if results.count(name) < TASKS_PER_CATEGORY
    ]


REQUIREMENTS: tuple[Requirement, ...] = (
    case_count(minimum=8, target=10, ideal=30),
    each_case("expected_errors", "Each task has 5 to 12 expected errors.", minimum=5, maximum=12),
    each_case("severities", "Each task has errors of every severity.", minimum=len(SEVERITIES)),
    Requirement("categories", "Each category is in three tasks or more.", _rare_categories),
    every_value("kind", KINDS, "At least two tasks of each kind.", minimum=2),
)
