"""Whether a subject is kept: by stem, by the thesaurus, by meaning."""

from __future__ import annotations

import pytest

from eval_pipeline.suites._video.kept_words import KeptWords, accuracy, content_stems, labelled_pairs

WORDS = KeptWords({"dog": ["canine", "golden retriever"], "run": ["sprint"], "close-up": ["closeup"]})


@pytest.mark.parametrize(
    ("phrase", "text", "kept"),
    [
        ("dog", "A golden retriever sprinting through Central Park, morning light, handheld camera", True),
        ("dog", "Medium shot of a dog running through a sunlit park, shallow depth of field", True),
        ("dog", "Energetic canine bounding across green grass, dynamic motion blur", True),
        ("dogs", "two DOGS", True),
        ("old dog", "an elderly canine", True),
        ("dog", "a cat on a sofa", False),
        ("dog", "a brass lamp", False),
        ("dog", "", False),
        ("the", "the the", False),
    ],
)
def test_the_head_of_a_subject(phrase: str, text: str, kept: bool) -> None:
    assert WORDS.keeps_head(phrase, text) is kept


@pytest.mark.parametrize(
    ("phrase", "text", "kept"),
    [
        ("running dog", "a canine that sprints", True),
        ("red dog", "a blue dog", False),
        ("close-up", "an extreme close up", True),
        ("low-key", "low-key lighting", True),
    ],
)
def test_every_word_of_an_element(phrase: str, text: str, kept: bool) -> None:
    assert WORDS.keeps_all(phrase, text) is kept


def test_stems_leave_grammar_out() -> None:
    assert content_stems("The dogs, running in a close-up") == ["dog", "run", "close"]


def test_meaning_fills_the_gaps_of_the_thesaurus() -> None:
    right, total = accuracy(KeptWords({}))
    assert total == len(labelled_pairs()) == 60
    assert right / total > 0.6
