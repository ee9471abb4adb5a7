"""What answers show without golden ones: sentences that a retrieved passage supports; nothing found twice."""

from collections.abc import Callable
from dataclasses import replace

from eval_pipeline.suite.production import (
    HALLUCINATION,
    PROVENANCE,
    Measure,
    ProductionMeasures,
    Served,
    Share,
    share_of,
)
from eval_pipeline.suites.heritage_qa import production as answering
from eval_pipeline.suites.heritage_qa.cases import QuestionInput
from eval_pipeline.suites.heritage_qa.lexicon import is_refusal
from eval_pipeline.suites.heritage_qa.scoring import Answered
from eval_pipeline.suites.heritage_rag.cases import RagInput


def over_retrieved(measure: Callable[[Served], Share | None]) -> Callable[[Served], Share | None]:
    """A measure of heritage_qa with what was retrieved as the context; unknown where its texts are not."""

    def measured(served: Served) -> Share | None:
        given: RagInput = served.input or RagInput("")
        passages = [each.text for each in served.retrieved if each.text]
        if not passages:
            return None
        asked = QuestionInput(given.question, passages, given.language or "en")
        return measure(replace(served, input=asked, output=Answered(served.output.answer)))

    return measured


def distinct(served: Served) -> Share | None:
    """Passages that were retrieved once ÷ entries of what was retrieved."""
    ids = served.output.retrieved_ids or []
    return share_of(ids.count(each) == 1 for each in ids)


MEASURES = ProductionMeasures(
    measures=(
        Measure(
            PROVENANCE,
            "Sentences of an answer that a retrieved passage supports: the mean share.",
            over_retrieved(answering.supported),
        ),
        Measure(
            HALLUCINATION,
            "Sentences of an answer that no retrieved passage supports: the mean share.",
            over_retrieved(answering.unsupported),
            better="lower",
        ),
        Measure(
            "word_order",
            "Neighbouring words that stand so in what was retrieved: the mean share.",
            over_retrieved(answering.in_order),
        ),
        Measure("distinct_results", "Passages that were retrieved once ÷ entries.", distinct),
    ),
    words=(1, 400),
    items=lambda output: len(output.retrieved_ids or ()),
    most_items=50,
    refuses=lambda output: is_refusal(output.answer),
)
