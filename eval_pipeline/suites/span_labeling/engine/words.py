"""Words of a prompt with their roles: function words end a phrase, forms of known verbs are actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from eval_pipeline.metrics.text import words
from eval_pipeline.suites.span_labeling.resources import Lexicon

DETERMINERS = frozenset(
    [
        "a",
        "an",
        "the",
        "this",
        "that",
        "these",
        "those",
        "his",
        "her",
        "its",
        "their",
        "my",
        "your",
        "our",
        "some",
        "every",
        "each",
        "two",
        "three",
        "four",
        "five",
    ]
)
PREPOSITIONS = frozenset(
    [
        "of",
        "in",
        "on",
        "at",
        "by",
        "with",
        "without",
        "from",
        "into",
        "onto",
        "through",
        "across",
        "over",
        "under",
        "beneath",
        "above",
        "below",
        "behind",
        "beside",
        "between",
        "among",
        "along",
        "around",
        "against",
        "towards",
        "toward",
        "past",
        "near",
        "inside",
        "outside",
        "during",
        "before",
        "after",
        "down",
        "up",
        "out",
        "off",
        "as",
        "for",
        "to",
        "while",
        "until",
        "beyond",
        "per",
        "round",
        "about",
        "within",
        "upon",
        "amid",
    ]
)
PARTICLES = frozenset(
    [
        "up",
        "down",
        "out",
        "off",
        "away",
        "back",
        "ahead",
        "forward",
        "backwards",
        "aboard",
        "over",
        "past",
        "behind",
        "overhead",
    ]
)
OTHERS = frozenset(
    [
        "and",
        "or",
        "but",
        "yet",
        "then",
        "so",
        "if",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "has",
        "have",
        "had",
        "do",
        "does",
        "did",
        "not",
        "no",
        "he",
        "she",
        "it",
        "they",
        "we",
        "you",
        "i",
        "him",
        "them",
        "who",
        "which",
        "whose",
        "where",
        "when",
        "there",
        "here",
        "just",
        "both",
        "another",
        "one",
        "us",
        "me",
        "let",
        "make",
        "please",
        "can",
        "will",
        "would",
        "should",
        "could",
        "may",
        "might",
        "must",
        "also",
        "very",
        "now",
        "then",
    ]
)
FUNCTION_WORDS = DETERMINERS | PREPOSITIONS | OTHERS
_VOWELS = "aeiou"


@dataclass(frozen=True)
class Token:
    """A word of the prompt, folded for lookup, and whether it follows the last one without punctuation."""

    text: str
    start: int
    end: int
    joined: bool

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
    found: list[Token] = []
    last = 0
    for word in words(prompt):
        joined = bool(found) and prompt[last : word.start].strip() == ""
        found.append(Token(word.text.casefold().replace("’", "'"), word.start, word.end, joined))
        last = word.end
    return found


@dataclass(frozen=True)
class Vocabulary:
    """The lexicon, ready for lookup."""

    heads: Mapping[str, str]
    """Head → category."""
    longest: int
    """How many words the longest head has."""
    verbs: Mapping[str, str]
    """Any form of a verb → its category of action."""
    sounds: frozenset[str]
    """Any form of a verb of sound."""
    modifiers: frozenset[str]

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
        return cls(keyed, longest, verbs, frozenset(sounds), frozenset(lexicon.modifiers))


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


@lru_cache(maxsize=4096)
def forms(verb: str) -> tuple[str, ...]:
    """A regular verb with its endings: -s, -ed, -ing."""
    if " " in verb:
        return (verb,)
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"
    third = verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb, third, verb + "d", verb[:-1] + "ing"
    doubles = (
        len(verb) <= 4
        and verb[-1] not in "wxy" + _VOWELS
        and verb[-2:-1] in _VOWELS
        and verb[-3:-2] not in _VOWELS
    )
    stem = verb + verb[-1] if doubles else verb
    return verb, third, stem + "ed", stem + "ing", verb + "ed", verb + "ing"
