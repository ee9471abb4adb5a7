"""Sentences of Dutch, English, German and French texts, as exact parts of the text."""

import re
from collections.abc import Iterator

LONGEST_SENTENCE = 1500

_LISTED = """
abb al approx art bd bijv blz bv bzw ca cf cie col coll dept dhr dr drs ed éd eds env etc ev evt ff fig geb
gem gest gr hl hr hrsg inc incl inkl inv ir jan feb febr apr aug sep sept okt oct nov dec dez jh jhdt jr lt
ltd max mgr mio mlle mln mme mr mrs ms mw no nr nrs num orig pag pp prof red resp rev sen sr st ste str tel
temp uitg ung usw vgl vol vs wg zgn
"""
ABBREVIATIONS = frozenset(_LISTED.split())
"""Words that end in a full stop without ending a sentence."""

# Possessive, and from the first mark of a run only: a million full stops take no longer than they must.
_END = re.compile(r"(?<![.!?…])([.!?…]++)['\"”’»)\]]*+(\s++)(?=\S)|\n[^\S\n]*+\n\s*+")
_LAST_WORD = re.compile(r"[^\s(\[\"'“„«]*$")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
"""Initials and abbreviations with a full stop after each letter: `J`, `e.g`, `o.a`."""
_ORDINAL = re.compile(
    r"\b(?:a[bm]|im|bis|de[mnrs]|die|das|seit|und|vom|zu[mr]|anfang|ende|mitte)\s+\d{1,2}$", re.IGNORECASE
)
"""In German a full stop makes an ordinal of a number: `am 3. Mai`, `im 18. Jahrhundert`."""
_FAR_ENOUGH = 40


def split_sentences(text: str) -> Iterator[str]:
    """Sentences as exact parts of the text; what never ends is cut, so that quotes stay short."""
    start = 0
    for boundary in (*_boundaries(text), len(text)):
        while start < boundary:
            end = boundary
            if end - start > LONGEST_SENTENCE:
                space = text.rfind(" ", start, start + LONGEST_SENTENCE)
                end = space + 1 if space > start else start + LONGEST_SENTENCE
            if sentence := text[start:end].strip():
                yield sentence
            start = end


def _boundaries(text: str) -> Iterator[int]:
    for match in _END.finditer(text):
        mark, space = match.groups()
        if mark is None or "\n\n" in space or _ends(text, match.start(), mark, text[match.end()]):
            yield match.end()


def _ends(text: str, place: int, mark: str, following: str) -> bool:
    """Whether a mark at a place ends a sentence, with that character after it."""
    if following.islower():
        return False
    if mark != ".":
        return True
    before = text[max(0, place - _FAR_ENOUGH) : place]
    match = _LAST_WORD.search(before)
    word = match.group().casefold() if match else ""
    return not (word in ABBREVIATIONS or _DOTTED.fullmatch(word) or _ORDINAL.search(before))
