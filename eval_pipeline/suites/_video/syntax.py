"""Whether a video prompt holds together grammatically: full sentences and fragments alike.

Video prompts are mostly fragments ("close-up of hands, warm light"), which grammar checkers for prose
reject. Here a text is read word by word by an automaton: each word may be any of its classes, and a
phrase such as "a tall" waits for its noun. The reading with the fewest faults counts. A text is sound
when a reading without any fault exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum, auto
from functools import lru_cache
from typing import NamedTuple

from eval_pipeline.suites._video.words import (
    AMOUNTS,
    BEFORE_OF,
    CAUSATIVES,
    LEXICON,
    OPENS_PREPOSITION,
    ORDINALS,
    PARTICLES,
    SINGULAR_DETERMINERS,
    TIMES,
    Tag,
    tags_of,
    wants_an,
)

_TOKEN = re.compile(r"[^\W_]+(?:['’./\-][^\W_]+)*|[,;:.!?()\[\]…—–\n]|(?<=\s)-(?=\s)")
_STOPS = frozenset(";:.!?()[]…—–-\n")
MOST_TOKENS = 2000
"""A longer text is read up to here: no prompt for a video model is that long."""


class At(IntEnum):
    """Where a reader stands, by what came last."""

    START = auto()
    COMMA = auto()
    DETERMINER = auto()
    ATTRIBUTE = auto()
    INTENSIFIER = auto()
    NOUN = auto()
    POSTPOSED = auto()
    PREPOSITION = auto()
    VERB = auto()
    GERUND = auto()
    PARTICIPLE = auto()
    BE = auto()
    HAVE = auto()
    MODAL = auto()
    TO = auto()
    CONJUNCTION = auto()
    SUBORDINATOR = auto()
    RELATIVE = auto()
    SUBJECT = auto()


class State(NamedTuple):
    """Where a reader stands, and what the phrase and the clause still allow."""

    at: At = At.START
    pending: bool = False
    """A determiner waits for its noun."""
    single: bool = False
    """The noun must be singular."""
    plural: bool = False
    """The noun just read is a plural."""
    modified: bool = False
    """The noun just read belongs to a preposition, not to the verb."""
    finite: bool = False
    """The clause has its verb."""
    causative: bool = False
    """A bare verb may follow the object: lets the lantern rise."""


class Fault(NamedTuple):
    """A word that does not fit where it stands."""

    start: int
    text: str
    after: str


class Token(NamedTuple):
    """A word or a mark with its place, in code points."""

    text: str
    start: int
    tags: frozenset[Tag]


class Reading(NamedTuple):
    """A text with a class for every word, and the places of what does not fit."""

    tokens: tuple[Token, ...]
    tags: tuple[Tag | None, ...]
    """None for a mark."""
    faults: tuple[int, ...]
    """Indices of tokens; their number stands for the end of the text."""


class _Path(NamedTuple):
    faults: int
    oddness: int
    before: _Path | None
    tag: Tag | None
    places: tuple[int, ...]


NOMINAL = {Tag.SINGULAR, Tag.PLURAL}
INSIDE = {Tag.ADJECTIVE, *NOMINAL, Tag.NUMBER, Tag.ADVERB, Tag.GERUND, Tag.PARTICIPLE}
PHRASE = {Tag.DETERMINER, *INSIDE, Tag.OBJECT}
FINITE = {Tag.BASE, Tag.THIRD, Tag.PAST, Tag.BE, Tag.HAVE, Tag.MODAL}
LINKS = {Tag.PREPOSITION, Tag.TO, Tag.CONJUNCTION, Tag.SUBORDINATOR, Tag.RELATIVE}
CLAUSE = {*PHRASE, Tag.SUBJECT, Tag.PREPOSITION, Tag.TO, Tag.SUBORDINATOR}

FOLLOWS: dict[At, set[Tag]] = {
    At.START: {*CLAUSE, Tag.BASE, Tag.CONJUNCTION, Tag.RELATIVE},
    At.COMMA: {*CLAUSE, *FINITE, Tag.CONJUNCTION, Tag.RELATIVE},
    At.DETERMINER: INSIDE,
    At.ATTRIBUTE: {*INSIDE, *LINKS},
    At.INTENSIFIER: {Tag.ADJECTIVE, Tag.GERUND, Tag.PARTICIPLE, Tag.ADVERB, Tag.NUMBER},
    At.NOUN: {*INSIDE, *LINKS, *FINITE, Tag.SUBJECT},
    At.POSTPOSED: {Tag.PREPOSITION, Tag.TO, Tag.CONJUNCTION, Tag.SUBORDINATOR, Tag.ADVERB},
    At.PREPOSITION: {*PHRASE, Tag.RELATIVE},
    At.VERB: {*PHRASE, *LINKS},
    At.GERUND: {*PHRASE, *LINKS},
    At.PARTICIPLE: {*INSIDE, *LINKS},
    At.BE: {*PHRASE, Tag.PREPOSITION, Tag.TO, Tag.SUBORDINATOR, Tag.RELATIVE},
    At.HAVE: {*PHRASE, Tag.TO, Tag.PREPOSITION, Tag.BASE},
    At.MODAL: {Tag.BASE, Tag.ADVERB, Tag.BE, Tag.HAVE},
    At.TO: {*PHRASE, Tag.BASE, Tag.BE, Tag.HAVE, Tag.RELATIVE},
    At.CONJUNCTION: {*CLAUSE, *FINITE, Tag.RELATIVE, Tag.CONJUNCTION},
    At.SUBORDINATOR: CLAUSE,
    At.RELATIVE: {*CLAUSE, *FINITE} - {Tag.OBJECT},
    At.SUBJECT: {*FINITE, Tag.ADVERB, Tag.RELATIVE, Tag.CONJUNCTION},
}
"""Which classes may stand after which; what a phrase still waits for narrows this further."""
LANDS: dict[Tag, At] = {
    **{tag: At[tag.name] for tag in Tag if tag.name in At.__members__},
    **dict.fromkeys((Tag.ADJECTIVE, Tag.NUMBER), At.ATTRIBUTE),
    **dict.fromkeys((Tag.SINGULAR, Tag.PLURAL, Tag.OBJECT), At.NOUN),
    **dict.fromkeys((Tag.BASE, Tag.THIRD, Tag.PAST), At.VERB),
}
"""Where a word of a class leads, as a rule."""
OPEN_ENDS = {
    At.DETERMINER,
    At.INTENSIFIER,
    At.POSTPOSED,
    At.MODAL,
    At.SUBJECT,
    *map(LANDS.__getitem__, LINKS),
}
"""Where a comma or an end leaves something unfinished."""


def is_sound(text: str) -> bool:
    """Whether a text has a reading without a fault; a text without words has none."""
    return any(character.isalnum() for character in text) and not faults(text)


def takes_place_of(text: str, original: str) -> bool:
    """Whether a phrase is of the kind of another: its noun comes last where the other's does.

    "Striped tunic" takes the place of "red dress"; "tunic striped" does not, nor a command ("frame it wide").
    Plurals may have a state after them ("arms crossed"), and so may what can be a verb in the place of one
    ("stands motionless").
    """
    head, after = _last_noun(tokenize(text))
    wanted, behind = _last_noun(tokenize(original))
    if wanted and not behind and read(text).tags[:1] == (Tag.BASE,) != read(original).tags[:1]:
        return False
    if head is None or after is None or behind or (Tag.PLURAL in head.tags and Tag.PARTICIPLE in after.tags):
        return True
    return wanted is None and bool(head.tags & FINITE)


def _last_noun(words: Sequence[Token]) -> tuple[Token | None, Token | None]:
    """The last word of a phrase that can be a noun, and what modifies it from behind."""
    size = len(words)
    while size and _only_modifies(words[size - 1]):
        size -= 1
    if not size or not words[size - 1].tags & NOMINAL:
        return None, None
    return words[size - 1], words[size] if size < len(words) else None


def _only_modifies(token: Token) -> bool:
    """Whether a word is no noun by itself: "the first" may be one, "light first" is none."""
    if token.text.casefold() in ORDINALS:
        return True
    return bool(token.tags & {Tag.ADJECTIVE, Tag.PARTICIPLE}) and not token.tags & {*NOMINAL, Tag.ADVERB}


def faults(text: str) -> list[Fault]:
    """What does not fit, in the best reading of a text."""
    reading = read(text)
    return [_fault(reading.tokens, index, text) for index in reading.faults]


@lru_cache(maxsize=2**12)
def read(text: str) -> Reading:
    """The reading of a text with the fewest faults; of several, the one with the fewest odd classes."""
    tokens = tokenize(text)
    readings: dict[State, _Path] = {State(): _Path(0, 0, None, None, ())}
    for index, token in enumerate(tokens):
        following: dict[State, _Path] = {}
        after = tokens[index + 1].tags if index + 1 < len(tokens) else frozenset[Tag]()
        for state, path in readings.items():
            for new, tag, fits in _steps(state, token, tokens, index):
                step = _Path(
                    path.faults + (not fits),
                    path.oddness + _odd(state, tag, token, after),
                    path,
                    tag,
                    path.places if fits else (*path.places, index),
                )
                if new not in following or step[:2] < following[new][:2]:
                    following[new] = step
        readings = following
    ends = [
        path._replace(faults=path.faults + 1, places=(*path.places, len(tokens)))
        if _unfinished(state)
        else path
        for state, path in readings.items()
    ]
    best = min(ends, key=lambda each: each[:2])
    tags: list[Tag | None] = []
    step_back: _Path | None = best
    while step_back is not None and step_back.before is not None:
        tags.append(step_back.tag)
        step_back = step_back.before
    wrong = sorted({*best.places, *_wrong_articles(tokens)})
    return Reading(tuple(tokens), tuple(reversed(tags)), tuple(wrong))


def _odd(state: State, tag: Tag | None, token: Token, after: frozenset[Tag]) -> int:
    """How unusual a class is for a word where it stands: settles which of two faultless readings is meant."""
    nominal_next = bool(after & NOMINAL)
    if tag is Tag.PLURAL and Tag.THIRD in token.tags:
        return 2 if state.at in (At.NOUN, At.SUBJECT) and not state.pending else 0
    if tag is Tag.THIRD and Tag.PLURAL in token.tags:
        return 0 if state.at in (At.NOUN, At.SUBJECT, At.RELATIVE, At.CONJUNCTION) else 2
    if tag is Tag.BASE:
        return 0 if state.at in (At.TO, At.MODAL, At.SUBJECT) or state.plural or state.causative else 2
    if tag is Tag.ADVERB and Tag.PREPOSITION in token.tags:
        return int(bool(after))
    if tag in (Tag.SINGULAR, Tag.ADJECTIVE) and {Tag.SINGULAR, Tag.ADJECTIVE} <= token.tags:
        return int((tag is Tag.SINGULAR) == nominal_next)
    if tag is Tag.SINGULAR and Tag.GERUND in token.tags:
        return 0 if state.pending or state.at is At.PREPOSITION else 1
    return int(tag is Tag.PAST and Tag.PARTICIPLE in token.tags and state.at is not At.NOUN)


def tokenize(text: str) -> list[Token]:
    """Words and marks; a dot between two words or digits belongs to them."""
    results: list[Token] = []
    for match in _TOKEN.finditer(text):
        word = match.group()
        known = tags_of(word.casefold()) if word[0].isalnum() else frozenset[Tag]()
        if word[:1].isupper() and results and results[-1].tags and Tag.DETERMINER not in known:
            known = known | {Tag.SINGULAR}
        results.append(Token(word, match.start(), known))
        if len(results) == MOST_TOKENS:
            break
    return results


def _fault(tokens: Sequence[Token], index: int, text: str) -> Fault:
    before = tokens[index - 1].text if index else ""
    if index == len(tokens):
        return Fault(len(text), "", before)
    return Fault(tokens[index].start, tokens[index].text, before)


def _unfinished(state: State) -> bool:
    return state.pending or state.at in OPEN_ENDS


def _steps(
    state: State, token: Token, tokens: Sequence[Token], index: int
) -> Iterator[tuple[State, Tag | None, bool]]:
    """Where a word can lead, as what, and whether it fits."""
    if not token.tags:
        new, fits = _mark(state, token)
        yield new, None, fits
        return
    word = token.text.casefold()
    before = tokens[index - 1].text.casefold() if index else ""
    after = tokens[index + 1].text.casefold() if index + 1 < len(tokens) else ""
    for tag in sorted(token.tags, key=lambda each: each.value):
        new, fits = _word(state, tag, word, before, after)
        yield new, tag, fits


def _mark(state: State, token: Token) -> tuple[State, bool]:
    if token.text in _STOPS:
        return State(At.START), not _unfinished(state)
    if state.pending and state.at in (At.ATTRIBUTE, At.GERUND, At.PARTICIPLE):
        return state._replace(at=At.ATTRIBUTE), True  # "a tall, dark stranger"
    return State(At.COMMA), not _unfinished(state)


def _word(state: State, tag: Tag, word: str, before: str, after: str) -> tuple[State, bool]:
    fits = tag in FOLLOWS[state.at] or _allowed_anyway(state, tag, word, before, after)
    if word == "of" and (state.at in (At.VERB, At.GERUND) or before in PARTICLES):
        fits = fits and before in BEFORE_OF
    if state.pending:
        return _inside_phrase(state, tag, word, fits)
    if tag in NOMINAL:
        plural = tag is Tag.PLURAL
        fits = fits and not (state.at is At.NOUN and (state.plural or (state.single and plural)))
        return state._replace(at=At.NOUN, plural=tag is Tag.PLURAL), fits
    if tag is Tag.ADVERB:
        if state.at is At.PREPOSITION and before in OPENS_PREPOSITION:
            return state._replace(at=At.NOUN, plural=False), True  # "from above"
        if state.at is At.PREPOSITION:
            return state._replace(at=At.INTENSIFIER, plural=False), fits
        return state._replace(plural=False), fits
    if tag is Tag.DETERMINER:
        single = word in SINGULAR_DETERMINERS and after not in AMOUNTS
        return state._replace(at=At.DETERMINER, pending=True, single=single, plural=False), fits
    if tag in FINITE:
        return _finite(state, tag, word, fits)
    modified = state.modified or tag in (Tag.PREPOSITION, Tag.GERUND, Tag.PARTICIPLE)
    new = state._replace(at=LANDS[tag], single=False, plural=False, modified=modified)
    if tag is Tag.ADJECTIVE and state.at is At.NOUN:
        new = new._replace(at=At.POSTPOSED)
    if tag in (Tag.CONJUNCTION, Tag.SUBORDINATOR, Tag.RELATIVE):
        new = State(new.at)
    if tag is Tag.GERUND:
        new = new._replace(causative=word in CAUSATIVES)
    return new, fits


def _inside_phrase(state: State, tag: Tag, word: str, fits: bool) -> tuple[State, bool]:
    """After a determiner, up to the noun it waits for."""
    if tag in NOMINAL:
        agrees = not (tag is Tag.PLURAL and state.single)
        done = state._replace(at=At.NOUN, pending=False, plural=tag is Tag.PLURAL)
        return done, fits and agrees
    if tag is Tag.ADVERB:
        return state._replace(at=At.INTENSIFIER), fits
    if tag in (Tag.ADJECTIVE, Tag.NUMBER, Tag.GERUND, Tag.PARTICIPLE):
        single = state.single and not word.endswith(("'s", "’s"))
        return state._replace(at=At.ATTRIBUTE, single=single), fits
    if tag is Tag.CONJUNCTION and state.at is At.ATTRIBUTE:
        return state._replace(at=At.INTENSIFIER), True
    return State(LANDS[tag], pending=tag is Tag.DETERMINER, finite=state.finite or tag in FINITE), False


def _finite(state: State, tag: Tag, word: str, fits: bool) -> tuple[State, bool]:
    """A verb that makes a clause: one for each, and "a dog run" is none."""
    bare = tag is Tag.BASE and state.causative and state.at in (At.NOUN, At.VERB)
    led = state.at in (At.MODAL, At.TO, At.HAVE)
    second = state.finite and not led and not bare and state.at not in (At.COMMA, At.CONJUNCTION, At.RELATIVE)
    disagrees = (
        state.at is At.NOUN
        and not bare
        and not state.modified
        and ((tag is Tag.BASE and state.single and not state.plural) or (tag is Tag.THIRD and state.plural))
    )
    guessed = tag is Tag.BASE and word not in LEXICON and not (led or state.plural or state.at is At.SUBJECT)
    new = State(LANDS[tag], finite=True, causative=word in CAUSATIVES)
    return new, fits and not second and not disagrees and not guessed


def _allowed_anyway(state: State, tag: Tag, word: str, before: str, after: str) -> bool:
    """The few pairs that hang on the words: "from behind", "that morning", "gives him a", "all the"."""
    if tag is Tag.PREPOSITION:
        return before in OPENS_PREPOSITION and word != "of"
    if tag is Tag.DETERMINER:
        return (state.at is At.NOUN and (after in TIMES or before in {"him", "her", "them", "it"})) or (
            before in {"all", "both", "half", "such"}
            or (before in {"her", "his", "its", "their"} and after in TIMES)
        )
    return False


def _wrong_articles(tokens: Sequence[Token]) -> Iterator[int]:
    """Words before which "a" stands for "an", or the other way round."""
    for index, token in enumerate(tokens[1:], 1):
        article = tokens[index - 1].text.casefold()
        if token.tags and article in ("a", "an") and wants_an(token.text) != (article == "an"):
            yield index
