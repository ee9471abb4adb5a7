"""What a text affirms, and what it denies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.suites._video.negation import affirmed


@pytest.mark.parametrize(
    ("text", "dog", "park"),
    [
        ("A dog runs in the park.", True, True),
        ("No dog is in the park.", False, False),
        ("There is no dog in the park.", False, False),
        ("Nowhere do we see: a dog running in the park.", False, False),
        ("A dog running in the park is nowhere to be seen.", False, False),
        ("Nowhere do we see, in any frame, a dog in a park.", False, False),
        ("It is not true that a dog runs in the park.", False, False),
        ("At no point does a dog run in the park.", False, False),
        ("We never see a dog in the park.", False, True),
        ("We don't see a dog in the park.", False, True),
        ("An empty park without a dog.", False, True),
        ("A park free of any dog.", False, False),
        ("The dog is absent from the park.", False, False),
        ("A cat instead of a dog in the park.", False, True),
        ("Neither a cat nor a dog is in the park.", False, True),
        ("No cats, people, dogs or cars, only the park.", False, True),
        ("No cats, no dog, a park.", False, True),
        # What is denied beside the subject does not touch it.
        ("With no people around, a dog runs in the park.", True, True),
        ("A dog runs without a leash through the park.", True, True),
        ("Not a cat but a dog runs in the park.", True, True),
        ("Not only a dog runs in the park.", True, True),
        ("A dog runs in the park. No cars.", True, True),
        ("The dog, not the cat, runs through\nthe park.", True, True),
        ("A dog with a knotted rope notices the park.", True, True),
    ],
)
def test_what_is_denied_is_not_there(text: str, dog: bool, park: bool) -> None:
    shown = affirmed(text)
    assert ("dog" in shown, "park" in shown) == (dog, park)


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    affirmed(text)


def test_long_texts_take_no_time() -> None:
    for text in ("no dog, " * 5000, "not " * 10_000, "no" + ", a" * 10_000, "or nor " * 10_000):
        affirmed(text)
