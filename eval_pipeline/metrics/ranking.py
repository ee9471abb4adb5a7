"""Ranked lists against what is relevant: order, and the measures of retrieval for many queries at once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Ties = Literal["ascending", "descending"]

RELEVANT = 1
"""The lowest grade that counts as relevant."""


def ranked(ids: Sequence[str], scores: Sequence[float | None], ties: Ties) -> list[str]:
    """The distinct ids, best score first, equal scores by id; of an id that stands twice the first counts.

    A list without scores keeps its order. Where only some have a score, the others come last, in their order.
    """
    best = dict(zip(ids, scores, strict=True))
    if len(best) == len(ids) and None not in best.values():
        return _by_score(best, ties)  # type: ignore[arg-type]
    known: dict[str, float] = {}
    for each, score in zip(ids, scores, strict=True):
        if score is not None:
            known[each] = max(score, known.get(each, score))
    return list(dict.fromkeys([*_by_score(known, ties), *ids]))


def _by_score(scores: dict[str, float], ties: Ties) -> list[str]:
    """The keys by falling value; the sort keeps the order of equal ones, so they are put in order first."""
    distinct = len(set(scores.values())) == len(scores)
    keys: Iterable[str] = scores if distinct else sorted(scores, reverse=ties == "descending")
    return sorted(keys, key=scores.__getitem__, reverse=True)


def reciprocal_rank(ranking: Sequence[str], wanted: str) -> float:
    """1 ÷ the rank at which something stands; 0 where it is missing."""
    return 1 / (ranking.index(wanted) + 1) if wanted in ranking else 0.0


class Hit(NamedTuple):
    """A relevant document that was found: its rank from 1, and its grade."""

    rank: int
    grade: int


def hits(ids: Sequence[str], scores: Sequence[float | None], judged: Mapping[str, int]) -> list[Hit]:
    """The relevant documents, best first, of results in the order of `ranked`, ties by id descending.

    Only the few relevant ones need a rank: how many results score higher, found by bisection.
    """
    results = dict(zip(ids, scores, strict=True))
    if len(results) < len(ids) or None in results.values():
        order = ranked(ids, scores, "descending")
        return [
            Hit(rank, judged[each]) for rank, each in enumerate(order, 1) if judged.get(each, 0) >= RELEVANT
        ]
    rising: list[float] = sorted(scores)  # type: ignore[arg-type]
    relevant = []
    for each in judged.keys() & results.keys():
        if judged[each] >= RELEVANT:
            score: float = results[each]  # type: ignore[assignment]
            higher = bisect_right(rising, score)
            rank = len(rising) - higher + 1
            if higher - bisect_left(rising, score) > 1:
                rank += sum(other > each and results[other] == score for other in results)
            relevant.append(Hit(rank, judged[each]))
    return sorted(relevant)


def retrieval_measures(
    found: Sequence[Sequence[Hit]], judgments: Sequence[Mapping[str, int]], depths: Sequence[int]
) -> dict[str, Values]:
    """Every measure for every query; undefined (NaN) where a query has no relevant document.

    - ndcg@k: Σ over ranks i ≤ k of (2^grade − 1) ÷ log₂(i + 1), divided by the same sum for the best order of
      all judged documents, retrieved or not.
    - precision@k: relevant documents within the first k ÷ k, however few were retrieved.
    - recall@k: relevant documents within the first k ÷ relevant documents.
    - mrr: 1 ÷ the rank of the first relevant document, 0 where none was retrieved.

    An unjudged document counts as not relevant.
    """
    got, best = _Hits.of(found), _Hits.ideal(judgments)
    relevant = best.within(None)
    relevant[relevant == 0] = np.nan
    measures = {"mrr": np.where(np.isnan(relevant), np.nan, got.reciprocal_ranks())}
    for depth in depths:
        within = np.where(np.isnan(relevant), np.nan, got.within(depth))
        with np.errstate(invalid="ignore"):
            measures[f"ndcg@{depth}"] = got.gain(depth) / best.gain(depth)
        measures[f"precision@{depth}"] = within / depth
        measures[f"recall@{depth}"] = within / relevant
    return measures


class _Hits(NamedTuple):
    """The hits of many queries as columns."""

    query: NDArray[np.int64]
    rank: NDArray[np.int64]
    grade: NDArray[np.int64]
    queries: int

    @classmethod
    def of(cls, hits: Sequence[Sequence[Hit]]) -> _Hits:
        """Hits, query by query."""
        sizes = [len(each) for each in hits]
        cells = chain.from_iterable(chain.from_iterable(hits))
        table = np.fromiter(cells, dtype=np.int64, count=2 * sum(sizes)).reshape(-1, 2)
        return cls(np.repeat(np.arange(len(hits)), sizes), table[:, 0], table[:, 1], len(hits))

    @classmethod
    def ideal(cls, judgments: Sequence[Mapping[str, int]]) -> _Hits:
        """Every relevant document of every query, in the best order."""
        sizes = [len(each) for each in judgments]
        grades = chain.from_iterable(each.values() for each in judgments)
        grade = np.fromiter(grades, dtype=np.int64, count=sum(sizes))
        query = np.repeat(np.arange(len(sizes)), sizes)[grade >= RELEVANT]
        grade = grade[grade >= RELEVANT]
        grade = grade[np.lexsort((-grade, query))]
        counts = np.bincount(query, minlength=len(sizes))
        rank = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
        return cls(query, rank, grade, len(sizes))

    def within(self, depth: int | None) -> Values:
        """How many stand within the first ranks."""
        near = self.query if depth is None else self.query[self.rank <= depth]
        return np.bincount(near, minlength=self.queries).astype(np.float64)

    def gain(self, depth: int) -> Values:
        """The discounted cumulative gain of the first ranks."""
        gains = np.where(self.rank <= depth, (np.exp2(self.grade) - 1) / np.log2(self.rank + 1), 0)
        return np.bincount(self.query, gains, self.queries).astype(np.float64)

    def reciprocal_ranks(self) -> Values:
        """1 ÷ the first rank."""
        ranks = np.zeros(self.queries)
        np.maximum.at(ranks, self.query, 1 / self.rank)
        return ranks
