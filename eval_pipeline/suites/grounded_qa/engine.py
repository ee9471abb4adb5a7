"""The embedded engine: the best supported sentence of what was retrieved, or a refusal.

No model is involved. A sentence is supported by the words of the question that stand in it, and to a
lesser degree by those that stand in its passage; rare words count more. It counts half in a passage that
does not mention what the question is about, and not at all where it lacks the kind of thing that is asked
for. Below a threshold the engine refuses. It is the floor that a model must beat.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from eval_pipeline.language.bm25 import Terms
from eval_pipeline.language.word_lists import line_lists
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suites.grounded_qa.corpus import (
    Corpus,
    Parameters,
    Passage,
    PreparedQuestion,
    content_terms,
    sentences,
)
from eval_pipeline.suites.grounded_qa.scoring import REFUSAL
from eval_pipeline.suites.grounded_qa.traces import GroundedAnswer

PASSAGE_SHARE = 0.35
"""How much of the support comes from the passage around a sentence."""
OFF_SUBJECT = 0.5
"""What support is worth in a passage that does not mention what the question is about."""

_NUMBER = (
    r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|eighteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|thousand|half|quarter|third|once|twice)"
)
_TIME = r"(?:second|minute|hour|day|night|week|month|quarter|year|o'clock)s?"
_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_PARTS = {"<number>": _NUMBER, "<time>": _TIME, "<month>": _MONTH}
_ANSWER_TYPES = tuple(
    (re.compile(question), re.compile(re.sub("<[a-z]+>", lambda part: _PARTS[part[0]], sentence)))
    for question, sentence in line_lists(__package__, "data/answer_types.txt").values()
)
"""What a question asks for, and what a sentence that answers it holds."""
_SUBJECT = re.compile(
    r"\b(?:does|do|did|is|are|was|were|can|could|will|would|should|must|may)"
    r" (?:the|a|an|my|our|your) (\w[\w'-]*)"
)
"""The first word of what a question is about: after its verb and an article."""
# What costs something stands before the verb: "wrapping costs 5 euros, for lamps too" has no price of lamps.
_PRICE_OF = re.compile(r"\bdo(?:es)? (?:the|an?) (\w[\w'-]*)\b.*\bcost\b")
_BEFORE_COST = re.compile(r"(.*?)\bcosts?\b")
_COUNTED = re.compile(r"\bhow many (\w+)")
_COUNTS = re.compile(rf"\b{_NUMBER}((?: [\w-]+){{1,3}})")


_AND = re.compile(r",? and (?=(?:how|what|which|where|when|who|why|for)\b)")
"""Where a question goes on with another part."""


class Candidate(NamedTuple):
    """A sentence that could answer."""

    support: float
    sentence: str
    passage: Passage


def answer(prepared: PreparedQuestion, parameters: Parameters, corpus: Corpus) -> GroundedAnswer:
    """The best supported sentence, or one for each part of the question, or the refusal token."""
    parts = _AND.split(prepared.question) if parameters.parts else []
    used = [_best(prepared, part, parameters, corpus) for part in parts]
    if len(parts) < 2 or None in used:
        used = [_best(prepared, prepared.question, parameters, corpus)]
    chosen = [each for each in used if each]
    if not chosen:
        return GroundedAnswer(REFUSAL, [])
    cited = list(dict.fromkeys(each.passage.id for each in chosen))
    return GroundedAnswer(
        " ".join(dict.fromkeys(each.sentence for each in chosen)),
        cited if parameters.citations == "source" else prepared.retrieved_ids,
    )


def _best(prepared: PreparedQuestion, asked: str, parameters: Parameters, corpus: Corpus) -> Candidate | None:
    """The best supported sentence; none below the threshold."""
    candidates = _candidates(prepared, asked, parameters, corpus)
    best = max(candidates, key=lambda each: each.support, default=None)
    return best if best and best.support >= parameters.threshold else None


def _candidates(
    prepared: PreparedQuestion, asked: str, parameters: Parameters, corpus: Corpus
) -> Iterator[Candidate]:
    terms = content_terms(parameters.stems)
    # In sorted order, so that sums of floats do not depend on the order of words.
    weights = {term: corpus.rarity(term, parameters) for term in sorted(set(terms(asked)))}
    total = sum(weights.values())
    if not total:
        return
    question = normalize(asked)
    fits = _fitting(question, terms) if parameters.answer_types else None
    subject = {term for word in _SUBJECT.findall(question)[:1] for term in terms(word)}
    for passage in prepared.passages:
        title = set(terms(passage.title)) if parameters.title_weight else set()
        around = title.union(terms(passage.text))
        worth = OFF_SUBJECT if parameters.subjects and not subject <= around else 1.0
        covered = sum(weight for term, weight in weights.items() if term in around) / total
        for sentence in sentences(passage.text):
            if fits and not fits(normalize(sentence)):
                continue
            inside = title.union(terms(sentence))
            held = sum(weight for term, weight in weights.items() if term in inside) / total
            support = (1 - PASSAGE_SHARE) * held + PASSAGE_SHARE * covered
            yield Candidate(support * worth, sentence, passage)


def _fitting(question: str, terms: Terms) -> Callable[[str], bool]:
    """A test of whether a sentence holds the kind of thing that a question asks for."""
    wanted = [sentence for asked, sentence in _ANSWER_TYPES if asked.search(question)]
    priced = {term for word in _PRICE_OF.findall(question) for term in terms(word)}
    counted = {term for noun in _COUNTED.findall(question) for term in terms(noun)}

    def fits(sentence: str) -> bool:
        if not all(pattern.search(sentence) for pattern in wanted):
            return False
        if priced and (before := _BEFORE_COST.match(sentence)) and not priced & set(terms(before[1])):
            return False
        return not counted or any(counted.intersection(terms(words)) for words in _COUNTS.findall(sentence))

    return fits
