"""Where a question over a corpus goes wrong: every failed case has one cause, and no cheat passes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from eval_pipeline.files import Located
from eval_pipeline.golden import GoldenCase, read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.scoring import context_for, score_cases
from eval_pipeline.suite import Context, defined
from eval_pipeline.suites.heritage_qa.lexicon import REFUSALS
from eval_pipeline.suites.heritage_rag import SUITE
from eval_pipeline.suites.heritage_rag.cases import GoldenEntry, to_case
from eval_pipeline.suites.heritage_rag.probing import golden_answer
from eval_pipeline.suites.heritage_rag.scoring import MOST_PASSAGES, OUTCOMES
from eval_pipeline.suites.heritage_retrieval.engine.corpus import Corpus, Passage
from eval_pipeline_tests.sources import Recorded, golden, values

TEXTS = {
    "mill": "Corn Lane Museum in Oldby was founded in 1800. It owns 4,000 maps and a mill.",
    "maps": "Of the 4,000 maps of Corn Lane Museum, 300 show the coast.",
    "books": "Mill Street Library opened on 3 May 1950. The library lends books to schools.",
    **{f"far{number}": f"The archive of village {number} keeps deeds." for number in range(MOST_PASSAGES)},
}
CORPUS = Corpus([Located(Passage(name, "en", "web", text), 1) for name, text in TEXTS.items()])
ENTRY: dict[str, Any] = {
    "id": "one",
    "question": "When was Corn Lane Museum founded?",
    "gold_answer": "Corn Lane Museum was founded in 1800.",
    "supporting_facts": ["Corn Lane Museum in Oldby was founded in 1800."],
    "supporting_passages": [["mill"]],
    "answer_type": "temporal",
    "language": "en",
}
RIGHT = ENTRY["gold_answer"]
OF_EMBEDDINGS = ("relevance",)
"""A golden answer is as near to its question as it is."""


def case(**changes: Any) -> GoldenCase:
    return golden(to_case(msgspec.convert({**ENTRY, **changes}, GoldenEntry)))


CASE = case()
COMPARED = case(
    question="Which is older, Corn Lane Museum or Mill Street Library?",
    gold_answer="Corn Lane Museum is older: it was founded in 1800, the library opened on 3 May 1950.",
    supporting_facts=[*ENTRY["supporting_facts"], "Mill Street Library opened on 3 May 1950."],
    supporting_passages=[["mill"], ["books"]],
)
COMPUTED = case(
    question="How much older is Corn Lane Museum than Mill Street Library?",
    gold_answer="Corn Lane Museum is 150 years older than Mill Street Library.",
    supporting_facts=COMPARED.case.expected.facts,
    supporting_passages=[["mill", "maps"], ["books"]],
)
UNANSWERABLE = case(
    question="What does a ticket for Corn Lane Museum cost?",
    gold_answer=REFUSALS["en"],
    supporting_facts=[],
    supporting_passages=[],
    answerable=False,
)


def scored(answer: str, ids: list[str] | None, entry: GoldenCase = CASE) -> dict[str, float | None]:
    output = {"answer": answer, "retrieved_ids": ids}
    return values(SUITE, [entry], {entry.case.id: output}, Context(resources=CORPUS))


def outcome(found: dict[str, float | None]) -> str:
    """The one outcome of a single case; its shares and the rate of passing cases add up to 1."""
    shares = {name: found[name] for name in OUTCOMES[1:]}
    (only,) = [name for name, share in {"passed": found["case_pass_rate"], **shares}.items() if share]
    assert sum(share or 0.0 for share in shares.values()) + (found["case_pass_rate"] or 0.0) == 1
    return only


@pytest.mark.parametrize(
    ("answer", "ids", "expected"),
    [
        (RIGHT, ["mill"], "passed"),
        (RIGHT, ["books", "mill"], "passed"),
        # What was not retrieved was not there to answer from.
        ("Mill Street Library opened on 3 May 1950.", ["books"], "retrieval_missed"),
        (REFUSALS["en"], ["books"], "retrieval_missed"),
        (REFUSALS["en"], [], "retrieval_missed"),
        # It was there.
        (REFUSALS["en"], ["mill"], "answer_ignored"),
        ("Corn Lane Museum was founded in 1801.", ["mill"], "answer_ignored"),
        ("Mill Street Library opened on 3 May 1950.", ["books", "mill"], "answer_ignored"),
        ("", ["mill"], "answer_ignored"),
        ("1800 in founded was Museum Lane Corn.", ["mill"], "answer_ignored"),
        # Neither was it there, nor does the answer rest on what was: a right guess is made up, too.
        ("Corn Lane Museum was founded in 1801.", ["books"], "both_failed"),
        (RIGHT, ["books"], "both_failed"),
        (RIGHT, ["no such passage"], "both_failed"),
        (RIGHT, None, "both_failed"),
        ("", [], "both_failed"),
        # The right passage, and another of its sentences.
        ("It owns 4,000 maps and a mill.", ["mill", "books"], "neither_failed"),
    ],
)
def test_every_failure_has_one_cause(answer: str, ids: list[str] | None, expected: str) -> None:
    assert outcome(scored(answer, ids)) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(REFUSALS["en"], "passed"), ("A ticket for Corn Lane Museum costs 4,000.", "answer_ignored")],
)
def test_what_has_no_answer_is_to_be_refused_whatever_was_retrieved(answer: str, expected: str) -> None:
    found = scored(answer, ["mill"], UNANSWERABLE)
    assert outcome(found) == expected
    assert found["recall@5"] is found["mrr"] is found["context_precision"] is None


@pytest.mark.parametrize(
    ("ids", "recall", "precision", "rank"),
    [
        (["mill", "books"], 1.0, 1.0, 1.0),
        (["mill", "mill", "mill"], 0.5, 1.0, 1.0),
        (["maps", "books"], 0.5, 0.5, 0.5),
        (["maps"], 0.0, 0.0, 0.0),
        ([], 0.0, 0.0, 0.0),
        # Who retrieves everything finds nothing: ten passages count.
        ([*(f"far{number}" for number in range(MOST_PASSAGES)), "mill", "books"], 0.0, 0.0, 0.0),
    ],
)
def test_retrieval_is_measured_by_facts(ids: list[str], recall: float, precision: float, rank: float) -> None:
    found = scored(RIGHT, ids, COMPARED)
    assert (found["recall@10"], found["context_precision"], found["mrr"]) == (recall, precision, rank)


def test_one_of_the_passages_that_hold_a_fact_is_enough() -> None:
    either = case(supporting_passages=[["mill", "maps"]])
    assert scored(RIGHT, ["maps"], either)["recall@5"] == 1.0


def test_an_answer_counts_by_what_the_corpus_says_and_not_by_what_it_says_was_retrieved() -> None:
    assert scored(RIGHT, ["mill"])["faithfulness"] == 1.0
    assert scored(RIGHT, [RIGHT])["faithfulness"] == 0.0


def test_a_case_without_an_output_failed_in_both() -> None:
    found = values(SUITE, [CASE], {}, Context(resources=CORPUS))
    assert outcome(found) == "both_failed"
    assert found["recall@5"] == found["factual_accuracy"] == 0.0


@pytest.mark.slow
def test_every_golden_answer_scores_perfectly() -> None:
    """Faithful, right, and from nothing but the passages that hold its facts."""
    folder = Project.find().golden("heritage_rag")
    cases = list(read_cases(SUITE, folder, Problems()))
    answers = {each.case.id: golden_answer(each.case) for each in cases}
    scores = score_cases(SUITE, cases, Recorded(answers), context_for(SUITE, folder))
    means = [metric.name for metric in SUITE.metrics if metric.name not in OF_EMBEDDINGS + OUTCOMES]
    for row in scores.counts.to_pylist():
        assert row["passed"] == row["factual_accuracy"] == 1.0, row["case_id"]
        assert all(row[name] == row[defined(name)] for name in means), row["case_id"]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["mill", "books"], "passed"),
        (["books", "far1", "maps"], "passed"),
        (["mill"], "both_failed"),
        (["books"], "both_failed"),
        ([*(f"far{number}" for number in range(MOST_PASSAGES)), "mill", "books"], "both_failed"),
    ],
)
def test_an_inference_needs_the_passages_that_it_was_drawn_from(ids: list[str], expected: str) -> None:
    found = scored(COMPUTED.case.expected.answer, ids, COMPUTED)
    assert outcome(found) == expected
    assert found["faithfulness"] == float(expected == "passed")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "How much older is Corn Lane Museum than Mill Street Library?",
        "Mill Street Library is 150 years older than Corn Lane Museum.",
        "Corn Lane Museum is 1800 years older than Mill Street Library.",
        "It is not true that Corn Lane Museum is 150 years older than Mill Street Library.",
        "Corn Lane Museum is 150 years younger than Corn Lane Museum.",
        "older 150 Corn than years Museum Lane is Library Street Mill.",
    ],
)
def test_nothing_else_is_inferred(answer: str) -> None:
    assert scored(answer, ["mill", "books"], COMPUTED)["faithfulness"] == 0.0
