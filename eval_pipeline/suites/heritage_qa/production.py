"""What answers show without golden ones: sentences that a passage of their context supports."""

from eval_pipeline.suite import Case
from eval_pipeline.suite.production import (
    HALLUCINATION,
    PROVENANCE,
    Measure,
    ProductionMeasures,
    Served,
    Share,
)
from eval_pipeline.suites.heritage_qa.cases import QuestionExpected, QuestionInput
from eval_pipeline.suites.heritage_qa.lexicon import is_refusal
from eval_pipeline.suites.heritage_qa.scoring import Answered, judge


def supported(served: Served) -> Share | None:
    """Sentences that one passage supports ÷ sentences; a refusal has none."""
    output: Answered = served.output
    if is_refusal(output.answer):
        return None
    given: QuestionInput | None = served.input
    passages = [each.text for each in served.retrieved if each.text]
    context = output.context or passages or (given.context if given else [served.source])
    question = given.question if given else ""
    asked = QuestionInput(question, context, given.language if given else "en")
    judged = judge(Case("", asked, QuestionExpected("", [], answerable=True)), Answered(output.answer))
    return Share(judged.faithfulness or 0.0)


def unsupported(served: Served) -> Share | None:
    """The others."""
    share = supported(served)
    return None if share is None else Share(share.whole - share.part, share.whole)


MEASURES = ProductionMeasures(
    measures=(
        Measure(PROVENANCE, "Sentences of an answer that a passage supports: the mean share.", supported),
        Measure(
            HALLUCINATION,
            "Sentences of an answer that no passage supports: the mean share.",
            unsupported,
            better="lower",
        ),
    ),
    words=(1, 400),
    refuses=lambda output: is_refusal(output.answer),
)
