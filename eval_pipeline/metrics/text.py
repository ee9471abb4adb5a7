"""How text is compared, split into words, and searched, everywhere."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


def normalize(text: str) -> str:
    """NFKC, casefolded, white space collapsed and stripped.

    Casefolding can undo composition (`İ` becomes `i` and a combining dot), so NFKC is applied
    again: normalizing twice changes nothing.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


class Word(NamedTuple):
    """A word with its place in the text, in code points."""

    text: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """The words of a text: runs of letters and digits, hyphens and apostrophes inside them included."""
    return [Word(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]


def paragraphs(text: str) -> list[str]:
    """The parts of a text that blank lines separate."""
    return [part.strip() for part in _BLANK_LINE.split(text) if part.strip()]


def occurs_as_words(phrase: str, text: str) -> bool:
    """Whether a normalized phrase stands in a normalized text, not merely as part of longer words."""
    return bool(phrase) and bool(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text))
