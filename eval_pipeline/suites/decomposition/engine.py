"""The embedded engine: concepts and relationships of an English text by word classes and cue phrases.

No model is involved. Words get a coarse role from closed word classes and their neighbours; runs of
content words are candidates, ranked by how often and where they stand; a reader of clauses then links
the chosen concepts by what the verbs and cues between them state. It is the floor that a model must beat.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Literal

import msgspec

from eval_pipeline.metrics.text import normalize, words
from eval_pipeline.suites.decomposition import lexicon
from eval_pipeline.suites.decomposition.cases import DecompositionInput, Predicate
from eval_pipeline.suites.decomposition.lexicon import CLOSED_CLASSES, Inflection, Role, Statement
from eval_pipeline.suites.decomposition.scoring import Concept, Decomposition, ExtractedRelationship

LONGEST_SENTENCE = 1500
LONGEST_WORD = 40
LONGEST_PHRASE = 5
LONGEST_NAME = 10
LONGEST_SERIES = 12
FARTHEST_PARTICLE = 4
DEFINITION_WEIGHT = 1.5
PHRASE_ROLES = (Role.NOUN, Role.ADJECTIVE)
BOUNDARIES = (Role.CONJUNCTION, Role.COMMA)

_SENTENCE_END = re.compile(
    r"(?<![A-Z])(?<!\be\.g)(?<!\bi\.e)[.!?]['\"\u201d\u2019)\]]*\s+(?=[^\sa-z])|\n\s*\n"
)
_STRONG_PUNCTUATION = re.compile("[;:.!?\u2013\u2014]")

Stems = tuple[str, ...]
Triple = tuple[str, str, str]


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version of this engine chooses."""

    max_concepts: Annotated[int, msgspec.Meta(ge=1, le=500)] = 24
    """At most so many concepts, the best first."""
    minimum_mentions: Annotated[int, msgspec.Meta(ge=1, le=20)] = 2
    """A candidate that stands in the text fewer times is no concept, unless the text gives it two names."""
    minimum_score: Annotated[float, msgspec.Meta(ge=0, le=100)] = 2.0
    """A candidate that scores less is no concept."""
    role_weight: Annotated[float, msgspec.Meta(ge=0, le=10)] = 0.5
    """What each mention beside a verb or a cue adds, as a share of a mention."""
    quotes: Literal["sentence", "none"] = "sentence"
    """Whether a concept quotes the sentence that introduces it."""
    aliases: bool = True
    """Whether "full name (FN)" and "X, also called Y," name one concept."""
    predicates: tuple[Predicate, ...] = ("IS_A", "CAUSES", "PRECEDES", "REQUIRES", "RELATES_TO")
    """Which relationships are reported."""
    unstated: Literal["none", "verbs", "sentences"] = "none"
    """What else counts as RELATES_TO: nothing, any other verb between, or standing in one sentence."""


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


def decompose(prepared: DecompositionInput, parameters: Parameters, resources: object) -> Decomposition:
    """The concepts of a text, best first, and the relationships that it states between them."""
    sentences = [read_sentence(text) for text in split_sentences(prepared.source_text)]
    aliases = find_aliases(sentences) if parameters.aliases else {}
    chosen = choose(find_candidates(sentences, aliases), parameters)
    quoted = parameters.quotes == "sentence"
    concepts = [Concept(each.label, each.introduced_by if quoted else None) for each in chosen]
    names = {name: each.label for each in chosen for name in each.names}
    return Decomposition(concepts, relate(sentences, names, parameters))


def split_sentences(text: str) -> Iterator[str]:
    """Sentences as exact parts of the text; what never ends is cut, so that quotes stay short."""
    start = 0
    for boundary in (*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)):
        while start < boundary:
            end = boundary
            if end - start > LONGEST_SENTENCE:
                space = text.rfind(" ", start, start + LONGEST_SENTENCE)
                end = space + 1 if space > start else start + LONGEST_SENTENCE
            if sentence := text[start:end].strip():
                yield sentence
            start = end


def read_sentence(text: str) -> Sentence:
    """The words of a sentence with their roles, decided from left to right."""
    tokens: list[Token] = []
    end = 0
    for word in words(text):
        folded = normalize(word.text)
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
    if word.endswith("ly") and word not in lexicon.NOUNS_IN_LY:
        return Role.ADVERB
    verb = lexicon.VERB_FORMS.get(word)
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
        return True
    if verb.form == "past":
        return preceded_by is Role.NOUN or after not in PHRASE_ROLES
    if verb.form == "gerund":
        opens = preceded_by in (None, Role.PREPOSITION, Role.SUBORDINATOR)
        return after in (Role.DETERMINER, Role.PRONOUN) or (opens and after in PHRASE_ROLES and not ambiguous)
    if before is None or preceded_by in (Role.CONJUNCTION, Role.VERB):
        return not first and (not ambiguous or after is Role.DETERMINER)
    if preceded_by in (Role.PRONOUN, Role.RELATIVE) or before.folded == "to":
        return True
    modifier = lexicon.VERB_FORMS.get(before.folded)
    participle = modifier is not None and modifier.form == "past"
    if participle or preceded_by in (Role.DETERMINER, Role.ADJECTIVE, Role.PREPOSITION):
        return False
    if not ambiguous or (following and f"{verb.lemma}+{following.folded}" in lexicon.VERB_STATEMENTS):
        return True
    agrees = (before.folded != before.stem) == (verb.form == "base")
    return agrees and after in (Role.DETERMINER, *PHRASE_ROLES)


@dataclass
class Candidate:
    """A phrase that may be a concept, with what speaks for it."""

    stems: Stems
    introduced_by: str
    defined: bool
    mentions: int = 0
    roles: int = 0
    surfaces: Counter[str] = field(default_factory=Counter)
    names: set[Stems] = field(default_factory=set)

    @property
    def label(self) -> str:
        """The form that the text uses most; of equals, the one used first."""
        return max(self.surfaces, key=lambda surface: self.surfaces[surface])

    def score(self, role_weight: float) -> float:
        """Frequent, long and defined phrases beside verbs are concepts."""
        weight = self.mentions + role_weight * self.roles + DEFINITION_WEIGHT * self.defined
        return math.log2(1 + len(self.stems)) * weight


def find_candidates(sentences: Sequence[Sentence], aliases: Mapping[Stems, Stems]) -> list[Candidate]:
    """Every phrase of the text that could be a concept, in the order of first mention."""
    names = {*aliases, *aliases.values()}
    index = Names(names)
    found: dict[Stems, Candidate] = {}
    for sentence in sentences:
        for start, end in _phrases(sentence.tokens, index):
            stems = _stems(sentence.tokens[start:end])
            key = aliases.get(stems, stems)
            candidate = found.setdefault(key, Candidate(key, sentence.text, key in names))
            candidate.names.add(stems)
            candidate.mentions += 1
            candidate.roles += _stands_beside_verb(sentence.tokens, start, end)
            if stems == key:
                candidate.surfaces[_surface(sentence, start, end)] += 1
    return _fold_rare_specializations(found)


def _stands_beside_verb(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether a verb, or a cue such as "kind of", stands right before or after."""
    beside = (*tokens[max(0, start - 3) : start], *tokens[end : end + 2])
    return any(each.verb or f"{each.stem}+of" in lexicon.NOUN_STATEMENTS for each in beside)


def _stems(tokens: Sequence[Token]) -> Stems:
    return tuple(token.stem for token in tokens)


class Names:
    """Names of concepts, looked up where they may begin."""

    def __init__(self, names: Collection[Stems]) -> None:
        self._names = frozenset(names)
        self._longest: dict[str, int] = {}
        for name in names:
            self._longest[name[0]] = max(len(name), self._longest.get(name[0], 0))

    def end(self, tokens: Sequence[Token], start: int) -> int | None:
        """Where the longest name that begins here ends; no name goes across punctuation."""
        longest = self._longest.get(tokens[start].stem, 0)
        for stop in range(min(start + longest, len(tokens)), start, -1):
            unbroken = not any(token.gap for token in tokens[start + 1 : stop])
            if unbroken and _stems(tokens[start:stop]) in self._names:
                return stop
        return None


def _phrases(tokens: Sequence[Token], names: Names) -> Iterator[tuple[int, int]]:
    """Where names stand, and runs of content words without generic words at their edges."""
    start = 0
    while start < len(tokens):
        end = _run_end(tokens, start)
        content = [index for index in range(start, end) if tokens[index].role is Role.NOUN]
        name = _name_across(
            tokens, range(start, max(end, start + 1)), content[0] if content else start, names
        )
        if name is not None:
            yield name
            end = name[1]
        elif content and _can_be_concept(tokens[content[0] : content[-1] + 1]):
            yield content[0], content[-1] + 1
        start = max(end, start + 1)


def _run_end(tokens: Sequence[Token], start: int) -> int:
    end = start
    while end < len(tokens) and tokens[end].role in PHRASE_ROLES and not (tokens[end].gap and end > start):
        end += 1
    return end


def _name_across(tokens: Sequence[Token], run: range, content: int, names: Names) -> tuple[int, int] | None:
    """The name that covers a run's content or leads beyond it; one inside is only part of a phrase."""
    for start in run:
        end = names.end(tokens, start)
        if end is not None and (end > run.stop or (end == run.stop and start <= content)):
            return start, end
    return None


def _can_be_concept(tokens: Sequence[Token]) -> bool:
    if len(tokens) > 1:
        return len(tokens) <= LONGEST_PHRASE
    return len(tokens[0].folded) > 2 and lexicon.GENERIC_NOUNS.isdisjoint((tokens[0].folded, tokens[0].stem))


def _surface(sentence: Sentence, start: int, end: int) -> str:
    """The phrase as it stands, without the capital that only the start of a sentence gave it."""
    text = sentence.text[sentence.tokens[start].start : sentence.tokens[end - 1].end]
    only_initial = start == 0 and text[1:] == text[1:].lower()
    return " ".join((text.lower() if only_initial else text).split())


def _fold_rare_specializations(found: dict[Stems, Candidate]) -> list[Candidate]:
    """Count "severe X", said once, as a mention of X where X stands alone too."""
    for key in [key for key, each in found.items() if each.mentions == 1 and not each.defined]:
        heads = (found.get(key[start:]) for start in range(1, len(key)))
        head = next((each for each in heads if each and each.mentions + len(each.stems) > 2), None)
        if head is not None:
            head.mentions += 1
            head.roles += found.pop(key).roles
    return [each for each in found.values() if each.surfaces]


def choose(candidates: Sequence[Candidate], parameters: Parameters) -> list[Candidate]:
    """The best candidates, best first; of equals, the one mentioned first."""
    scored = [
        (each.score(parameters.role_weight), each)
        for each in candidates
        if each.defined or each.mentions >= parameters.minimum_mentions
    ]
    scored.sort(key=lambda pair: -pair[0])
    return [each for score, each in scored if score >= parameters.minimum_score][: parameters.max_concepts]


def find_aliases(sentences: Sequence[Sentence]) -> dict[Stems, Stems]:
    """Other names → the name that the text explains them by."""
    aliases: dict[Stems, Stems] = {}
    for tokens in (sentence.tokens for sentence in sentences):
        for index, token in enumerate(tokens):
            if token.gap == "(" and token.text[1:] != token.text[1:].lower():
                before = tokens[max(0, index - LONGEST_NAME) : index]
                aliases[(token.stem,)] = _stems(_full_name(token.text, before))
        for (start, end), (other, other_end) in pairwise(_phrases(tokens, Names(()))):
            between = " ".join(token.folded for token in tokens[end:other])
            enclosed = tokens[end].gap == "," and other_end < len(tokens) and tokens[other_end].gap == ","
            if enclosed and between in lexicon.RENAMINGS and tokens[start].gap != ",":
                aliases[_stems(tokens[other:other_end])] = _stems(tokens[start:end])
    return {alias: name for alias, name in aliases.items() if name and name not in aliases}


def _full_name(abbreviation: str, before: Sequence[Token]) -> Sequence[Token]:
    """The words before an abbreviation that it stands for: the fewest whose letters spell it."""
    letters = [letter for letter in abbreviation.casefold().removesuffix("s") if letter.isalpha()]
    for start in range(len(before) - 1, -1, -1):
        name = [token.folded for token in before[start:]]
        content = [word for word in name if word not in CLOSED_CLASSES]
        remaining = iter("".join(name))
        spelled = letters[0] == name[0][0] and all(letter in remaining for letter in letters)
        if spelled and len(content) <= len(letters):
            return before[start:]
        if before[start].gap:
            break
    return ()


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
    sentences: Sequence[Sentence], names: Mapping[Stems, str], parameters: Parameters
) -> list[ExtractedRelationship]:
    """The relationships between named concepts that the sentences state, one per pair and direction."""
    index = Names(names)
    stated: dict[tuple[str, str], str] = {}
    subjects: list[str] = []
    for sentence in sentences:
        reader = ClauseReader(list(_items(sentence.tokens, index, names)), subjects, parameters.unstated)
        for source, target, predicate in (*reader.read(), *reader.neighbours()):
            vague = stated.get((source, target), "RELATES_TO") == "RELATES_TO"
            if source != target and predicate in parameters.predicates and vague:
                stated[source, target] = predicate
        subjects = reader.main_subjects
    return [ExtractedRelationship(*ends, predicate) for ends, predicate in stated.items()]


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
            yield Item(Role.MENTION, labels[_stems(tokens[index:end])])
        else:
            negated = negated or token.folded in lexicon.NEGATIONS
            yield _item(tokens, index, passive=passive, negated=negated)
        transparent = token.role in (Role.ADVERB, Role.AUXILIARY, Role.ADJECTIVE, Role.DETERMINER)
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
        self._heading: Item | None = None
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
            elif item.role not in (Role.ADVERB, Role.ADJECTIVE, Role.AUXILIARY):
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
        if self._nearest and roles == [Role.COMMA, Role.DETERMINER] and not opens_clause:
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
            predicate, is_reversed = cue.statement
            self._cue = replace(cue, statement=Statement(predicate, not is_reversed))
            return self._cue.statement
        if cue.particle in prepositions:
            prepositions = prepositions[prepositions.index(cue.particle) + 1 :]
        return cue.statement if set(prepositions) <= {"of"} else None

    def _copula(self) -> Statement | None:
        """What "is" states: "X is a Y" and "Xs are Ys" more than "X is the Y" or a longer way round."""
        if any(item.role in (Role.PREPOSITION, Role.NOUN) for item in self._gap):
            return None
        if self._heading is not None and self._heading.statement is not None:
            return Statement(self._heading.statement.predicate, not self._heading.statement.reversed)
        return Statement("RELATES_TO" if any(item.word == "the" for item in self._gap) else "IS_A")

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
            self._heading = cue

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
