"""Word classes of English as video prompts use it: closed classes, common words, and endings.

A word has every class that it may have; which of them it has in a text is for a reader of texts to say.
Words that are not listed are told by their endings, and by default may be nouns or adjectives.
"""

from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache

from eval_pipeline.language.word_lists import word_lists, word_sets


class Tag(StrEnum):
    """What a word can be."""

    DETERMINER = "determiner"
    NUMBER = "number"
    ADJECTIVE = "adjective"
    SINGULAR = "singular noun"
    PLURAL = "plural noun"
    ADVERB = "adverb"
    BASE = "verb, base form"
    THIRD = "verb, third person"
    PAST = "verb, past tense"
    GERUND = "verb, -ing form"
    PARTICIPLE = "verb, past participle"
    BE = "form of be"
    HAVE = "have or do"
    MODAL = "modal"
    PREPOSITION = "preposition"
    TO = "to"
    CONJUNCTION = "conjunction"
    SUBORDINATOR = "subordinator"
    RELATIVE = "relative"
    SUBJECT = "subject pronoun"
    OBJECT = "object pronoun"


_CLASSES = word_sets(__package__, "data/classes.txt")
_LISTS = word_lists(__package__, "data/words.txt")
SINGULAR_DETERMINERS = frozenset(_LISTS["SINGULAR_DETERMINERS"])
AMOUNTS = frozenset(_LISTS["AMOUNTS"])
PARTICLES = frozenset(_LISTS["PARTICLES"])
OPENS_PREPOSITION = frozenset(_LISTS["OPENS_PREPOSITION"])
BEFORE_OF = frozenset(_LISTS["BEFORE_OF"])
VERB_NOUNS = frozenset(_LISTS["VERB_NOUNS"])
VERBS = VERB_NOUNS | frozenset(_LISTS["VERBS"])
CAUSATIVES = frozenset(_LISTS["CAUSATIVES"])
ORDINALS = frozenset(_LISTS["ORDINALS"])
TIMES = frozenset(_LISTS["TIMES"])
VOWEL_SOUND = frozenset(_LISTS["VOWEL_SOUND"])
LETTERS_WITH_VOWEL_SOUND = "aefhilmnorsx"


def _inflections() -> Iterator[tuple[str, Tag]]:
    for entry in VERBS:
        base, *irregular = entry.split("/")
        yield base, Tag.BASE
        yield _with_s(base), Tag.THIRD
        for ending in _with_ending(base, "ing"):
            yield ending, Tag.GERUND
        past, participle = irregular or (None, None)
        for form in (past,) if past else _with_ending(base, "ed"):
            yield form, Tag.PAST
        for form in (participle,) if participle else _with_ending(base, "ed"):
            yield form, Tag.PARTICIPLE
        if base in VERB_NOUNS:
            yield base, Tag.SINGULAR
            yield _with_s(base), Tag.PLURAL


def _with_s(base: str) -> str:
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def _with_ending(base: str, ending: str) -> tuple[str, ...]:
    """The spellings with "ed" or "ing"; with the last consonant doubled too where it may be."""
    if base.endswith("ie") and ending == "ing":
        return (base[:-2] + "ying",)
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")):
        return (base[:-1] + ending,)
    if base.endswith("e"):
        return (base + ending.removeprefix("e"),)
    if base.endswith("y") and base[-2:-1] not in "aeiou" and ending == "ed":
        return (base[:-1] + "ied",)
    if base[-1] not in "aeiouwxy" and base[-2:-1] in "aeiou":
        return (base + ending, base + base[-1] + ending)
    return (base + ending,)


def _collect() -> dict[str, frozenset[Tag]]:
    listed = [(word, tag) for tag in Tag for word in _CLASSES.get(tag.value, ())]
    listed += [(word, Tag.DETERMINER) for word in SINGULAR_DETERMINERS]
    listed += [(word, Tag.ADVERB) for word in PARTICLES]
    tags: dict[str, set[Tag]] = {}
    for word, tag in (*listed, *_inflections()):
        tags.setdefault(word, set()).add(tag)
    return {word: frozenset(each) for word, each in tags.items()}


LONGEST_ABBREVIATION = 6
LEXICON = _collect()
"""Every listed word and verb form with its classes."""
CLOSED = SINGULAR_DETERMINERS.union(
    *(_CLASSES[name] for name in ("determiner", "preposition", "conjunction", "subordinator", "relative")),
    *(_CLASSES[name] for name in ("subject pronoun", "object pronoun", "form of be", "have or do", "modal")),
)
"""Words that only have grammar, no picture."""


@lru_cache(maxsize=2**14)
def tags_of(word: str) -> frozenset[Tag]:
    """What a word (lower case) can be."""
    if word in LEXICON:
        tags = LEXICON[word]
        if Tag.PARTICIPLE in tags or Tag.GERUND in tags:
            return tags
        nouns_too = Tag.ADJECTIVE in tags and word in _LISTS["ADJECTIVES_AND_NOUNS"]
        return tags | {Tag.SINGULAR} if nouns_too else tags
    if any(character.isdigit() for character in word):
        return frozenset((Tag.NUMBER, Tag.SINGULAR, Tag.ADJECTIVE, Tag.PLURAL))
    if "-" in word:
        last = tags_of(word.rsplit("-", 1)[1])
        return last - {Tag.BASE, Tag.THIRD, Tag.PREPOSITION} | {Tag.ADJECTIVE, Tag.SINGULAR}
    if word.endswith(("'s", "’s")):
        return frozenset((Tag.DETERMINER, Tag.ADJECTIVE))
    return _by_ending(word)


def _by_ending(word: str) -> frozenset[Tag]:
    if word.endswith("ly") and len(word) > 4:
        return frozenset((Tag.ADVERB,))
    if word.endswith("ing") and len(word) > 5:
        return frozenset((Tag.GERUND, Tag.SINGULAR))
    if word.endswith("ed") and len(word) > 4:
        return frozenset((Tag.PAST, Tag.PARTICIPLE, Tag.ADJECTIVE))
    if word.endswith(_LISTS["ADJECTIVE_ENDINGS"]):
        return frozenset((Tag.ADJECTIVE,))
    if word.endswith(("ers", "ors", "ists", "men")) and len(word) > 4:
        return frozenset((Tag.PLURAL,))
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return frozenset((Tag.PLURAL, Tag.THIRD))
    if word.endswith(_LISTS["NOUN_ENDINGS"]):
        return frozenset((Tag.SINGULAR,))
    if word.endswith(_LISTS["EITHER_ENDINGS"]):
        return frozenset((Tag.ADJECTIVE, Tag.SINGULAR))
    return frozenset((Tag.SINGULAR, Tag.ADJECTIVE, Tag.BASE))


def wants_an(word: str) -> bool:
    """Whether "an" stands before a word, by how it begins to sound.

    Capitals are spelt out ("an LED", "a UFO"), unless they are a word that somebody shouts ("a RED dress").
    """
    lowered = word.casefold()
    head = lowered.split("-")[0]
    if head[:1].isdigit():
        return head.startswith("8") or head in {"11", "18"} or (head[:2] in {"11", "18"} and len(head) == 2)
    spelt_out = head == "led" or (head not in LEXICON and len(head) < LONGEST_ABBREVIATION)
    if len(word) > 1 and word.split("-", maxsplit=1)[0].isupper() and spelt_out:
        return lowered[0] in LETTERS_WITH_VOWEL_SOUND
    if head in VOWEL_SOUND:
        return True
    if lowered.startswith(_LISTS["VOWEL_UNI"]):
        return True
    if lowered.startswith(_LISTS["CONSONANT_STARTS"]):
        return False
    return bool(lowered) and lowered[0] in "aeiouàáâäèéêëìíîïòóôöùúûü"
