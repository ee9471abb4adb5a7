"""What people say of answers in production, as a table."""

from eval_pipeline.improvement import Satisfaction
from eval_pipeline.numbers import number
from eval_pipeline.reports.rows import Table


def rating_table(result: Satisfaction) -> Table:
    """Raters, users, and how far they agree."""
    span = f"{number(result.low)} to {number(result.high)}" if result.low is not None else ""
    rows = [
        ("answers rated", f"{result.rated:,}", ""),
        ("acceptable", f"{result.acceptable:,}", number(result.share)),
        ("unacceptable", f"{result.unacceptable:,}", ""),
        ("raters disagree", f"{result.disagreements:,}", "counts as not acceptable"),
        ("human-rated accuracy", number(result.accuracy), span),
        ("raters agree (κ)", number(result.kappa, "number"), f"{result.pairs:,} pairs"),
        ("feedback score", number(result.feedback, "number"), f"{result.feedback_count:,} of 1 to 5 points"),
        (
            "raters and users agree (κ)",
            number(result.with_users, "number"),
            f"{result.with_users_pairs:,} pairs",
        ),
    ]
    note = "" if result.effective >= 30 else "Below 30 effective answers there is no verdict on accuracy."
    return Table(("what", "value", ""), rows, f"What people say of {result.suite}", note)
