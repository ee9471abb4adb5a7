"""What the diagnoses of reviews mean to somebody who investigates a failure."""

from collections.abc import Sequence

from eval_pipeline.suite import Case, DiagnosisVocabulary, Kind, Wanted
from eval_pipeline.suites.review.cases import ReviewExpected, ReviewInput


def wanted(case: Case[ReviewInput, ReviewExpected]) -> Sequence[Wanted]:
    """The expected errors, by their quotes."""
    return [
        Wanted(
            f"{each.id} {each.severity} {each.category}: {each.text}",
            (each.quote,) if each.quote else (),
            label=each.category,
        )
        for each in case.expected.errors
    ]


VOCABULARY = DiagnosisVocabulary(
    {
        "missed": Kind(
            "missed", "errors that were missed", "Name the concern and a method that finds such errors."
        ),
        "partial": Kind(
            "mislabelled",
            "errors found in part",
            "Ask for the quote, the line and the category of each finding.",
        ),
        "false_positive": Kind(
            "invented", "findings that are no errors", "Ask for what is wrong by the document itself."
        ),
        "undecided": Kind("note", "findings that nobody has judged yet"),
        "duplicate": Kind("note", "findings of an error that was found already"),
    },
    wanted,
    lambda given: str(given.document),
)
