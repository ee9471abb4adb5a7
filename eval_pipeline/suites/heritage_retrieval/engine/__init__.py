"""The embedded engine: BM25, dense vectors, or both, as a prompt's parameters say."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from eval_pipeline.suites.heritage_retrieval.cases import RetrievalInput
from eval_pipeline.suites.heritage_retrieval.engine.corpus import Corpus, Passage, Scored, Words
from eval_pipeline.suites.heritage_retrieval.trec import Result, Retrieval

FUSION = 60
"""How little the first ranks weigh more than later ones when two rankings are fused."""


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version may choose."""

    system: Literal["bm25", "dense", "hybrid"] = "bm25"
    words: Words = "words"
    """Whether BM25 compares words or their stems."""
    depth: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
    """How many passages are retrieved."""


class Candidate(msgspec.Struct, frozen=True):
    """A passage that was retrieved, as a template shows it."""

    doc_id: str
    text: str
    language: str
    score: float
    source: str
    """The retriever that found it."""


class Prepared(msgspec.Struct, frozen=True):
    """What a template renders: the query, and the passages that the retriever found, best first."""

    query: str
    language: str
    passages: list[Candidate]


def prepare(given: RetrievalInput, parameters: Parameters, corpus: Corpus) -> Prepared:
    """Retrieve passages for a query."""
    rankings: dict[str, list[Scored]] = {}
    if parameters.system != "dense":
        rankings["bm25"] = corpus.by_words(given.query, given.language, parameters.words, parameters.depth)
    if parameters.system != "bm25":
        rankings["dense"] = corpus.by_meaning(given.query, parameters.depth)
    if len(rankings) == 1:
        ((source, result),) = rankings.items()
        candidates = [_candidate(each.passage, each.score, source) for each in result]
    else:
        candidates = fused(rankings, parameters.depth)
    return Prepared(given.query, given.language, candidates)


def fused(rankings: dict[str, list[Scored]], depth: int) -> list[Candidate]:
    """Several rankings in one, by reciprocal ranks: Σ 1 ÷ (60 + rank); equal sums by id."""
    scores: dict[str, float] = {}
    sources: dict[str, list[str]] = {}
    passages: dict[str, Passage] = {}
    for source, ranking in rankings.items():
        for rank, each in enumerate(ranking, 1):
            name = each.passage.doc_id
            passages[name] = each.passage
            scores[name] = scores.get(name, 0.0) + 1 / (FUSION + rank)
            sources.setdefault(name, []).append(source)
    best = sorted(passages, key=lambda name: (-scores[name], name))[:depth]
    return [_candidate(passages[name], scores[name], "+".join(sources[name])) for name in best]


def _candidate(passage: Passage, score: float, source: str) -> Candidate:
    return Candidate(passage.doc_id, passage.text, passage.language, score, source)


def retrieve(prepared: Prepared, parameters: Parameters, corpus: Corpus) -> Retrieval:
    """The retrieved passages as they are ranked."""
    return Retrieval(_results(prepared.passages))


def _results(candidates: Sequence[Candidate]) -> list[Result]:
    return [Result(each.doc_id, each.score, each.source) for each in candidates]
