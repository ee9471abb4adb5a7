"""The golden set that is made of two others: what can be asked of a whole corpus; nothing moves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suites.heritage_rag import SUITE
from eval_pipeline.suites.heritage_rag.building import CASES_FILE, build

PASSAGES = "resources/passages.jsonl"
MILL = "Corn Lane Museum in Oldby was founded in 1800. It owns 4,000 maps."
BOOKS = "Mill Street Library opened on 3 May 1950."
FILLER = [f"The archive of village {number} keeps deeds." for number in range(40)]
QUESTION: dict[str, Any] = {
    "id": "qa-en-1",
    "question": "When was Corn Lane Museum in Oldby founded?",
    "context": [BOOKS, MILL],
    "gold_answer": "Corn Lane Museum was founded in 1800.",
    "supporting_facts": ["Corn Lane Museum in Oldby was founded in 1800."],
    "answer_type": "temporal",
    "language": "en",
    "split": "dev",
    "hard": "former_name",
}
REFUSED = {
    **QUESTION,
    "id": "qa-en-2",
    "question": "What does a ticket for Corn Lane Museum in Oldby cost?",
    "gold_answer": "The sources do not say.",
    "supporting_facts": [],
    "answerable": False,
}


def built(
    folder: Path, *questions: dict[str, Any], others: list[str] = FILLER
) -> tuple[list[Any], list[Any]]:
    cases = folder / "heritage_qa" / "cases"
    resources = folder / "heritage_retrieval" / "resources"
    for each in (cases, resources):
        each.mkdir(parents=True)
    (cases / "all.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in questions))
    passages = [
        {"doc_id": f"p{number}", "language": "en", "source": "web", "text": text}
        for number, text in enumerate(others)
    ]
    (resources / "passages.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in passages))
    files = build(folder)
    read = {name: [json.loads(line) for line in text.splitlines()] for name, text in files.items()}
    return read[CASES_FILE], read[PASSAGES]


def test_questions_and_passages_of_two_sets_become_one(tmp_path: Path) -> None:
    (first, second), passages = built(tmp_path, QUESTION, REFUSED, others=[*FILLER, BOOKS])
    texts = {each["doc_id"]: each["text"] for each in passages}
    assert sorted(texts.values()) == sorted([MILL, BOOKS, *FILLER])
    assert [[texts[each] for each in holders] for holders in first["supporting_passages"]] == [[MILL]]
    assert (first["id"], first["split"], first["hard"]) == ("rag-en-1", "dev", "former_name")
    assert second["supporting_passages"] == []
    assert not second["answerable"]


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ({**QUESTION, "question": "When was it founded?"}, FILLER),  # nobody knows which
        ({**QUESTION, "supporting_facts": ["Aldgate Museum was founded in 1802."]}, FILLER),  # nowhere
        (REFUSED, [*FILLER, "Tickets for Corn Lane Museum cost five crowns."]),  # there is an answer
        ({**REFUSED, "question": "What does a ticket cost?"}, FILLER),
    ],
)
def test_what_cannot_be_asked_of_a_whole_corpus_is_left_out(
    question: dict[str, Any], others: list[str], tmp_path: Path
) -> None:
    cases, passages = built(tmp_path, question, others=others)
    assert cases == []
    assert len(passages) == len(others) + 2


def test_more_questions_move_no_id(tmp_path: Path) -> None:
    more = {**QUESTION, "id": "qa-en-0", "context": ["Aldgate Museum in Oldby has a clock.", MILL]}
    alone, _ = built(tmp_path / "one", QUESTION)
    both, _ = built(tmp_path / "two", more, QUESTION)
    assert alone[0] in both


@pytest.mark.slow
def test_the_shipped_golden_set_is_made_of_the_shipped_ones() -> None:
    """After a change of either: python -m eval_pipeline.suites.heritage_rag.building golden."""
    golden = Project.find().golden("heritage_rag")
    for place, text in build(golden.parent).items():
        assert (golden / place).read_text() == text, place


def test_every_passage_that_a_case_names_is_in_the_corpus() -> None:
    folder = Project.find().golden("heritage_rag")
    corpus = SUITE.resources(folder / "resources").passages  # type: ignore[misc]
    problems = Problems()
    cases = [each.case for each in read_cases(SUITE, folder, problems)]
    assert not problems
    assert all(each in corpus for case in cases for holders in case.expected.passages for each in holders)
