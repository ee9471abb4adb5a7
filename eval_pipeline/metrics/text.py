"""How text is compared, split into words, and searched, everywhere."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_SHORT = 200


def normalize(text: str) -> str:
    """NFKC, casefolded, white space collapsed and stripped.

    Casefolding can undo composition (`İ` becomes `i` and a combining dot), so NFKC is applied
    again: normalizing twice changes nothing.
    """
    return _normalize_short(text) if len(text) <= _SHORT else _normalize(text)


def _normalize(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(text.casefold().split())


# Labels come back many times within a case; whole texts do not, and would fill the cache.
_normalize_short = lru_cache(maxsize=2**16)(_normalize)


class Word(NamedTuple):
    """A word with its place in the text, in code points."""

    text: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """The words of a text: runs of letters and digits, hyphens and apostrophes inside them included."""
    return [Word(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where the words of a text stand, for those who need many and not their letters.

    Words are found on NFC, so that composed and decomposed accents give the same ones; the places are those
    of the text as it is given.
    """
    if unicodedata.is_normalized("NFC", text):
        return [match.span() for match in _WORD.finditer(text)]
    places = [place for place, character in enumerate(text) if not place or not _joins_before(character)]
    composed: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in pairwise([*places, len(text)]):
        letter = unicodedata.normalize("NFC", text[start:end])
        composed.append(letter)
        starts += [start] * len(letter)
        ends += [end] * len(letter)
    spans = [match.span() for match in _WORD.finditer("".join(composed))]
    return [(starts[first], ends[end - 1]) for first, end in spans]


def _joins_before(character: str) -> bool:
    """Whether a character may become one with those before it: a combining mark, or a part of a syllable."""
    return unicodedata.combining(character) > 0 or "\u1160" <= character <= "\u11ff"


def word_count(text: str) -> int:
    """How many words a text has."""
    return len(_WORD.findall(text))


def paragraphs(text: str) -> list[str]:
    """The parts of a text that blank lines separate."""
    return [part.strip() for part in _BLANK_LINE.split(text) if part.strip()]


def occurs_as_words(phrase: str, text: str) -> bool:
    """Whether a normalized phrase stands in a normalized text, not merely as part of longer words."""
    start = text.find(phrase) if phrase else -1
    while start >= 0:
        end = start + len(phrase)
        if not (_joins(text[start - 1 : start], phrase[0]) or _joins(phrase[-1], text[end : end + 1])):
            return True
        start = text.find(phrase, start + 1)
    return False


def _joins(first: str, second: str) -> bool:
    """Whether two neighbouring characters belong to one word."""
    return first.isalnum() and second.isalnum()
