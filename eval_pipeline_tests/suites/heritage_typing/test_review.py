"""What a reader of outputs that nobody foresaw would try on heritage_typing."""

from __future__ import annotations

import pytest

from eval_pipeline.suite import Case
from eval_pipeline.suites.heritage_typing import SUITE
from eval_pipeline.suites.heritage_typing.cases import TypingExpected, TypingInput
from eval_pipeline_tests.sources import golden, values


@pytest.mark.parametrize(
    ("said", "gold", "right"),
    [
        ("I", "I", 1.0),
        (" i\n", "I", 1.0),
        ("Ｉ", "I", 1.0),
        ("ı", "I", 0.0),
        ("İ", "I", 0.0),
        ("ſ", "S", 1.0),
        ("ß", "S", 0.0),
        ("U", "U", 1.0),
        ("unknown", "U", 0.0),
        ("", "U", 0.0),
    ],
)
def test_a_letter_is_the_letter_after_normalization_and_nothing_else(
    said: str, gold: str, right: float
) -> None:
    case = golden(Case("a", TypingInput("text"), TypingExpected(gold)))
    assert values(SUITE, [case], {"a": {"type": said}})["accuracy"] == right
