"""The golden answers of review, and what else it is probed with."""

from eval_pipeline.metrics.text import word_count
from eval_pipeline.suite import Context, Probing
from eval_pipeline.suites.review.cases import CATEGORIES, ReviewCase
from eval_pipeline.suites.review.findings import MOST_FINDINGS, Depth, Finding, Findings, Spent

CONCERN, METHOD = "A1", "reading"
DEPTH: Depth = "ROOT_CAUSE"


def _findings(case: ReviewCase, findings: list[Finding]) -> Findings:
    """Findings that cost one reading of the document."""
    return Findings(findings, {CONCERN: [METHOD]}, Spent(word_count(case.input.document)))


def golden_answer(case: ReviewCase) -> Findings:
    """Every expected error where it shows, as its root cause."""
    return _findings(
        case,
        [
            Finding(each.id, CONCERN, METHOD, each.category, DEPTH, each.text, each.quote, each.location)
            for each in case.expected.errors
        ],
    )


def everything(case: ReviewCase, context: Context) -> Findings:
    """Every line of the document, in every category."""
    lines = [(number, line) for number, line in enumerate(case.input.document.split("\n"), 1) if line.strip()]
    findings = [
        Finding(f"{number} {category}", CONCERN, METHOD, category, DEPTH, line, line, str(number))  # type: ignore[arg-type]
        for number, line in lines
        for category in CATEGORIES
    ]
    return _findings(case, findings[:MOST_FINDINGS])


PROBING = Probing(
    golden_answer,
    own={"everything": everything},
    left_out=dict.fromkeys(
        ("negated", "shuffled"),
        "findings are matched by quote, location and category; people read their text",
    ),
    oracle_fails={"discovery_rate": "The golden answers are the expected errors and nothing beyond them."},
)
