"""The golden answers of heritage_rag, and what else it is probed with: in the language of the question."""

from eval_pipeline.suite import Context, Probing
from eval_pipeline.suites.heritage_qa import probing as answering
from eval_pipeline.suites.heritage_rag.cases import RagAnswer, RagCase, as_question
from eval_pipeline.suites.heritage_rag.engine import Parameters, prepare

PADDING = "p0"
"""Passages that no corpus has."""


def golden_answer(case: RagCase) -> RagAnswer:
    """The golden answer, from one passage for each fact."""
    return RagAnswer(case.expected.answer, _golden_passages(case))


def _golden_passages(case: RagCase) -> list[str]:
    return list(dict.fromkeys(holders[0] for holders in case.expected.passages))


def refuse(case: RagCase, context: Context) -> RagAnswer:
    """The refusal of the question's language, though its passages were found."""
    return RagAnswer(answering.refuse(as_question(case, []), context).answer, _golden_passages(case))


def everything(case: RagCase, context: Context) -> RagAnswer:
    """The whole corpus retrieved, and all that retrieval finds in one answer."""
    found = prepare(case.input, Parameters(), context.resources).passages
    return RagAnswer("\n".join(each.text for each in found), [*context.resources.passages])


def negate(case: RagCase, context: Context) -> RagAnswer | None:
    """The golden answer, denied."""
    denied = answering.negate(as_question(case, []), context)
    return None if denied is None else RagAnswer(denied.answer, _golden_passages(case))


def unfounded(case: RagCase, context: Context) -> RagAnswer | None:
    """The golden answer, for which nothing was retrieved that exists."""
    return RagAnswer(case.expected.answer, [PADDING]) if case.expected.answerable else None


def padded(case: RagCase, context: Context) -> RagAnswer | None:
    """The golden answer with its passages at the end of more than anybody reads."""
    if not case.expected.answerable:
        return None
    filler = [each for each in context.resources.passages if each not in _golden_passages(case)]
    return RagAnswer(case.expected.answer, [*filler, *_golden_passages(case)])


PROBING = Probing(
    golden_answer,
    ranked=("retrieved_ids",),
    own={
        "refusal": refuse,
        "everything": everything,
        "negated": negate,
        "unfounded": unfounded,
        "padded": padded,
    },
)
