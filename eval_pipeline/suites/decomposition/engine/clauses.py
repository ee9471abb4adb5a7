"""Clauses of a sentence: which relationships they state between the concepts they mention."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from eval_pipeline.suites.decomposition.engine import lexicon
from eval_pipeline.suites.decomposition.engine.lexicon import Role, Statement
from eval_pipeline.suites.decomposition.engine.phrases import Names, Stems, stems_of
from eval_pipeline.suites.decomposition.engine.sentences import Sentence, Token

LONGEST_SERIES = 12
FARTHEST_PARTICLE = 4
SILENT_ROLES = (Role.ADVERB, Role.ADJECTIVE, Role.AUXILIARY)
BOUNDARIES = (Role.CONJUNCTION, Role.COMMA)

_STRONG_PUNCTUATION = re.compile("[;:.!?\u2013\u2014]")

Triple = tuple[str, str, str]
"""Source, target and predicate of a relationship."""


@dataclass(frozen=True)
class Item:
    """A part of a clause that matters for relationships."""

    role: Role
    word: str
    statement: Statement | None = None
    particle: str = ""
    passive: bool = False
    participle: bool = False


def relate(
    sentences: Sequence[Sentence], names: Mapping[Stems, str], *, predicates: Collection[str], unstated: str
) -> list[Triple]:
    """The relationships between named concepts that the sentences state, one per pair and direction."""
    index = Names(names)
    stated: dict[tuple[str, str], str] = {}
    subjects: list[str] = []
    for sentence in sentences:
        reader = ClauseReader(list(_items(sentence.tokens, index, names)), subjects, unstated)
        for source, target, predicate in (*reader.read(), *reader.neighbours()):
            vague = stated.get((source, target), "RELATES_TO") == "RELATES_TO"
            if source != target and predicate in predicates and vague:
                stated[source, target] = predicate
        subjects = reader.main_subjects
    return [(*ends, predicate) for ends, predicate in stated.items()]


def _items(tokens: Sequence[Token], names: Names, labels: Mapping[Stems, str]) -> Iterator[Item]:
    """A sentence reduced to what relationships are read from."""
    index = 0
    passive = negated = False
    while index < len(tokens):
        token = tokens[index]
        if token.gap:
            yield Item(Role.STOP if _STRONG_PUNCTUATION.search(token.gap) else Role.COMMA, token.gap)
        end = names.end(tokens, index)
        if end is not None:
            yield Item(Role.MENTION, labels[stems_of(tokens[index:end])])
        else:
            negated = negated or token.folded in lexicon.NEGATIONS
            yield _item(tokens, index, passive=passive, negated=negated)
        transparent = token.role in (*SILENT_ROLES, Role.DETERMINER)
        passive = token.role is Role.BE or (passive and transparent and end is None)
        negated = negated and (token.role is Role.BE or transparent) and end is None
        index = end or index + 1


def _item(tokens: Sequence[Token], index: int, *, passive: bool, negated: bool) -> Item:
    token = tokens[index]
    following = tokens[index + 1].folded if index + 1 < len(tokens) else ""
    if token.verb is not None:
        participle = token.verb.form == "past"
        passive = participle and (passive or following == "by")
        after = tokens[index + 1 : index + 1 + FARTHEST_PARTICLE]
        statement, particle = _verb_statement(token.verb.lemma, after, passive)
        return Item(Role.VERB, token.folded, None if negated else statement, particle, passive, participle)
    if token.folded == "including" or (token.folded, following) == ("such", "as"):
        return Item(Role.EXAMPLES, token.folded, Statement("IS_A", True), "as")
    cue = lexicon.NOUN_STATEMENTS.get(f"{token.stem}+{following}")
    return Item(Role.CUE, token.folded, cue, following) if cue else Item(token.role, token.folded)


def _verb_statement(lemma: str, after: Sequence[Token], passive: bool) -> tuple[Statement | None, str]:
    """What a verb states, alone or with a preposition that stands near, and that preposition."""
    for token in after:
        if token.gap or token.role in (Role.VERB, Role.CONJUNCTION, Role.RELATIVE):
            break
        phrase = f"{lemma}+{token.folded}"
        statement = lexicon.PASSIVE_STATEMENTS.get(phrase) if passive else None
        statement = statement or lexicon.VERB_STATEMENTS.get(phrase)
        if statement is not None:
            return statement, token.folded
    return lexicon.VERB_STATEMENTS.get(lemma), ""


class ClauseReader:
    """Reads the items of one sentence from left to right and says what they state."""

    def __init__(self, items: Sequence[Item], earlier_subjects: Sequence[str], unstated: str) -> None:
        self._items = items
        self._unstated = unstated
        self.main_subjects = list(earlier_subjects)
        """What "it" or "they" means: the subjects of the last main clause."""
        self._subjects: list[str] = []
        self._outer: list[str] = []
        """The subjects to return to after a relative clause or an apposition."""
        self._pending: list[str] = []
        """Mentions that await their verb."""
        self._heading: Statement | None = None
        """A cue before the verb: "the main cause of X is Y"."""
        self._cue: Item | None = None
        """The verb or cue whose objects come next."""
        self._linked = False
        """Whether the cue has had its first object."""
        self._nearest = ""
        self._gap: list[Item] = []
        """Items since the last mention or cue."""

    def read(self) -> Iterator[Triple]:
        """The (source, target, predicate) that the sentence states."""
        for item, following in pairwise((*self._items, Item(Role.STOP, ""))):
            if item.role is Role.MENTION:
                yield from self._read_mention(item.word, following)
            elif item.role in (Role.VERB, Role.BE):
                self._read_verb(item)
            elif item.role is Role.CUE:
                self._read_cue(item)
            elif item.role is Role.EXAMPLES:
                self._open_aside(item)
            elif item.role is Role.RELATIVE:
                self._read_relative()
            elif item.role in (Role.STOP, Role.SUBORDINATOR):
                self._stop()
            elif item.role not in SILENT_ROLES or item.word in lexicon.NEGATIONS:
                self._read_filler(item)

    def neighbours(self) -> Iterator[Triple]:
        """Mentions side by side, where standing in one sentence is to count as a relationship."""
        if self._unstated == "sentences":
            mentions = [item.word for item in self._items if item.role is Role.MENTION]
            yield from ((source, target, "RELATES_TO") for source, target in pairwise(mentions))

    def _read_mention(self, concept: str, following: Item) -> Iterator[Triple]:
        roles = [item.role for item in self._gap]
        finite = following.role is Role.BE or (following.role is Role.VERB and not following.participle)
        opens_clause = finite and any(role in BOUNDARIES for role in roles)
        in_series = opens_clause or following.role is Role.CONJUNCTION
        if self._nearest and roles == [Role.COMMA, Role.DETERMINER] and not in_series:
            yield self._nearest, concept, "IS_A"
        elif self._nearest and [item.word for item in self._gap[-2:]] in (["and", "other"], ["or", "other"]):
            yield from ((each, concept, "IS_A") for each in self._pending or [self._nearest])
        elif self._cue is None or opens_clause:
            self._await_verb(concept)
            self._nearest = concept
        else:
            statement = self._stated_here()
            self._linked = True
            yield from self._link(statement, concept)
            # "X is a Y that …" goes on about X.
            says_what_it_is = statement == Statement("IS_A") and self._subjects
            self._nearest = self._subjects[-1] if says_what_it_is else concept
        self._gap = []

    def _await_verb(self, concept: str) -> None:
        fresh = not self._pending or self._cue is not None
        if not fresh and self._is_coordinated() and len(self._pending) < LONGEST_SERIES:
            self._pending.append(concept)
        elif fresh or any(item.role is Role.COMMA for item in self._gap):
            self._pending = [concept]
        self._cue = None

    def _is_coordinated(self) -> bool:
        roles = {item.role for item in self._gap}
        joining = {*BOUNDARIES, Role.DETERMINER, Role.PREPOSITION}
        return bool(roles) and self._gap[0].role in BOUNDARIES and roles <= joining

    def _stated_here(self) -> Statement | None:
        """What the cue states about a mention at this distance from it."""
        cue = self._cue
        if cue is None or (self._linked and not self._is_coordinated()):
            return None
        if self._linked:
            return cue.statement
        if cue.role is Role.BE:
            self._cue = replace(cue, statement=self._copula())
            return self._cue.statement
        prepositions = [item.word for item in self._gap if item.role is Role.PREPOSITION]
        if cue.passive and "by" in prepositions and cue.particle != "by" and cue.statement is not None:
            self._cue = replace(cue, statement=cue.statement.converse())
            return self._cue.statement
        if cue.particle in prepositions:
            prepositions = prepositions[prepositions.index(cue.particle) + 1 :]
        return cue.statement if set(prepositions) <= {"of"} else None

    def _copula(self) -> Statement | None:
        """What "is" states: "X is a Y" and "Xs are Ys" more than "X is the Y" or a longer way round."""
        heading, self._heading = self._heading, None
        between = {item.word for item in self._gap}
        if (
            any(item.role in (Role.PREPOSITION, Role.NOUN) for item in self._gap)
            or between & lexicon.NEGATIONS
        ):
            return None
        if heading is not None:
            return heading.converse()
        return Statement("RELATES_TO" if "the" in between else "IS_A")

    def _link(self, statement: Statement | None, target: str) -> Iterator[Triple]:
        if statement is None and self._unstated == "none":
            return
        predicate, is_reversed = statement or Statement("RELATES_TO")
        for source in self._subjects:
            yield (target, source, predicate) if is_reversed else (source, target, predicate)

    def _read_verb(self, verb: Item) -> None:
        self._find_subjects()
        if not self._outer:
            self.main_subjects = self._subjects or self.main_subjects
        self._start_cue(verb)

    def _find_subjects(self) -> None:
        boundaries = [index for index, item in enumerate(self._gap) if item.role in BOUNDARIES]
        tail = self._gap[boundaries[-1] + 1 :] if boundaries else self._gap
        unnamed = any(item.role in (Role.NOUN, Role.PRONOUN) for item in tail)
        if self._pending:
            self._subjects = self._pending
        elif unnamed and (boundaries or self._cue is None):
            self._subjects = []
        elif self._outer and boundaries and not tail:
            self._subjects, self._outer = self._outer, []

    def _start_cue(self, cue: Item) -> None:
        self._pending, self._gap = [], []
        self._cue = cue
        self._linked = False

    def _read_cue(self, cue: Item) -> None:
        roles = [item.role for item in self._gap]
        if roles[:1] == [Role.COMMA] and {*roles} <= {Role.COMMA, Role.DETERMINER} and self._nearest:
            self._open_aside(cue)
        elif self._cue is not None and not self._linked:
            self._start_cue(cue)
        elif self._cue is None and not self._pending:
            self._heading = cue.statement

    def _open_aside(self, cue: Item) -> None:
        """What follows is about the nearest mention, until the clause around it goes on."""
        self._outer = self._outer or self._pending or self._subjects
        self._subjects = [self._nearest] if self._nearest else []
        self._start_cue(cue)

    def _read_relative(self) -> None:
        if self._gap and self._gap[-1].role is Role.PREPOSITION:
            self._stop()
        elif self._nearest:
            self._outer = self._outer or self._pending or self._subjects
            self._pending, self._gap = [self._nearest], []
            self._cue = None

    def _stop(self) -> None:
        self._subjects, self._pending, self._outer, self._gap = [], [], [], []
        self._cue = self._heading = None

    def _read_filler(self, item: Item) -> None:
        if item.word in lexicon.SUBJECT_PRONOUNS and (self._cue is None or self._gap):
            self._pending = list(self.main_subjects)
            self._cue = None
        self._gap.append(item)
