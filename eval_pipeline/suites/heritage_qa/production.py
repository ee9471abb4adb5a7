"""What answers show without golden ones: sentences that a passage of their context supports."""

from eval_pipeline.metrics.text import normalize
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
from eval_pipeline.suites.heritage_qa.scoring import Answered, Judgement, judge


def _judged(served: Served) -> Judgement | None:
    """What the suite's own scorer says of an answer and its context; nothing of a refusal."""
    output: Answered = served.output
    if is_refusal(output.answer):
        return None
    given: QuestionInput | None = served.input
    passages = [each.text for each in served.retrieved if each.text]
    context = output.context or passages or (given.context if given else [served.source])
    asked = QuestionInput(given.question if given else "", context, given.language if given else "en")
    case = Case("", asked, QuestionExpected("", [], answerable=True))
    return judge(case, Answered(output.answer), founded=False)


def supported(served: Served) -> Share | None:
    """Sentences that one passage supports ÷ sentences; a question that comes back is no answer."""
    judged = _judged(served)
    if judged is None:
        return None
    asked = normalize(served.input.question) if served.input else ""
    return Share(0.0 if normalize(served.output.answer) == asked else judged.faithfulness or 0.0)


def in_order(served: Served) -> Share | None:
    """Neighbouring words that stand side by side in question or context, too."""
    judged = _judged(served)
    return None if judged is None or judged.word_order is None else Share(judged.word_order)


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
        Measure("word_order", "Neighbouring words that stand so in the context: the mean share.", in_order),
    ),
    words=(1, 400),
    refuses=lambda output: is_refusal(output.answer),
)
