"""Whether a claim states what a question asks for: gold substrings that cut no number and are not denied."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from eval_pipeline.language.negation import NEGATORS, is_denied, negations
from eval_pipeline.language.word_lists import word_lists
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suites.grounded_qa.cases import GroundedExpected
from eval_pipeline.suites.grounded_qa.corpus import STOP_WORDS

_WORDS = {name: "|".join(words) for name, words in word_lists(__package__, "data/number_words.txt").items()}
_SCALED = rf"(?:(?:{_WORDS['UNITS']}|{_WORDS['TENS']})[- ])?(?:{_WORDS['SCALES']})"
_DIGITS = r"(?<!\d)\d{1,3}(?: \d{3})+(?!\d)|\d+(?:[.,]\d+)*"
_SPELT = (
    rf"\b(?:{_SCALED}[- ](?:and )?|(?:{_WORDS['TENS']})[- ])*"
    rf"(?:{_SCALED}|{_WORDS['UNITS']}|{_WORDS['TENS']})\b"
)
_NUMBER = re.compile(rf"{_DIGITS}|{_SPELT}")
_WORD = re.compile(r"[^\W_]+")
_EDGE = re.compile(rf"^(?:[\d.,]|{_SPELT})|(?:[\d.,]|{_SPELT})$")


def states(claim: str, expected: GroundedExpected, passages: Sequence[str] = ()) -> bool:
    """Whether a claim holds one of the gold substrings and one of each part; any will do without both.

    The claim is normalized, or, where it is plain ASCII, at least in lower case: white space is
    collapsed only where a substring does not stand there anyway. The golden passages, where they are known,
    tell a denial that is right from one that turns the answer around.
    """
    substrings = expected.gold_claim_substr
    return (not substrings or _holds_one(claim, substrings, passages)) and all(
        _holds_one(claim, part, passages) for part in expected.all_of or ()
    )


def _holds_one(claim: str, substrings: Sequence[str], passages: Sequence[str]) -> bool:
    for text in substrings:
        if text.isascii() and _stands(text.lower(), claim, passages):
            return True
        if _stands(normalize(text), normalize(claim), passages):
            return True
    return False


def _stands(text: str, claim: str, passages: Sequence[str]) -> bool:
    """Whether a text stands in a claim that does not turn it around."""
    places = list(_places(text, claim))
    return bool(places) and not (passages and _turns_around(claim, places, text, passages))


def _turns_around(claim: str, places: Sequence[tuple[int, int]], text: str, passages: Sequence[str]) -> bool:
    """Whether a claim denies a text wherever it stands, and the golden passages do not.

    They do where they deny the same: where they hold the text under a denial, or do not hold it word for word
    and deny something, and the claim has some other word of theirs, too.
    """
    denials = negations(claim)
    if not denials or not all(is_denied(denials, *place) for place in places):
        return False
    known = [(negations(passage), list(_places(text, passage))) for passage in map(normalize, passages)]
    stands = any(found for _, found in known)
    denied = [
        any(is_denied(theirs, *place) for place in found) if stands else bool(theirs)
        for theirs, found in known
    ]
    own = {*_WORD.findall(claim.replace(text, " "))} - STOP_WORDS - NEGATORS["en"]
    return not (any(denied) and own & {word for each in passages for word in _WORD.findall(normalize(each))})


def _places(text: str, claim: str) -> Iterator[tuple[int, int]]:
    """Where a text stands in a claim without cutting one of its numbers."""
    if text not in claim:
        return
    numbers = [match.span() for match in _NUMBER.finditer(claim)] if _touches_number(text) else []
    start = claim.find(text)
    while start >= 0:
        edges = (start, start + len(text))
        if not any(first < edge < last for edge in edges for first, last in numbers):
            yield edges
        start = claim.find(text, start + 1)


@lru_cache(maxsize=2**14)
def _touches_number(text: str) -> bool:
    """Whether a text begins or ends with a number, which a longer one could hold."""
    return _EDGE.search(text) is not None
