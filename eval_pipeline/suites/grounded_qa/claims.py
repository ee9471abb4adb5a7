"""Whether a claim states what a question asks for: gold substrings, which never cut a number."""

import re
from collections.abc import Sequence
from functools import lru_cache

from eval_pipeline.language.word_lists import word_lists
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suites.grounded_qa.cases import GroundedExpected

_WORDS = {name: "|".join(words) for name, words in word_lists(__package__, "data/number_words.txt").items()}
_SCALED = rf"(?:(?:{_WORDS['UNITS']}|{_WORDS['TENS']})[- ])?(?:{_WORDS['SCALES']})"
_DIGITS = r"(?<!\d)\d{1,3}(?: \d{3})+(?!\d)|\d+(?:[.,]\d+)*"
_SPELT = (
    rf"\b(?:{_SCALED}[- ](?:and )?|(?:{_WORDS['TENS']})[- ])*"
    rf"(?:{_SCALED}|{_WORDS['UNITS']}|{_WORDS['TENS']})\b"
)
_NUMBER = re.compile(rf"{_DIGITS}|{_SPELT}")
_EDGE = re.compile(rf"^(?:[\d.,]|{_SPELT})|(?:[\d.,]|{_SPELT})$")


def states(claim: str, expected: GroundedExpected) -> bool:
    """Whether a claim holds one of the gold substrings and one of each part; any will do without both.

    The claim is normalized, or, where it is plain ASCII, at least in lower case: white space is
    collapsed only where a substring does not stand there anyway.
    """
    substrings = expected.gold_claim_substr
    return (not substrings or _holds_one(claim, substrings)) and all(
        _holds_one(claim, part) for part in expected.all_of or ()
    )


def _holds_one(claim: str, substrings: Sequence[str]) -> bool:
    for text in substrings:
        if text.isascii() and _stands(text.lower(), claim):
            return True
        if _stands(normalize(text), normalize(claim)):
            return True
    return False


def _stands(text: str, claim: str) -> bool:
    """Whether a text stands in a claim without cutting one of its numbers."""
    if text not in claim:
        return False
    if not _touches_number(text):
        return True
    numbers = [match.span() for match in _NUMBER.finditer(claim)]
    start = claim.find(text)
    while start >= 0:
        edges = (start, start + len(text))
        if not any(first < edge < last for edge in edges for first, last in numbers):
            return True
        start = claim.find(text, start + 1)
    return False


@lru_cache(maxsize=2**14)
def _touches_number(text: str) -> bool:
    """Whether a text begins or ends with a number, which a longer one could hold."""
    return _EDGE.search(text) is not None
