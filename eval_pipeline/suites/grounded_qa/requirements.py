"""What a good golden set for grounded questions contains."""

from eval_pipeline.numbers import counted, limit
from eval_pipeline.suite import Overview, Requirement, case_count, every_value

LEAST_UNANSWERABLE = 1 / 4
LEAST_SEVERAL = 5


def _unanswerable_share(overview: Overview) -> list[str]:
    results = list(overview.attributes["answerability"])
    count = results.count("unanswerable")
    if LEAST_UNANSWERABLE <= count / len(results) < 1:
        return []
    size = f"{count:,} of {counted(len(results), 'question')}"
    return [f"{size} unanswerable, at least {limit(LEAST_UNANSWERABLE)} needed"]


REQUIREMENTS: tuple[Requirement, ...] = (
    case_count(minimum=60, target=100, ideal=200),
    Requirement(
        "unanswerable_share",
        "At least a quarter of the questions, but not all, are unanswerable.",
        _unanswerable_share,
    ),
    every_value(
        "evidence",
        ("one passage", "several passages"),
        "Questions that rest on one passage, and some that rest on several.",
        minimum=LEAST_SEVERAL,
    ),
)
