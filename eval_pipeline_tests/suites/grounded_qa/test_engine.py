"""The embedded engine and the corpus: what is retrieved, when it answers, and the golden data itself."""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.metrics.text import normalize
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.suites.grounded_qa import SUITE
from eval_pipeline.suites.grounded_qa.advice import advise
from eval_pipeline.suites.grounded_qa.cases import GroundedInput
from eval_pipeline.suites.grounded_qa.corpus import (
    Corpus,
    Parameters,
    Passage,
    load_corpus,
    prepare,
    sentences,
)
from eval_pipeline.suites.grounded_qa.engine import answer
from eval_pipeline.suites.grounded_qa.scoring import REFUSAL

GOLDEN = Project.find().golden("grounded_qa")
ENTRIES = [json.loads(line) for line in (GOLDEN / "cases" / "gold.jsonl").read_text().splitlines()]
CORPUS = load_corpus(GOLDEN / "resources")

SMALL = Corpus(
    [
        Passage("tea#1", "Tea", "Green tea steeps for two minutes. Black tea is stronger."),
        Passage("tea#2", "Tea prices", "A tin of green tea costs 7 euros. Shipping is extra."),
        Passage("cup#1", "Cups", "Cups hold 250 millilitres. They break."),
        Passage("gift#1", "Gifts", "Wrapping costs 3 euros and is there for a teapot and for cups."),
        Passage("shop#1", "The shop", "The shop opened in May 2019. Its telephone number is 030 555 01 99."),
    ]
)


def ask(question: str, corpus: Corpus = SMALL, **parameters: object) -> tuple[str, list[str] | None]:
    chosen = Parameters(**parameters)  # type: ignore[arg-type]
    found = answer(prepare(GroundedInput(question), chosen, corpus), chosen, corpus)
    return found.claim, found.citations


def test_each_part_of_a_question_gets_a_sentence() -> None:
    question = "What does green tea cost, and how long does green tea steep?"
    both = "A tin of green tea costs 7 euros. Green tea steeps for two minutes."
    assert ask(question, parts=True) == (both, ["tea#2", "tea#1"])
    assert ask(question, parts=True, citations="all")[0] == both
    assert ask(question) == (REFUSAL, [])
    assert ask("Who invented the samovar and what does it cost?", parts=True) == (REFUSAL, [])


@pytest.mark.parametrize(
    ("question", "claim", "citations"),
    [
        ("How long does green tea steep?", "Green tea steeps for two minutes.", ["tea#1"]),
        ("What does green tea cost?", "A tin of green tea costs 7 euros.", ["tea#2"]),
        ("How many millilitres does a cup hold?", "Cups hold 250 millilitres.", ["cup#1"]),
        ("How many cups are there?", REFUSAL, []),
        ("Who invented the samovar?", REFUSAL, []),
        ("What does the teapot cost?", REFUSAL, []),
        (
            "What does the wrapping cost?",
            "Wrapping costs 3 euros and is there for a teapot and for cups.",
            ["gift#1"],
        ),
        ("When was the shop opened?", "The shop opened in May 2019.", ["shop#1"]),
        ("When did cups break?", REFUSAL, []),
        ("What is the telephone number of the shop?", "Its telephone number is 030 555 01 99.", ["shop#1"]),
        ("What is the e-mail address of the shop?", REFUSAL, []),
        ("How long does the oolong steep for green tea?", REFUSAL, []),
        ("", REFUSAL, []),
    ],
)
def test_answers_or_refuses(question: str, claim: str, citations: list[str]) -> None:
    assert ask(question) == (claim, citations)


def test_parameters_matter() -> None:
    question = "How long does green tea steep?"
    assert ask(question, threshold=1.0)[0] != ask("Does black tea break?", threshold=0.0)[0]
    assert len(ask(question, citations="all")[1] or ()) == 2
    assert ask("How many teas are green?", answer_types=False, threshold=0.1)[0] != REFUSAL
    assert ask("How long does the oolong steep for green tea?", subjects=False)[0] != REFUSAL
    assert len(prepare(GroundedInput("green tea cups"), Parameters(k=1), SMALL).passages) == 1
    assert prepare(GroundedInput("steeping"), Parameters(stems=False), SMALL).passages == []


def test_without_a_corpus_nothing_is_retrieved() -> None:
    assert prepare(GroundedInput("tea?"), Parameters(), None).retrieved_ids == []


def test_sentences_end_where_another_begins() -> None:
    assert sentences("It costs 4.95 euros. Version 2.0 came later! 7 did too.") == [
        "It costs 4.95 euros.",
        "Version 2.0 came later!",
        "7 did too.",
    ]


@given(st.text(max_size=200))
def test_any_question_gets_an_answer_that_is_grounded(question: str) -> None:
    parameters = Parameters(threshold=0.2)
    prepared = prepare(GroundedInput(question), parameters, SMALL)
    found = answer(prepared, parameters, SMALL)
    assert set(found.citations or ()) <= set(prepared.retrieved_ids)
    assert found.claim == REFUSAL or any(found.claim in passage.text for passage in prepared.passages)


def test_it_answers_every_golden_case_and_repeats_itself() -> None:
    first, again = ([ask(entry["question"], CORPUS) for entry in ENTRIES] for _ in range(2))
    assert first == again
    refused = sum(claim == REFUSAL for claim, _ in first)
    assert 0 < refused < len(ENTRIES)


def test_the_corpus_is_named_where_it_is_wrong(tmp_path: Path) -> None:
    lines = ['{"id": "a", "title": "", "text": "x"}', '{"id": "a", "title": "", "text": " "}', '{"id": "a"}']
    (tmp_path / "passages.jsonl").write_text("\n".join([lines[0], *lines]))
    with pytest.raises(BadInput) as caught:
        load_corpus(tmp_path)
    assert [(each.line, each.field) for each in caught.value.problems] == [
        (2, "id"),
        (3, "text"),
        (4, "text"),
        (4, "title"),
    ]


def test_the_golden_set_is_large_and_varied() -> None:
    kinds = Counter(entry["answerable"] for entry in ENTRIES)
    assert len(ENTRIES) >= 60
    assert kinds[False] / len(ENTRIES) >= 1 / 3
    assert sum(len(entry["gold_citations"]) > 1 for entry in ENTRIES) >= 5
    assert len(CORPUS.passages) >= 120


def test_golden_citations_exist_and_hold_the_expected_words() -> None:
    texts = {passage.id: normalize(passage.text) for passage in CORPUS.passages}
    for entry in ENTRIES:
        assert bool(entry["gold_citations"]) == entry["answerable"], entry["qid"]
        for citation in entry["gold_citations"]:
            listed = [entry.get("gold_claim_substr", []), *entry.get("all_of", [])]
            parts = map(normalize, chain.from_iterable(listed))
            assert any(part in texts[citation] for part in parts), (entry["qid"], citation)


def test_questions_and_passages_are_all_different() -> None:
    assert len({normalize(entry["question"]) for entry in ENTRIES}) == len(ENTRIES)
    assert len({normalize(passage.text) for passage in CORPUS.passages}) == len(CORPUS.passages)


@pytest.mark.parametrize(
    ("bad", "metric", "told"),
    [
        ({"precision", "chr"}, "precision", "grounding is broken"),
        ({"precision"}, "precision", "tighten what a claim must state"),
        ({"chr"}, "chr", "wrong evidence"),
        ({"under_refusal"}, "under_refusal", "strengthen the refusal rule"),
        ({"over_refusal", "recall@k"}, "over_refusal", "let retrieval find the evidence"),
        ({"over_refusal"}, "over_refusal", "relax the refusal rule"),
        ({"recall@k"}, "recall@k", "index holds the corpus"),
    ],
)
def test_advice_depends_on_what_fails_together(bad: set[str], metric: str, told: str) -> None:
    gates = ("precision", "chr", "under_refusal", "over_refusal", "recall@k")
    assert told in advise({name: "fail" if name in bad else "pass" for name in gates})[metric]


def test_every_metric_that_has_advice_exists() -> None:
    assert set(advise({})) <= {metric.name for metric in SUITE.metrics}
