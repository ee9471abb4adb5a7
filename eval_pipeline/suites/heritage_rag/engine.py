"""The embedded engine: the retriever of heritage_retrieval, then the answerer of heritage_qa."""

import msgspec

from eval_pipeline.suites.heritage_qa import engine as answering
from eval_pipeline.suites.heritage_qa.cases import QuestionInput
from eval_pipeline.suites.heritage_rag.cases import RagAnswer, RagInput
from eval_pipeline.suites.heritage_retrieval import engine as retrieving
from eval_pipeline.suites.heritage_retrieval.cases import RetrievalInput
from eval_pipeline.suites.heritage_retrieval.engine.corpus import Corpus

FEW = 3
"""Passages that are retrieved unless a prompt version says otherwise."""


def _few() -> retrieving.Parameters:
    return retrieving.Parameters(depth=FEW)


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version may choose: how passages are found, and how an answer is taken from them."""

    retrieval: retrieving.Parameters = msgspec.field(default_factory=_few)
    answer: answering.Parameters = msgspec.field(default_factory=answering.Parameters)


class Prepared(msgspec.Struct, frozen=True):
    """What a template renders: the question, and the passages that were retrieved for it, best first."""

    question: str
    language: str
    passages: list[retrieving.Candidate]
    retrieved_ids: list[str]
    """Their ids, which become part of every answer."""


def prepare(given: RagInput, parameters: Parameters, corpus: Corpus) -> Prepared:
    """Retrieve what a question needs."""
    asked = RetrievalInput(given.question, given.language)
    passages = retrieving.prepare(asked, parameters.retrieval, corpus).passages
    return Prepared(given.question, given.language, passages, [each.doc_id for each in passages])


def answer(prepared: Prepared, parameters: Parameters, corpus: Corpus) -> RagAnswer:
    """The sentences of what was retrieved that are nearest to the question, or a refusal."""
    context = [each.text for each in prepared.passages]
    asked = QuestionInput(prepared.question, context, prepared.language)
    return RagAnswer(answering.answer(asked, parameters.answer, None).answer)
