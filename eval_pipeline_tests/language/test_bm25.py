"""BM25 against its formula written out, and the promises that callers rely on."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.language.bm25 import Bm25, word_terms

WORDS = st.lists(st.sampled_from(["cat", "dog", "sat", "mat", "Straße", "été"]), max_size=8).map(" ".join)


def plain_score(texts: list[str], query: str, index: int, k1: float, b: float) -> float:
    """The formula, word by word."""
    split = [word_terms(text) for text in texts]
    average = sum(map(len, split)) / len(split)
    total = 0.0
    for word in word_terms(query):
        tf = split[index].count(word)
        if tf:
            having = sum(word in text for text in split)
            idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
            total += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(split[index]) / average))
    return total


@given(st.lists(WORDS, min_size=1, max_size=12), WORDS, st.integers(1, 15))
def test_equals_the_formula(texts: list[str], query: str, k: int) -> None:
    expected = [plain_score(texts, query, index, 1.2, 0.75) for index in range(len(texts))]
    index = Bm25(texts)
    assert index.scores(query).tolist() == pytest.approx(expected)
    found = index.search(query, k)
    assert len(found) == min(k, sum(score > 0 for score in expected))
    assert [score for _, score in found] == pytest.approx(sorted(expected, reverse=True)[: len(found)])


@given(st.lists(WORDS, min_size=1, max_size=12), st.integers(1, 6))
def test_ties_go_by_index_and_more_results_only_add(texts: list[str], k: int) -> None:
    index = Bm25(texts)
    every = index.search("cat dog mat", len(texts))
    assert every == sorted(every, key=lambda each: (-each[1], each[0]))
    assert index.search("cat dog mat", k) == every[:k]


def test_words_are_compared_normalized() -> None:
    index = Bm25(["STRASSE und Weg", "Weg", "caf\u00e9"])
    assert [number for number, _ in index.search("straße", 5)] == [0]
    assert [number for number, _ in index.search("cafe\u0301", 5)] == [2]


@pytest.mark.parametrize("texts", [[], [""], ["", "…"]])
def test_nothing_to_find(texts: list[str]) -> None:
    index = Bm25(texts)
    assert len(index) == len(texts)
    assert index.search("cat", 3) == []


def test_no_results_asked_for() -> None:
    assert Bm25(["cat"]).search("cat", 0) == []
    assert Bm25(["cat"]).search("", 3) == []


def test_parameters_matter() -> None:
    texts = ["cat cat cat cat", "cat and a mat"]
    assert Bm25(texts, k1=0.0).scores("cat").tolist() == pytest.approx([math.log(1.2)] * 2)
    assert Bm25(texts, b=0.0).search("cat", 1)[0][0] == 0


def test_rare_terms_tell_more_and_unknown_ones_most() -> None:
    index = Bm25(["cat dog", "cat", "cat mat"])
    assert 0 < index.idf("cat") < index.idf("dog") == index.idf("mat") < index.idf("zebra")


def test_terms_can_be_replaced() -> None:
    index = Bm25(["abc", "xyz"], terms=list)
    assert [number for number, _ in index.search("z", 2)] == [1]
