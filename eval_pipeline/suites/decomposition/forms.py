"""Forms of names: a forbidden concept in other words, and a quote that is nearly one of the text's."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from eval_pipeline.language.sentences import split_sentences
from eval_pipeline.language.stems import stem, word_parts
from eval_pipeline.metrics.text import normalize, occurs_as_words

LINKING = frozenset(["a", "an", "and", "by", "for", "in", "of", "on", "or", "the", "to", "with"])
"""Words that may come and go without making another name."""
SHORTEST_PREFIX, LONGEST_ENDING = 5, 3
"""Stems that differ in so short an ending are of one word: osmosis and osmoses, -isation and -ization."""
PARAPHRASED = 0.6
"""A quote of which so many words stand in two neighbouring sentences is one of theirs in other words."""


def stems_of(text: str) -> tuple[str, ...]:
    """What all forms of a text share: the stems of its words, in order, without linking words."""
    return tuple(stem(part) for part in word_parts(text) if part not in LINKING)


# Names come back in every output; whole texts do not.
name_stems = lru_cache(maxsize=2**14)(stems_of)


def stands_in_some_form(name: str, stems: Sequence[str]) -> bool:
    """Whether the words of a name stand side by side among the stems of a text, in whatever form."""
    own = name_stems(name)
    width = len(own)
    return bool(own) and any(tuple(stems[at : at + width]) == own for at in range(len(stems) - width + 1))


def _all_in(stems: Sequence[str], others: Sequence[str]) -> bool:
    return all(any(_same_word(each, other) for other in others) for each in stems)


def _same_word(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    near = len(short) >= SHORTEST_PREFIX and len(long) - len(short) <= LONGEST_ENDING
    return first == second or (near and long.startswith(short))


class Canaries:
    """Recognises forbidden concepts in any form: inflected, hyphenated, in another order, with words added.

    What the source text itself names is in no danger of being made up, and so is never one.
    """

    def __init__(self, forbidden: Iterable[str], text: str) -> None:
        self._names = {normalize(label): label for label in forbidden}
        self._stems = {label: name_stems(label) for label in self._names.values()}
        self._text = text

    def named_by(self, label: str) -> str | None:
        """The forbidden concept that a normalized label is a form of."""
        if label in self._names:
            return self._names[label]
        own = name_stems(label)
        named = next((name for name, stems in self._stems.items() if stems and _all_in(stems, own)), None)
        return None if named is None or occurs_as_words(label, self._text) else named


def is_paraphrase(quote: str, text: str) -> bool:
    """Whether most words of a quote stand in two neighbouring sentences of the text, in whatever form."""
    own = set(stems_of(quote))
    return bool(own) and any(len(own & window) >= PARAPHRASED * len(own) for window in _windows(text))


@lru_cache(maxsize=2**6)
def _windows(text: str) -> list[set[str]]:
    """The stems of every two neighbouring sentences; all quotes of a case are looked for in the same."""
    sentences = [set(stems_of(sentence)) for sentence in split_sentences(text)]
    return [first | second for first, second in pairwise((*sentences, set()))]
