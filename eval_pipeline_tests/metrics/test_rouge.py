"""ROUGE against the rouge-score package, on hand-worked texts, and on text that is not ASCII."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.metrics.rouge import Rouge, rouge

NAMES = Rouge._fields
SAMPLE = ("the", "cat", "sat", "on", "a", "mat", "The", "CAT's", "x_y", "well-known", "1,800")
WORDS = st.lists(st.sampled_from(SAMPLE), max_size=12)
ASCII = st.text(st.characters(max_codepoint=127), max_size=40)
TEXTS = ASCII | WORDS.map(" ".join)


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("the cat sat", "the cat sat", (1, 1, 1)),
        ("the cat", "the dog", (0.5, 0, 0.5)),
        ("cat the", "the cat", (1, 0, 0.5)),
        ("the the the", "the", (0.5, 0, 0.5)),
        ("a b c d", "b d", (2 / 3, 0, 2 / 3)),
        ("A. B!", "a b", (1, 1, 1)),
        ("", "a b", (0, 0, 0)),
        ("…", "", (0, 0, 0)),
        ("one", "one", (1, 0, 1)),
    ],
)
def test_worked_by_hand(prediction: str, reference: str, expected: tuple[float, float, float]) -> None:
    assert [float(each[0]) for each in rouge([prediction], [reference])] == pytest.approx(expected)


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=6))
def test_ascii_texts_score_as_rouge_score_says(pairs: list[tuple[str, str]]) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(list(NAMES), use_stemmer=False)
    ours = rouge([first for first, _ in pairs], [second for _, second in pairs])
    for index, (prediction, reference) in enumerate(pairs):
        theirs = scorer.score(reference, prediction)
        for name in NAMES:
            assert getattr(ours, name)[index] == pytest.approx(theirs[name].fmeasure)


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), min_size=1, max_size=5))
def test_pairs_do_not_touch_each_other_and_stay_in_range(pairs: list[tuple[str, str]]) -> None:
    together = rouge([first for first, _ in pairs], [second for _, second in pairs])
    alone = [rouge([first], [second]) for first, second in pairs]
    for name in NAMES:
        values = getattr(together, name)
        assert ((values >= 0) & (values <= 1)).all()
        assert np.array_equal(values, np.concatenate([getattr(each, name) for each in alone]))


@pytest.mark.parametrize("text", ["één ü Straße", "Το μουσείο άνοιξε", "музей открыт", "博物館 図書館"])
def test_words_of_any_script_count(text: str) -> None:
    """The usual [a-z0-9]+ makes "één ü Straße" into n, stra, e, and scores identical Greek 0."""
    assert [float(each[0]) for each in rouge([text], [text])] == [1, 1, 1]
    assert rouge(["één"], ["n"]).rouge1[0] == 0


@pytest.mark.parametrize(("one", "other"), [("STRASSE", "straße"), ("e\u0301", "é"), ("a\u00a0b", "a b")])
def test_text_is_normalized_first(one: str, other: str) -> None:
    assert rouge([one], [other]).rougeL[0] == 1


def test_a_very_long_answer_takes_no_longer_than_it_must() -> None:
    assert rouge(["word other " * 100_000], ["a word here"]).rougeL[0] < 0.001
