"""Names that a pattern of capitals and signal words gives away: institutions, and places by guess."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from eval_pipeline.language.word_lists import word_lists, word_sets
from eval_pipeline.metrics.text import Word, words
from eval_pipeline.suites.heritage_ner.engine.patterns import Found

_HEADS = {
    kind: re.compile("|".join(heads)) for kind, heads in word_lists(__package__, "data/heads.txt").items()
}
_LISTS = word_sets(__package__, "data/names.txt")
_LINKS = _LISTS["LINKS"]
_LINK_FORMS = re.compile(r"(?:[dl]['’]\w+|\w+ique)")
_NOT_A_NAME = _LISTS["NOT_A_NAME"]
"""What begins a sentence before a name, in the languages of `_LEFTWARD`."""
_LEFTWARD = ("nl", "en", "")
"""Languages in which a name may stand before its head (Brandhof Museum); German nouns are all capitalised."""
_PREPOSITIONS = {language: _LISTS[language] for language in ("nl", "en", "de", "fr")}
_MOST_LINKS = 3


def institutions(text: str, language: str) -> Iterator[Found]:
    """Capitalised names around a word such as museum, archief, Bibliothek or société."""
    result = words(text)
    for place, word in enumerate(result):
        kind = next((kind for kind, head in _HEADS.items() if head.fullmatch(word.text.casefold())), None)
        if kind is None or not word.text[0].isupper():
            continue
        first = _leftmost(text, result, place) if language in _LEFTWARD else place
        last = _rightmost(text, result, place)
        if first < last or "-" in word.text:
            yield Found(result[first].start, result[last].end, kind)


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
    result = words(text)
    for before, word in pairwise(result):
        if before.text.lower() in prepositions and word.text[0].isupper() and _joined(text, before, word):
            yield Found(word.start, word.end, "TOP")
