"""Retrieval feeds the answer, and endpoints get what was retrieved."""

from eval_pipeline.files import Located
from eval_pipeline.suites.heritage_qa import engine as answering
from eval_pipeline.suites.heritage_rag.cases import RagInput
from eval_pipeline.suites.heritage_rag.engine import Parameters, answer, prepare
from eval_pipeline.suites.heritage_retrieval import engine as retrieving
from eval_pipeline.suites.heritage_retrieval.engine.corpus import Corpus, Passage

TEXTS = {
    "mill": "Corn Lane Museum in Oldby was founded in 1800. It owns 4,000 maps.",
    "books": "Mill Street Library opened on 3 May 1950. It lends books.",
    "deeds": "The archive of Oldby keeps deeds.",
}
CORPUS = Corpus([Located(Passage(name, "en", "web", text), 1) for name, text in TEXTS.items()])
ASKED = RagInput("How many maps does Corn Lane Museum own?", "en")


def parameters(depth: int) -> Parameters:
    return Parameters(retrieving.Parameters(depth=depth), answering.Parameters(system="bm25", focus=True))


def test_the_answer_is_taken_from_what_was_retrieved() -> None:
    prepared = prepare(ASKED, parameters(1), CORPUS)
    assert prepared.retrieved_ids == ["mill"]
    assert [each.text for each in prepared.passages] == [TEXTS["mill"]]
    assert answer(prepared, parameters(1), CORPUS).answer == "It owns 4,000 maps."


def test_without_a_passage_it_refuses() -> None:
    prepared = prepare(RagInput("Zebra?", "en"), parameters(3), CORPUS)
    assert prepared.retrieved_ids == []
    assert answer(prepared, parameters(3), CORPUS).answer == "The sources do not say."
