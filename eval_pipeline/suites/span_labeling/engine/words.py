"""Words of a prompt with their roles: function words end a phrase, forms of known verbs are actions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from eval_pipeline.language.word_lists import word_sets
from eval_pipeline.metrics.text import words
from eval_pipeline.suites.span_labeling.resources import Lexicon

_LISTS = word_sets(__package__, "data/words.txt")
DETERMINERS = _LISTS["DETERMINERS"]
PREPOSITIONS = _LISTS["PREPOSITIONS"]
PARTICLES = _LISTS["PARTICLES"]
FUNCTION_WORDS = DETERMINERS | PREPOSITIONS | _LISTS["OTHERS"]
_VOWELS = "aeiou"
_SENTENCE_END = re.compile(r"[.!?]\s|\n")
_FIELD_END = re.compile(r'"\s{0,5}:')


@dataclass(frozen=True)
class Token:
    """A word of the prompt, folded for lookup, and how it stands to what surrounds it."""

    text: str
    start: int
    end: int
    joined: bool
    """It follows the word before it without punctuation."""
    opens: bool
    """It is the first word of the prompt or of a sentence."""
    names_field: bool
    """It is the name of a field, as in `"lighting": …`."""

    @property
    def is_function(self) -> bool:
        """Whether it belongs to grammar rather than content."""
        return self.text in FUNCTION_WORDS

    @property
    def is_adverb(self) -> bool:
        """Whether it looks like an adverb of manner."""
        return self.text.endswith("ly") and len(self.text) > 4


def tokens_of(prompt: str) -> list[Token]:
    """The words of a prompt."""
    results: list[Token] = []
    last = 0
    for word in words(prompt):
        between = prompt[last : word.start]
        results.append(
            Token(
                word.text.casefold().replace("’", "'"),
                word.start,
                word.end,
                joined=bool(results) and not between.strip(),
                opens=not results or bool(_SENTENCE_END.search(between)),
                names_field=_FIELD_END.match(prompt, word.end) is not None,
            )
        )
        last = word.end
    return results


@dataclass(frozen=True)
class Vocabulary:
    """The lexicon, ready for lookup."""

    heads: Mapping[str, str]
    """Head → category."""
    longest: int
    """How many words the longest head has."""
    verbs: Mapping[str, str]
    """Any form of a verb → its category of action."""
    bases: frozenset[str]
    """Verbs without an ending."""
    sounds: frozenset[str]
    """Any form of a verb of sound."""
    modifiers: frozenset[str]
    fixed: Mapping[str, tuple[tuple[str, ...], ...]]
    """First word → heads that hold a function word, such as "depth of field"."""

    @classmethod
    def of(cls, lexicon: Lexicon) -> Vocabulary:
        """Inflect everything that a lexicon holds."""
        heads = {
            form: category
            for category, entries in lexicon.heads.items()
            for each in entries
            for form in plurals(each)
        }
        verbs = {
            form: category
            for category, entries in lexicon.verbs.items()
            for each in entries
            for form in (*forms(each), *lexicon.irregular.get(each, ()))
        }
        sounds = {
            form for each in lexicon.sounds for form in (*forms(each), *lexicon.irregular.get(each, ()))
        }
        longest = max((len(split(head)) for head in heads), default=1)
        keyed = {" ".join(split(head)): category for head, category in heads.items()}
        fixed: dict[str, tuple[tuple[str, ...], ...]] = {}
        for head in heads:
            parts = tuple(head.split())
            if not FUNCTION_WORDS.isdisjoint(parts):
                fixed[parts[0]] = (*fixed.get(parts[0], ()), parts)
        bases = frozenset(each for entries in lexicon.verbs.values() for each in entries)
        return cls(keyed, longest, verbs, bases, frozenset(sounds), frozenset(lexicon.modifiers), fixed)


def split(phrase: str) -> list[str]:
    """The parts of a phrase, hyphens and blanks taken for the same."""
    return phrase.replace("-", " ").split()


def plurals(noun: str) -> Iterator[str]:
    """A noun and its regular plural."""
    yield noun
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        yield noun[:-1] + "ies"
    elif noun.endswith(("s", "x", "ch", "sh")):
        yield noun + "es"
    elif noun.endswith(("man", "woman")):
        yield noun[:-2] + "en"
    else:
        yield noun + "s"


def forms(verb: str) -> Iterator[str]:
    """A regular verb in the present: as it is, with -s, with -ing. Prompts tell what is to be seen now."""
    yield verb
    if " " in verb:
        return
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        yield verb[:-1] + "ies"
    else:
        yield verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        yield verb[:-1] + "ing"
    else:
        yield verb + "ing"
        if verb[-1] not in "wxy" + _VOWELS and verb[-2:-1] in _VOWELS and verb[-3:-2] not in _VOWELS:
            yield verb + verb[-1] + "ing"
