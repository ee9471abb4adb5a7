"""Names that a pattern of capitals and signal words gives away: institutions, and places by guess."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from eval_pipeline.metrics.text import Word, words
from eval_pipeline.suites.heritage_ner.engine.patterns import Found

_HEADS = {
    "GRP.HER.MUS": re.compile(r"\w*museum|écomusée|musée|gallery|galerie"),
    "GRP.HER.ARC": re.compile(r"[\w-]*archief|[\w-]*archiv|archives?"),
    "GRP.HER.LIB": re.compile(
        r"[\w-]*bibliotheek|library|[\w-]*bibliothek|bibliothèque|bücherei|médiathèque|leeszaal"
    ),
    "GRP.HER.SOC": re.compile(r"\w*vereniging|\w*kring|genootschap|society|\w*verein|société|cercle"),
}
_DUTCH_LINKS = ("de", "den", "der", "het", "van", "ter", "ten", "tussen", "en", "aan")
_ENGLISH_LINKS = ("of", "and", "for", "the")
_FRENCH_LINKS = ("de", "du", "des", "la", "le", "les", "et")
_GERMAN_LINKS = ("der", "des", "für", "am", "zum", "zur", "von", "und")
_LINKS = frozenset(_DUTCH_LINKS + _ENGLISH_LINKS + _FRENCH_LINKS + _GERMAN_LINKS)
_LINK_FORMS = re.compile(r"(?:[dl]['’]\w+|\w+ique)")
_NOT_A_NAME = frozenset(("The", "A", "An", "In", "At", "Our", "De", "Het", "Een", "Op", "Bij", "Ons", "Onze"))
"""What begins a sentence before a name, in the languages of `_LEFTWARD`."""
_LEFTWARD = ("nl", "en", "")
"""Languages in which a name may stand before its head (Brandhof Museum); German nouns are all capitalised."""
_PREPOSITIONS = {
    "nl": frozenset(("in", "te", "uit", "bij", "naar")),
    "en": frozenset(("in", "near", "from", "at")),
    "de": frozenset(("in", "aus", "bei", "nach")),
    "fr": frozenset(("à", "en", "vers")),
}
_MOST_LINKS = 3


def institutions(text: str, language: str) -> Iterator[Found]:
    """Capitalised names around a word such as museum, archief, Bibliothek or société."""
    found = words(text)
    for place, word in enumerate(found):
        kind = next((kind for kind, head in _HEADS.items() if head.fullmatch(word.text.casefold())), None)
        if kind is None or not word.text[0].isupper():
            continue
        first = _leftmost(text, found, place) if language in _LEFTWARD else place
        last = _rightmost(text, found, place)
        if first < last or "-" in word.text:
            yield Found(found[first].start, found[last].end, kind)


def _leftmost(text: str, found: Sequence[Word], place: int) -> int:
    while place and _joined(text, found[place - 1], found[place]) and _is_name(found[place - 1]):
        place -= 1
    return place


def _rightmost(text: str, found: Sequence[Word], place: int) -> int:
    last, links = place, 0
    for number in range(place + 1, len(found)):
        word = found[number]
        if not _joined(text, found[number - 1], word):
            break
        if word.text[0].isupper():
            last, links = number, 0
        elif links < _MOST_LINKS and (word.text in _LINKS or _LINK_FORMS.fullmatch(word.text)):
            links += 1
        else:
            break
    return last


def _joined(text: str, first: Word, second: Word) -> bool:
    return text[first.end : second.start] == " "


def _is_name(word: Word) -> bool:
    return word.text[0].isupper() and word.text not in _NOT_A_NAME


def places(text: str, language: str) -> Iterator[Found]:
    """A capitalised word right after a preposition of place: a guess, and often a wrong one."""
    prepositions = _PREPOSITIONS.get(language) or frozenset().union(*_PREPOSITIONS.values())
    found = words(text)
    for before, word in pairwise(found):
        if before.text.lower() in prepositions and word.text[0].isupper() and _joined(text, before, word):
            yield Found(word.start, word.end, "TOP")
