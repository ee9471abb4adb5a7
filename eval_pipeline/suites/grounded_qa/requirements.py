"""What a good golden set for grounded questions contains."""

from __future__ import annotations

from typing import Any

from eval_pipeline.suite import Overview, Requirement, case_count
from eval_pipeline.suites.grounded_qa.cases import GroundedCase

LEAST_UNANSWERABLE = 1 / 4
LEAST_SEVERAL = 5


def measure(case: GroundedCase) -> dict[str, Any]:
    """What the requirements look at."""
    expected = case.expected
    return {"citations": len(expected.citations), "claim_substrings": len(expected.claim_substrings)}


def _unanswerable_share(overview: Overview) -> list[str]:
    found = list(overview.attributes["answerability"])
    count = found.count("unanswerable")
    if LEAST_UNANSWERABLE <= count / len(found) < 1:
        return []
    return [f"{count} of {len(found)} questions are unanswerable, at least {LEAST_UNANSWERABLE:.0%} needed"]


def _several_citations(overview: Overview) -> list[str]:
    count = sum(number > 1 for number in overview.measures["citations"])
    if count >= LEAST_SEVERAL:
        return []
    return [f"{count} questions have several gold citations, at least {LEAST_SEVERAL} needed"]


def _any_claim_will_do(overview: Overview) -> list[str]:
    return [
        f"{case_id}: no gold substring, so any claim passes"
        for case_id, answerable, substrings in zip(
            overview.case_ids,
            overview.attributes["answerability"],
            overview.measures["claim_substrings"],
            strict=True,
        )
        if answerable == "answerable" and not substrings
    ]


REQUIREMENTS: tuple[Requirement, ...] = (
    case_count(minimum=60, target=100, ideal=200),
    Requirement(
        "unanswerable_share",
        "At least a quarter of the questions, but not all, are unanswerable.",
        _unanswerable_share,
    ),
    Requirement(
        "several_citations",
        f"At least {LEAST_SEVERAL} questions need more than one passage.",
        _several_citations,
    ),
    Requirement(
        "claims_stated", "Every answerable question says what a right claim holds.", _any_claim_will_do
    ),
)
