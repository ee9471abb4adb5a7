"""The golden answers of heritage_qa, and what else it is probed with: in the language of the question."""

from eval_pipeline.suite import Context, Probing
from eval_pipeline.suites.heritage_qa.cases import QuestionCase
from eval_pipeline.suites.heritage_qa.lexicon import REFUSALS
from eval_pipeline.suites.heritage_qa.scoring import Answered

DENIALS = {
    "nl": "Het is niet waar dat",
    "en": "It is not true that",
    "de": "Es ist nicht wahr, dass",
    "fr": "Il n'est pas vrai que",
}


def golden_answer(case: QuestionCase) -> Answered:
    """The golden answer as it stands."""
    return Answered(case.expected.answer)


def refuse(case: QuestionCase, context: Context) -> Answered:
    """The refusal of the question's language."""
    return Answered(REFUSALS.get(case.input.language, REFUSALS["en"]))


def everything(case: QuestionCase, context: Context) -> Answered:
    """All passages, one after the other."""
    return Answered("\n".join(case.input.context))


def negate(case: QuestionCase, context: Context) -> Answered | None:
    """The golden answer, denied."""
    if not case.expected.answerable:
        return None
    answer = case.expected.answer
    return Answered(f"{DENIALS.get(case.input.language, DENIALS['en'])} {answer[0].lower()}{answer[1:]}")


PROBING = Probing(golden_answer, own={"refusal": refuse, "everything": everything, "negated": negate})
