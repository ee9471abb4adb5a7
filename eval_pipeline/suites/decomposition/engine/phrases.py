"""Phrases of a text: which of them are concepts, and which name the same one."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from eval_pipeline.suites.decomposition.engine import lexicon
from eval_pipeline.suites.decomposition.engine.lexicon import CLOSED_CLASSES, Role
from eval_pipeline.suites.decomposition.engine.sentences import PHRASE_ROLES, Sentence, Token

LONGEST_PHRASE = 5
LONGEST_NAME = 10
DEFINITION_WEIGHT = 1.5

Stems = tuple[str, ...]
"""What all forms of one name have in common."""


def stems_of(tokens: Sequence[Token]) -> Stems:
    """The name that these words make."""
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
            if unbroken and stems_of(tokens[start:stop]) in self._names:
                return stop
        return None


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
    results: dict[Stems, Candidate] = {}
    for sentence in sentences:
        for start, end in _phrases(sentence.tokens, index):
            stems = stems_of(sentence.tokens[start:end])
            key = aliases.get(stems, stems)
            candidate = results.setdefault(key, Candidate(key, sentence.text, key in names))
            candidate.names.add(stems)
            candidate.mentions += 1
            candidate.roles += _stands_beside_verb(sentence.tokens, start, end)
            if stems == key:
                candidate.surfaces[_surface(sentence, start, end)] += 1
    return _fold_rare_specializations(results)


def _stands_beside_verb(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether a verb, or a cue such as "kind of", stands right before or after."""
    beside = (*tokens[max(0, start - 3) : start], *tokens[end : end + 2])
    return any(each.verb or f"{each.stem}+of" in lexicon.NOUN_STATEMENTS for each in beside)


def _phrases(tokens: Sequence[Token], names: Names) -> Iterator[tuple[int, int]]:
    """Where names stand, and runs of content words without generic words at their edges."""
    start = 0
    while start < len(tokens):
        end = _run_end(tokens, start)
        content = [index for index in range(start, end) if tokens[index].role is Role.NOUN]
        run = range(start, max(end, start + 1))
        name = _name_across(tokens, run, content[0] if content else start, names)
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


def choose(
    candidates: Sequence[Candidate],
    *,
    max_concepts: int,
    minimum_mentions: int,
    minimum_score: float,
    role_weight: float,
) -> list[Candidate]:
    """The best candidates, best first; of equals, the one mentioned first."""
    scored = [
        (each.score(role_weight), each)
        for each in candidates
        if each.defined or each.mentions >= minimum_mentions
    ]
    scored.sort(key=lambda pair: -pair[0])
    return [each for score, each in scored if score >= minimum_score][:max_concepts]


def find_aliases(sentences: Sequence[Sentence]) -> dict[Stems, Stems]:
    """Other names → the name that the text explains them by."""
    aliases: dict[Stems, Stems] = {}
    for tokens in (sentence.tokens for sentence in sentences):
        for index, token in enumerate(tokens):
            if token.gap == "(" and token.text[1:] != token.text[1:].lower():
                before = tokens[max(0, index - LONGEST_NAME) : index]
                aliases[(token.stem,)] = stems_of(_full_name(token.text, before))
        for (start, end), (other, other_end) in pairwise(_phrases(tokens, Names(()))):
            between = " ".join(token.folded for token in tokens[end:other])
            enclosed = tokens[end].gap == "," and other_end < len(tokens) and tokens[other_end].gap == ","
            if enclosed and between in lexicon.RENAMINGS and tokens[start].gap != ",":
                aliases[stems_of(tokens[other:other_end])] = stems_of(tokens[start:end])
    return {alias: name for alias, name in aliases.items() if name and name not in aliases}


def _full_name(abbreviation: str, before: Sequence[Token]) -> Sequence[Token]:
    """The words before an abbreviation that it stands for: the fewest whose letters spell it."""
    letters = [letter for letter in abbreviation.casefold().removesuffix("s") if letter.isalpha()]
    for start in range(len(before) - 1, -1, -1) if letters else ():
        name = [token.folded for token in before[start:]]
        content = [word for word in name if word not in CLOSED_CLASSES]
        remaining = iter("".join(name))
        spelled = letters[0] == name[0][0] and all(letter in remaining for letter in letters)
        if spelled and len(content) <= len(letters):
            return before[start:]
        if before[start].gap:
            break
    return ()
