"""The classifier of categories: leaving a prompt out is exact, and nothing depends on order."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from eval_pipeline.language.embedder import DIMENSIONS, Vectors
from eval_pipeline.suites._video.category_classifier import CategoryClassifier, Example, parent

PHRASES = {
    "lighting": [
        "soft light",
        "hard light",
        "candle light",
        "blue moonlight",
        "warm lamp light",
        "neon light",
    ],
    "subject.wardrobe": ["red dress", "blue dress", "long coat", "wool coat", "silk dress", "rain coat"],
    "subject.identity": [
        "old sailor",
        "young sailor",
        "tired nurse",
        "old nurse",
        "young baker",
        "tired baker",
    ],
    "action.movement": ["walking", "running away", "walking home", "running home", "jumping", "jumping away"],
}
EXAMPLES = [
    Example(text, category, f"prompt {number % 5}")
    for category, texts in PHRASES.items()
    for number, text in enumerate(texts)
]


class Letters:
    """A stand-in for the embedder: counts of letters."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text:
                row[ord(letter) % DIMENSIONS] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths > 0, lengths, 1.0)
        return rows


def test_parents() -> None:
    assert parent("subject.wardrobe") == "subject"
    assert parent("lighting") == "lighting"


def test_phrases_like_the_examples_are_classified_like_them() -> None:
    classifier = CategoryClassifier(EXAMPLES, Letters())
    assert classifier.classify(["pale light", "green dress", "running"]) == [
        "lighting",
        "subject.wardrobe",
        "action.movement",
    ]
    assert classifier.classify([]) == []
    assert len(classifier.classify(["", "🎬", "\n", "x" * 10**5])) == 4


@pytest.mark.parametrize("prompt", ["prompt 0", "prompt 3"])
def test_leaving_a_prompt_out_equals_training_without_it(prompt: str) -> None:
    """The rows of features are fixed by all examples, so the comparison is on the same kernel."""
    whole = CategoryClassifier(EXAMPLES, Letters())
    rest = [index for index, each in enumerate(whole._examples) if each.prompt != prompt]
    kernel = whole._kernel(whole._vectors, whole._spelling.rows, whole._classes.rows)
    inverse = np.linalg.inv(kernel[np.ix_(rest, rest)] + 0.2 * np.eye(len(rest)))
    expected = kernel[:, rest] @ inverse @ whole._labels()[rest]
    assert kernel @ whole._weights_without(prompt) == pytest.approx(expected, abs=1e-8)
    left_out = [index for index in range(len(whole._examples)) if index not in rest]
    assert whole._held_out()[left_out] == pytest.approx(expected[left_out], abs=1e-8)


def test_order_and_repetition_of_examples_do_not_matter() -> None:
    shuffled = [*EXAMPLES, *EXAMPLES[:5]]
    random.Random(1).shuffle(shuffled)
    texts = ["soft coat", "old light", "walking nurse"]
    first, second = CategoryClassifier(EXAMPLES, Letters()), CategoryClassifier(shuffled, Letters())
    assert first.classify(texts) == second.classify(texts)
    assert first.classify(texts, ["prompt 1"] * 3) == second.classify(texts, ["PROMPT  1"] * 3)
    assert first.classify(texts, ["unknown"] * 3) == first.classify(texts)
    assert first.cross_validate() == second.cross_validate()


def test_cross_validation_counts_phrases_and_prompts() -> None:
    result = CategoryClassifier(EXAMPLES, Letters()).cross_validate()
    assert (result.phrases, result.prompts) == (24, 5)
    assert 0.5 < result.categories <= result.parents <= 1.0
