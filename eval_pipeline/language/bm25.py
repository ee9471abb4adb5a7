"""BM25: ranking texts by the words they share with a query."""

from array import array
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.metrics.text import normalize, words

Terms = Callable[[str], Sequence[str]]


def word_terms(text: str) -> list[str]:
    """The words of a text, normalized: what is indexed and searched unless told otherwise."""
    return [word.text for word in words(normalize(text))]


class Bm25:
    """An index of texts.

    score(text, query) = Σ over the query's words of idf · tf · (k1 + 1) ÷ (tf + k1 · (1 − b + b · length ÷
    mean length)), with idf = ln(1 + (texts − texts with the word + ½) ÷ (texts with the word + ½)). A word
    that stands twice in the query counts twice. Postings are sparse: a search touches only texts that share
    a word with the query.
    """

    def __init__(
        self, texts: Sequence[str], k1: float = 1.2, b: float = 0.75, *, terms: Terms = word_terms
    ) -> None:
        self._terms = terms
        self._numbers: dict[str, int] = {}
        self._size = len(texts)
        term_of, text_of, frequency, lengths = array("q"), array("q"), array("q"), array("q")
        for number, text in enumerate(texts):
            results = Counter(terms(text))
            lengths.append(results.total())
            term_of.extend(self._numbers.setdefault(term, len(self._numbers)) for term in results)
            text_of.extend([number] * len(results))
            frequency.extend(results.values())
        owners = np.asarray(term_of, dtype=np.int64)
        order = np.argsort(owners, kind="stable")
        texts_with = np.bincount(owners, minlength=len(self._numbers))
        self._starts = np.concatenate(([0], np.cumsum(texts_with)))
        self._texts = np.asarray(text_of, dtype=np.int64)[order]
        length = np.asarray(lengths, dtype=float)
        average = float(length.mean()) if length.any() else 1.0
        tf = np.asarray(frequency, dtype=float)[order]
        self._idf = np.log1p((self._size - texts_with + 0.5) / (texts_with + 0.5))
        idf = self._idf[owners[order]]
        damping = k1 * (1 - b + b * length[self._texts] / average)
        self._weights = idf * tf * (k1 + 1) / (tf + damping)

    def __len__(self) -> int:
        return self._size

    def idf(self, term: str) -> float:
        """How much a term tells; most where no text holds it."""
        number = self._numbers.get(term)
        return float(np.log1p((self._size + 0.5) / 0.5) if number is None else self._idf[number])

    def scores(self, query: str) -> NDArray[np.float64]:
        """The score of every text; 0 where it shares no word with the query."""
        total = np.zeros(self._size)
        # In sorted order, so that the same words in another order give the same floats.
        for term, times in sorted(Counter(self._terms(query)).items()):
            number = self._numbers.get(term)
            if number is not None:
                postings = slice(self._starts[number], self._starts[number + 1])
                total[self._texts[postings]] += times * self._weights[postings]
        return total

    def search(self, query: str, k: int) -> list[tuple[int, float]]:
        """The k best texts that share a word with the query, best first; ties by index."""
        scores = self.scores(query)
        result = np.flatnonzero(scores > 0)
        if 0 < k < len(result):
            threshold = np.partition(scores[result], -k)[-k]
            result = result[scores[result] >= threshold]
        best = result[np.argsort(-scores[result], kind="stable")][: max(k, 0)]
        return [(int(index), float(scores[index])) for index in best]
