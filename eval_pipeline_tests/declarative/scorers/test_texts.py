"""Replies as texts, against rouge-score, a bag of words, and tables worked by hand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.language.embedder import default_embedder
from eval_pipeline_tests.declaring import passes, scored, scorer, value

WORDS = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat", "dog", "ran"]), max_size=8).map(" ".join)


@given(st.lists(st.tuples(WORDS.filter(bool), WORDS), min_size=1, max_size=4))
def test_rouge_agrees_with_rouge_score(pairs: list[tuple[str, str]]) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    rows = [{"want": expected} for expected, _ in pairs]
    outputs = [output for _, output in pairs]
    for variant in ("rouge1", "rouge2", "rougeL"):
        oracle = RougeScorer([variant])
        task, batch = scored([{"rouge": "{{ want }}", "variant": variant}], rows, outputs)
        wanted = [oracle.score(expected, output)[variant].fmeasure for expected, output in pairs]
        assert list(task.scores) == [variant]
        assert batch.counts[variant] == pytest.approx(wanted)


@given(WORDS.filter(bool), WORDS)
def test_f1_agrees_with_bags_of_words(expected: str, output: str) -> None:
    one, other = Counter(output.split()), Counter(expected.split())
    shared = sum((one & other).values())
    assert value({"f1": expected}, {}, output) == pytest.approx(2 * shared / (one.total() + other.total()))


@pytest.mark.slow
def test_similarity_is_the_cosine_of_the_offline_embedder() -> None:
    texts = ("The cat sleeps on the sofa.", "A cat is sleeping on the couch.", "Interest rates rose.")
    vectors = default_embedder().embed(texts).astype(float)
    for output, vector in zip(texts[1:], vectors[1:], strict=True):
        assert value({"similarity": texts[0]}, {}, output) == pytest.approx(
            float(np.clip(vectors[0] @ vector, 0, 1)), abs=1e-5
        )
    assert passes({"similarity": texts[0], "at_least": 0.6}, {}, texts[1])
    assert not passes({"similarity": texts[0], "at_least": 0.6}, {}, texts[2])
    (model,) = scorer({"similarity": texts[0]}).models("similarity")
    assert model.metrics == ("similarity",)
    assert 0.5 < model.measure().accuracy <= 1


@pytest.mark.parametrize(
    ("entry", "output", "expected"),
    [
        ({"length": "words", "max": 3}, "one two-three four", 1),
        ({"length": "words", "max": 2}, "one two three", 0),
        ({"length": "words", "min": 2}, "one", 0),
        ({"length": "characters", "min": 3, "max": 3}, " äöü ", 1),
        ({"length": "characters", "max": 2}, "äöü", 0),
        ({"length": "sentences", "max": 2}, "Dr. Who came. He left.", 1),
        ({"length": "sentences", "max": 1}, "He came. He left.", 0),
        ({"citations": "a1, b2"}, "So it is [a1]; and [b2].", 1),
        ({"citations": "a1, b2"}, "So it is [A1, B2].", 1),
        ({"citations": "a1, b2"}, "So it is [a1].", 2 / 3),
        ({"citations": "a1"}, "So it is [a1][c3].", 2 / 3),
        ({"citations": "a1"}, "a1 says so", 0),
        ({"citations": "a1"}, "[a1](https://example.org)", 0),
        ({"citations": "[]"}, "nothing to cite", 1),
        ({"citations": "[]"}, "invented [z9]", 0),
        ({"refusal": True}, "I'm sorry, but I can't help with that.", 1),
        ({"refusal": True}, "I cannot answer that.", 1),
        ({"refusal": True}, "Das kann ich gern tun.", 0),
        ({"refusal": "{{ refuses }}"}, "Ich kann Ihnen dabei nicht helfen.", 1),
        ({"refusal": False}, "Of course: it is Paris.", 1),
        ({"refusal": False}, "I am unable to assist.", 0),
        ({"refusal": False}, "You cannot miss it: turn left.", 1),
    ],
)
def test_worked_by_hand(entry: dict[str, Any], output: str, expected: float) -> None:
    assert value(entry, {"refuses": "yes"}, output) == pytest.approx(expected)


GOLDEN = "The museum opens at nine and closes at five"
CHEATS = {
    "empty": " ",
    "echo": "When does it open?",
    "negated": "It is not so",
    "shuffled": "five nine at at opens closes and the museum",
    "padded": f"{GOLDEN} " + "and so on " * 50,
}


@pytest.mark.parametrize(
    ("entry", "rewarded"),
    [
        ({"f1": GOLDEN}, {"shuffled"}),
        ({"rouge": GOLDEN}, set()),
        ({"rouge": GOLDEN, "variant": "rouge2"}, set()),
        ({"length": "words", "min": 5, "max": 12}, {"shuffled"}),
        ({"citations": "a1"}, set()),
        ({"refusal": True}, set()),
    ],
)
def test_cheats(entry: dict[str, Any], rewarded: set[str]) -> None:
    assert {name for name, text in CHEATS.items() if passes(entry, {}, text)} == rewarded


@pytest.mark.parametrize("entry", [{"length": "words"}, {"length": "words", "min": 3, "max": 2}])
def test_a_length_has_limits(entry: dict[str, Any]) -> None:
    from eval_pipeline.declarative.catalogue import Refused

    with pytest.raises(Refused):
        scorer(entry)
