"""What a sentence claims: its content words, the numbers, dates and names in it, and whether it denies."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, pairwise

from eval_pipeline.language.negation import NEGATORS, Negation, is_denied, negations
from eval_pipeline.language.sentences import split_sentences
from eval_pipeline.language.stems import stem_in
from eval_pipeline.metrics.rates import ratio
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suites.heritage_qa.lexicon import FUNCTION_WORDS, MONTHS, NAMES_AFTER, YES

ENOUGH = 0.6
"""The share of a claim's content words that its evidence must hold."""
TOLERANCE = 1e-9
MOST_SENTENCES = 200
"""What has more sentences answers no question; one more than these is read, to tell."""
LONGEST_REMEMBERED = 2_000
"""Characters of a text that is read once; no passage is longer."""
REMEMBERED = 2**12
"""So many texts are."""

_NUMBER = re.compile(r"\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+(?!\d)|\d+(?:[.,]\d+)?")
_GROUPED = re.compile(r"\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+")
_WORD = re.compile(r"[^\W_]+")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Claim:
    """One sentence, as far as it can be checked."""

    text: str
    content: frozenset[str]
    """The stems of its words, without function words."""
    anchors: frozenset[str]
    """The numbers in it, and the stems of the months and names: each must stand in what supports it."""
    order: tuple[str, ...] = ()
    """The stems of its words and its numbers as they stand, without function words."""
    denied: frozenset[str] = frozenset()
    """What of these it denies."""
    disputes: bool = False
    """Whether it says that all of this is not so."""
    negated: bool = False
    """Whether it holds a negation."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it to check."""
        return not self.terms

    @cached_property
    def terms(self) -> frozenset[str]:
        """All that can be checked: content words, numbers, dates and names."""
        return self.content | self.anchors

    @cached_property
    def affirmed(self) -> frozenset[str]:
        """What of these it does not deny."""
        return self.terms - self.denied

    def denies_what(self, affirmed: frozenset[str]) -> bool:
        """Whether all that it denies is affirmed: every number, date and name, and enough of the words."""
        return bool(self.denied) and self.anchors & self.denied <= affirmed and self._enough(affirmed)

    def denies_with(self, denied: frozenset[str]) -> bool:
        """Whether what it denies is denied, whatever name that goes by there."""
        return not self.denied.isdisjoint(denied) and self._enough(denied)

    def restates(self, other: Claim) -> bool:
        """Whether it has the same numbers, dates and names as another one, and its words, in its order.

        Some may be left out; one that the other does not have may be the one that turns what it says round.
        """
        if self.empty or self.anchors != other.anchors or not self.content <= other.content:
            return False
        words, others = self.content - self.anchors, other.content - other.anchors
        if len(words) < ENOUGH * len(others) - TOLERANCE:
            return False
        shared = [term for term in self.order if term in other.order or _DIGIT.search(term)]
        rest = iter(other.order)
        return all(term in rest for term in shared)

    def _enough(self, others: frozenset[str]) -> bool:
        words = (self.content - self.anchors) & self.denied
        return len(words & others) >= ENOUGH * len(words) - TOLERANCE


@dataclass(frozen=True)
class Evidence:
    """What stands in a text that claims are checked against."""

    stems: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, text: str, language: str) -> Evidence:
        """What stands in a text."""
        return read(text, language).evidence

    def __or__(self, other: Evidence) -> Evidence:
        return Evidence(self.stems | other.stems, self.numbers | other.numbers)

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its stems and numbers."""
        return self.stems | self.numbers

    def supports(self, claim: Claim) -> bool:
        """Whether it holds every number, date and name of a claim and enough of its content words."""
        if claim.empty or not claim.anchors <= self.terms:
            return False
        return len(claim.content & self.stems) >= ENOUGH * len(claim.content) - TOLERANCE


class Reading:
    """A text of some language as claims need it, each part read when it is first asked for."""

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._language = language

    @cached_property
    def words(self) -> list[str]:
        """Normalized words, in order."""
        return _plain_words(self._text)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The same, each once."""
        return frozenset(self.words)

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Words that stand side by side."""
        return frozenset(pairwise(self.words))

    @cached_property
    def evidence(self) -> Evidence:
        """What claims are checked against."""
        stems = frozenset(stem_in(self._language, word) for word in self.vocabulary)
        return Evidence(stems, frozenset(numbers_in(self._text)))

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """What each sentence claims."""
        sentences = islice(split_sentences(self._text), MOST_SENTENCES + 1)
        return tuple(_claim(sentence, self._language) for sentence in sentences)

    @cached_property
    def names(self) -> frozenset[str]:
        """Words of names in any of its sentences."""
        sentences = split_sentences(self._text)
        return frozenset(name for each in sentences for name in names_in(each, self._language))

    @cached_property
    def denies(self) -> bool:
        """Whether it holds a negation."""
        return bool(negations(normalize(self._text), self._language))


_remembered = lru_cache(maxsize=REMEMBERED)(Reading)


def read(text: str, language: str) -> Reading:
    """A text, read once where it comes back: passages and golden answers meet one answer after the other."""
    return (_remembered if len(text) <= LONGEST_REMEMBERED else Reading)(text, language)


def claims_in(text: str, language: str, known_names: Collection[str] = ()) -> Sequence[Claim]:
    """The claims of an answer: its sentences.

    `known_names` are words that are written with a capital elsewhere: they tell a name from a common
    word at the beginning of a sentence.
    """
    claims = read(text, language).claims
    return [_opening_with_name(claim, language, known_names) for claim in claims] if known_names else claims


def _opening_with_name(claim: Claim, language: str, known_names: Collection[str]) -> Claim:
    """A claim, or the same with its first word as a name, where that is known as one."""
    first = _WORD.search(normalize(claim.text))
    word = first.group() if first else ""
    if word not in known_names or word in FUNCTION_WORDS.get(language, ()):
        return claim
    return claim if stem_in(language, word) in claim.anchors else _claim(claim.text, language, word)


def _claim(sentence: str, language: str, *known_names: str) -> Claim:
    plain = _plain_words(sentence)
    names = names_in(sentence, language).union(known_names)
    months = MONTHS.get(language, frozenset()).intersection(plain)
    content = frozenset(content_stems(sentence, language))
    anchors = {*numbers_in(sentence), *(stem_in(language, word) for word in (*names, *months))}
    denials = negations(normalize(sentence), language)
    return Claim(
        sentence,
        content,
        frozenset(anchors),
        tuple(stem_in(language, word) for word in plain if word not in _skipped(language)),
        _denied(normalize(sentence), denials, language) & (content | anchors),
        sum(each.disputes for each in denials) % 2 == 1,
        bool(denials),
    )


def _denied(text: str, denials: Sequence[Negation], language: str) -> frozenset[str]:
    """The words, by stem, and numbers of a normalized text that one of these denies and does not dispute."""
    inside = [each for each in denials if not each.disputes]
    places = [match for pattern in (_WORD, _NUMBER) for match in pattern.finditer(text)] if inside else []
    return frozenset(
        term
        for match in places
        if is_denied(inside, *match.span())
        for term in (stem_in(language, match.group()), *numbers_in(match.group()))
    )


def content_stems(text: str, language: str) -> list[str]:
    """The stems of the words of a text, without function words, negations and bare numbers."""
    skipped = _skipped(language)
    return [
        stem_in(language, word) for word in _plain_words(text) if word not in skipped and not word.isdigit()
    ]


@lru_cache(maxsize=8)
def _skipped(language: str) -> frozenset[str]:
    """Function words and negations."""
    return FUNCTION_WORDS.get(language, frozenset()) | NEGATORS.get(language, frozenset())


def numbers_in(text: str) -> set[str]:
    """The numbers of a text, as digits: `4.000`, `4,000` and `4 000` are one number."""
    results = set()
    for match in _NUMBER.finditer(normalize(text)):
        number = match.group()
        grouped = _GROUPED.fullmatch(number)
        results.add(re.sub(r"\D", "", number) if grouped else number.replace(",", "."))
    return results


def names_in(sentence: str, language: str) -> set[str]:
    """The words of names: those with a capital inside a sentence.

    German writes every noun with a capital: there it takes a second one beside it, or a word before it
    that no article follows.
    """
    function = FUNCTION_WORDS.get(language, frozenset())
    results = list(_WORD.finditer(sentence))
    folded = [normalize(match.group()) for match in results]
    capital = [
        match.group()[0].isupper() and word not in function
        for match, word in zip(results, folded, strict=True)
    ]
    beside = [
        first and second and sentence[match.end() : after.start()] in (" ", "-")
        for first, second, match, after in zip(capital, capital[1:], results, results[1:], strict=False)
    ]
    joined = [left or right for left, right in zip([False, *beside], [*beside, False], strict=True)]
    return {
        word
        for index, word in enumerate(folded)
        if capital[index]
        and (joined[index] or (index > 0 and (language != "de" or folded[index - 1] in NAMES_AFTER)))
    }


def stems_of_names(sentence: str, language: str) -> set[str]:
    """The stems of the names in a sentence."""
    return {stem_in(language, name) for name in names_in(sentence, language)}


def capitalized_inside(texts: Iterable[str], language: str) -> frozenset[str]:
    """Words of names in any of some texts."""
    return frozenset().union(*(read(text, language).names for text in texts))


def joined_names(text: str) -> set[str]:
    """Two words with a capital side by side, such as "tidewrack trust": a name made of known words."""
    found = list(_WORD.finditer(text))
    return {
        normalize(f"{first.group()} {second.group()}")
        for first, second in pairwise(found)
        if first.group()[0].isupper()
        and second.group()[0].isupper()
        and text[first.end() : second.start()] == " "
    }


def kept_pairs(text: str, sources: Iterable[str], language: str) -> float | None:
    """Of neighbouring words that both stand in some source, the share that stands side by side in one.

    Words that no source has say nothing about order, so that a paraphrase loses nothing.
    """
    known = [read(source, language) for source in sources]
    words = read(text, language).words
    told = {word for word in words if any(word in each.vocabulary for each in known)}
    pairs = [pair for pair in pairwise(words) if told.issuperset(pair)]
    kept = sum(any(pair in each.pairs for each in known) for pair in pairs)
    return ratio(kept, len(pairs))


def affirms(sentence: str, language: str) -> bool:
    """Whether a sentence begins with yes."""
    return read(sentence, language).words[:1] == [YES.get(language)]


def agrees(claim: Claim, known: Sequence[Claim]) -> bool:
    """Whether a claim denies nothing that others affirm, and affirms nothing that they deny.

    What is denied here and there is agreed on, whatever else is said. A claim that disputes what it says
    agrees where that would not.
    """
    denied = any(claim.denies_with(each.denied) for each in known)
    opposed = any(claim.denies_what(each.affirmed) or each.denies_what(claim.affirmed) for each in known)
    return (denied or not opposed) != claim.disputes


def _plain_words(text: str) -> list[str]:
    """Normalized words; the parts of `l'archive` and `Sint-Oda` count by themselves."""
    return _WORD.findall(normalize(text))
