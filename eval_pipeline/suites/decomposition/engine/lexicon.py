"""General English for the embedded engine: closed word classes, common verbs, and what verbs state.

Nothing here belongs to a topic: a word is listed because of its role in any English sentence.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from eval_pipeline.language.word_lists import word_lists, word_sets

RENAMINGS = frozenset(("or", "also called", "also known as", "known as", "often called", "sometimes called"))
"""What stands between two names of one thing: "X, also called Y,"."""
ADVERBIALS = frozenset(
    f"{first} {second}"
    for first, seconds in word_lists(__package__, "data/adverbials.txt").items()
    for second in seconds
)
_WORDS = word_sets(__package__, "data/words.txt")
SUBJECT_PRONOUNS = _WORDS["SUBJECT_PRONOUNS"]
NEGATIONS = _WORDS["NEGATIONS"]
NOUNS_IN_LY = _WORDS["NOUNS_IN_LY"]
GENERIC_NOUNS = _WORDS["GENERIC_NOUNS"]
NOUN_VERBS = _WORDS["NOUN_VERBS"]
VERBS = _WORDS["VERBS"]


class Role(Enum):
    """What a word does in its sentence, coarsely; the last five are parts that a reader of clauses sees."""

    NOUN = auto()
    ADJECTIVE = auto()
    ADVERB = auto()
    VERB = auto()
    BE = auto()
    AUXILIARY = auto()
    DETERMINER = auto()
    PREPOSITION = auto()
    CONJUNCTION = auto()
    RELATIVE = auto()
    SUBORDINATOR = auto()
    PRONOUN = auto()
    MENTION = auto()
    CUE = auto()
    EXAMPLES = auto()
    COMMA = auto()
    STOP = auto()


_ROLES = word_sets(__package__, "data/roles.txt")
PRONOUNS = _ROLES["PRONOUN"]
CLOSED_CLASSES = {word: Role[name] for name, words in _ROLES.items() for word in words}
"""Words that have the same role nearly everywhere; of two roles, the one listed later counts."""


class Statement(NamedTuple):
    """What a verb or noun says about its subject and object."""

    predicate: str
    reversed: bool = False

    def converse(self) -> Statement:
        """The same with subject and object exchanged."""
        return Statement(self.predicate, not self.reversed)


REVERSED = " reversed"
"""What follows the name of a predicate whose subject and object are exchanged."""


def _statements(file: str) -> dict[str, Statement]:
    return {
        phrase: Statement(name.removesuffix(REVERSED), name.endswith(REVERSED))
        for name, phrases in word_lists(__package__, file).items()
        for phrase in sorted(phrases)
    }


VERB_STATEMENTS = _statements("data/verb_statements.txt")
PASSIVE_STATEMENTS = _statements("data/passive_statements.txt")
NOUN_STATEMENTS = _statements("data/noun_statements.txt")
