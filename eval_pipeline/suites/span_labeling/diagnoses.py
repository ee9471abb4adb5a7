"""What the diagnoses of span labels mean to somebody who investigates a failure."""

from collections.abc import Sequence

from eval_pipeline.suite import DiagnosisVocabulary, Kind, Wanted
from eval_pipeline.suites.span_labeling.cases import SpanCase
from eval_pipeline.suites.span_labeling.scoring import LONGEST_TOLD

_SPANS = "Say how long a span is: the words that can be exchanged together."


def wanted(case: SpanCase) -> Sequence[Wanted]:
    """The expected spans, at their offsets."""
    return [
        Wanted(f"{each.text[:LONGEST_TOLD]} [{each.category}]", (each.text,), each.start, each.category)
        for each in case.expected.spans
    ]


VOCABULARY = DiagnosisVocabulary(
    {
        "missed": Kind("missed", "spans that were missed", "Ask to go through the prompt from start to end."),
        "wrong_category": Kind(
            "mislabelled",
            "spans of the wrong category",
            "Define the categories that are confused against each other.",
        ),
        "fragmented": Kind("form", "spans taken to pieces", _SPANS, brings=("over_extracted",)),
        "over_extracted": Kind("invented", "spans that nobody expects", "Say which words carry no label."),
        "misaligned": Kind(
            "form", "spans that do not stand at their offsets", "Ask for text, not for offsets."
        ),
    },
    wanted,
    lambda given: str(given.prompt),
)
