"""Patterns from data: bounded ones work, dangerous ones are refused before they see a text."""

from __future__ import annotations

import pytest

from eval_pipeline.language.patterns import BadPattern, compile_bounded, found


@pytest.mark.parametrize(
    ("pattern", "text", "hit"),
    [
        ("violence", "No VIOLENCE here", "violence"),
        (r"\bguns?\b", "a gunner", ""),
        (r"\bguns?\b", "two ＧＵＮＳ", "guns"),
        (r"smart ?watch", "a smart\u00a0watch", "smart watch"),
        (r"\d{1,3} (?:dogs|cats)", "101 dogs", "101 dogs"),
    ],
)
def test_what_is_found(pattern: str, text: str, hit: str) -> None:
    assert found(pattern, text) == hit


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|a)*b",
        "a*a*a*b",
        "(a|aa){30}c",
        "(x?){40}y",
        "(.{1,50}){1,50}z",
        r"(a)\1",
        "a{5,}",
        "((a{1,9}){1,9}){1,9}",
    ],
)
def test_catastrophic_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(BadPattern, match=r"too many ways.*\{0,20\}"):
        compile_bounded(pattern)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("", "blank"),
        (" ", "blank"),
        ("[", "not a regular expression"),
        ("x?", "empty text"),
        ("a" * 301, "301 characters"),
        ("(" * 290 + ")" * 10, "not a regular expression"),
    ],
)
def test_what_is_no_use_is_refused(pattern: str, told: str) -> None:
    with pytest.raises(BadPattern, match=told):
        compile_bounded(pattern)


def test_the_worst_allowed_pattern_is_linear_in_the_text() -> None:
    assert found("a{0,40}b{0,40}c", "a" * 20_000) == ""
