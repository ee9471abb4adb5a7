"""The role of every word in an English sentence.

Roles are coarse: a word gets its own from closed word classes, from the verb forms it can be, and from
its neighbours.
"""

from dataclasses import dataclass

from eval_pipeline.metrics.text import normalize, words
from eval_pipeline.suites.decomposition.engine import lexicon
from eval_pipeline.suites.decomposition.engine.inflections import VERB_FORMS, Inflection
from eval_pipeline.suites.decomposition.engine.lexicon import CLOSED_CLASSES, Role

LONGEST_WORD = 40
PHRASE_ROLES = (Role.NOUN, Role.ADJECTIVE)
"""What the words of a phrase are."""


@dataclass
class Token:
    """A word, the punctuation before it, and its role."""

    text: str
    start: int
    end: int
    gap: str
    folded: str
    stem: str
    role: Role = Role.NOUN
    verb: Inflection | None = None


@dataclass(frozen=True)
class Sentence:
    """A sentence as it stands in the text, and its words."""

    text: str
    tokens: list[Token]


def read_sentence(text: str) -> Sentence:
    """The words of a sentence with their roles, decided from left to right."""
    tokens: list[Token] = []
    end = 0
    for word in words(text):
        folded = word.text.lower() if word.text.isascii() else normalize(word.text)
        gap = text[end : word.start].strip()
        tokens.append(Token(word.text, word.start, word.end, gap, folded, _stem(folded)))
        end = word.end
    previous: Token | None = None
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) and not tokens[index + 1].gap else None
        before = None if token.gap else previous
        token.role = _role(token, before, following, first=index == 0)
        # An adverb does not change what may follow the word before it.
        previous = before if token.role is Role.ADVERB and before is not None else token
    return Sentence(text, tokens)


def _stem(folded: str) -> str:
    """A word without the ending of a plural: a key for comparison, not necessarily a word."""
    if len(folded) < 4 or not folded.endswith("s") or folded.endswith(("ss", "us", "is")):
        return folded
    if folded.endswith("ies"):
        return folded[:-3] + "y"
    return folded[:-2] if folded.endswith(("sses", "xes", "ches", "shes")) else folded[:-1]


def _role(token: Token, before: Token | None, following: Token | None, *, first: bool) -> Role:
    word = token.folded
    pair = f"{word} {following.folded}" if following else ""
    if len(word) > LONGEST_WORD or word[0].isdigit():
        return Role.ADJECTIVE
    if pair in lexicon.ADVERBIALS or (before and f"{before.folded} {word}" in lexicon.ADVERBIALS):
        return Role.CONJUNCTION if pair == "as well" else Role.ADVERB
    # A capital inside a sentence marks a name, whatever the word means elsewhere.
    if not first and token.text[0].isupper() and word not in lexicon.PRONOUNS:
        return Role.NOUN
    if word == "that" and before is not None and before.role is Role.VERB:
        return Role.SUBORDINATOR
    if word in CLOSED_CLASSES:
        return CLOSED_CLASSES[word]
    if word.endswith("ly") and not word.endswith("oly") and word not in lexicon.NOUNS_IN_LY:
        return Role.ADVERB
    verb = VERB_FORMS.get(word)
    if verb is None or not _is_verb_here(verb, before, following, first=first):
        return Role.NOUN
    token.verb = verb
    return Role.VERB


def _is_verb_here(verb: Inflection, before: Token | None, following: Token | None, *, first: bool) -> bool:
    """Whether a word that can be a verb is one between these neighbours."""
    after = None if following is None else CLOSED_CLASSES.get(following.folded, Role.NOUN)
    ambiguous = verb.lemma in lexicon.NOUN_VERBS
    preceded_by = None if before is None else before.role
    if preceded_by in (Role.BE, Role.AUXILIARY):
        return verb.form != "present" and (verb.form != "base" or preceded_by is Role.AUXILIARY)
    if verb.form == "past":
        return preceded_by is Role.NOUN or after not in PHRASE_ROLES
    if verb.form == "gerund":
        opens = preceded_by in (None, Role.PREPOSITION, Role.SUBORDINATOR)
        return after in (Role.DETERMINER, Role.PRONOUN) or (opens and after in PHRASE_ROLES and not ambiguous)
    if before is None or preceded_by in (Role.CONJUNCTION, Role.VERB):
        return not first and (not ambiguous or after is Role.DETERMINER)
    if preceded_by in (Role.PRONOUN, Role.RELATIVE) or before.folded == "to":
        return True
    modifier = VERB_FORMS.get(before.folded)
    participle = modifier is not None and modifier.form == "past"
    if participle or preceded_by in (Role.DETERMINER, Role.ADJECTIVE, Role.PREPOSITION):
        return False
    if not ambiguous or (following and f"{verb.lemma}+{following.folded}" in lexicon.VERB_STATEMENTS):
        return True
    agrees = (before.folded != before.stem) == (verb.form == "base")
    return agrees and after in (Role.DETERMINER, *PHRASE_ROLES)
