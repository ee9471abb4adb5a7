"""Normalizing, splitting and searching text."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eval_pipeline.metrics.text import normalize, occurs_as_words, paragraphs, word_count, words

TYPED = st.text(alphabet="abzAZ019éß .,;:!?()'’-+*/\n", max_size=40)
PHRASES = st.from_regex(r"[a-c019é](?:[a-c019é .,'-]{0,6}[a-c019é])?", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        ("", ""),
        (" \t\r\n ", ""),
        ("  Coral\t\nReef ", "coral reef"),
        ("Straße", "strasse"),
        ("ß\u0301", "s\u015b"),
        ("İstanbul", "i̇stanbul"),
        ("a\u00a0b\u2003c\u3000d", "a b c d"),
        ("cafe\u0301", "caf\u00e9"),
        ("CAFE\u0301", "caf\u00e9"),
        ("ﬁnal ２０２４", "final 2024"),
        ("x² ½", "x2 1\u20442"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("Ⅷ ™", "viii tm"),
    ],
)
def test_normalize(text: str, normalized: str) -> None:
    assert normalize(text) == normalized


@given(st.text())
@example("İ" * 300)
@example("ß\u0301")
@example("\u0345\u0301α\u0345")
@example("ᾼ\u0301 \u00a8")
def test_normalizing_twice_changes_nothing(text: str) -> None:
    assert normalize(normalize(text)) == normalize(text)


@given(st.text())
def test_composed_and_decomposed_text_are_the_same(text: str) -> None:
    assert normalize(unicodedata.normalize("NFD", text)) == normalize(unicodedata.normalize("NFC", text))


@given(st.text(min_size=201, max_size=260))
def test_long_texts_are_normalized_like_their_short_parts(text: str) -> None:
    spaced = " ".join(text)
    assert normalize(spaced) == " ".join(filter(None, (normalize(part) for part in spaced.split(" "))))


@pytest.mark.parametrize(
    ("phrase", "text", "occurs"),
    [
        ("art", "modern art", True),
        ("art", "smart", False),
        ("art", "arts", False),
        ("art", "smart art", True),
        ("art", "art", True),
        ("art", "(art)", True),
        ("art", "state-of-the-art.", True),
        ("art", "4art", False),
        ("a b", "a bc a b", True),
        ("aa", "aaa aa", True),
        ("é", "caf\u00e9", False),
        ("c++", "use c++ here", True),
        ("", "anything", False),
        ("", "", False),
        ("longer", "long", False),
    ],
)
def test_occurs_as_words(phrase: str, text: str, occurs: bool) -> None:
    assert occurs_as_words(phrase, text) is occurs


@given(PHRASES, TYPED, TYPED, st.booleans())
def test_occurs_as_words_is_what_the_regular_expression_says(
    phrase: str, before: str, after: str, inside: bool
) -> None:
    text = before + phrase + after if inside else before + after
    expected = re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None
    assert occurs_as_words(phrase, text) is expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("–– ...", []),
        ("Don't stop", [("Don't", 0, 5), ("stop", 6, 10)]),
        ("it’s well-known", [("it’s", 0, 4), ("well-known", 5, 15)]),
        ("-a- 'b'", [("a", 1, 2), ("b", 5, 6)]),
        ("🌊🌊 reef", [("reef", 3, 7)]),
        ("👩‍🔬 x", [("x", 4, 5)]),
        ("snake_case", [("snake", 0, 5), ("case", 6, 10)]),
        ("e\u0301a b", [("e", 0, 1), ("a", 2, 3), ("b", 4, 5)]),
        ("CO2 25%", [("CO2", 0, 3), ("25", 4, 6)]),
    ],
)
def test_words(text: str, found: list[tuple[str, int, int]]) -> None:
    assert words(text) == found


@given(st.text())
def test_words_stand_where_they_say_in_order_and_apart(text: str) -> None:
    found = words(text)
    assert [text[word.start : word.end] for word in found] == [word.text for word in found]
    assert all(first.end <= second.start for first, second in pairwise(found))
    assert word_count(text) == len(found)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("\n \n", []),
        ("one\ntwo", ["one\ntwo"]),
        ("one\n\ntwo", ["one", "two"]),
        ("one\n \t\n\n two \n", ["one", "two"]),
        ("one\r\n\r\ntwo", ["one", "two"]),
    ],
)
def test_paragraphs(text: str, parts: list[str]) -> None:
    assert paragraphs(text) == parts
