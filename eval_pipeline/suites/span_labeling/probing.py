"""The golden answers of span_labeling."""

from eval_pipeline.suite import Probing
from eval_pipeline.suites.span_labeling.cases import SpanCase
from eval_pipeline.suites.span_labeling.scoring import Labels


def golden_answer(case: SpanCase) -> Labels:
    """Every span that an expert marked."""
    return Labels(case.expected.spans)


PROBING = Probing(golden_answer)
