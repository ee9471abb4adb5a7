"""ROUGE: how much of a text's words, pairs of words and word order another text shares.

On ASCII text the values are those of the `rouge-score` package without stemming. Words are runs of letters
and digits of any script, where that package knows a–z and 0–9 only.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import count, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.metrics.text import normalize

Values = NDArray[np.float64]
Numbers = NDArray[np.int64]

AT_ONCE = 1000
"""Pairs that are counted together: their words are numbered anew, so that pairs of words fit in a number."""
_TOKEN = re.compile(r"[^\W_]+")
_ASCII = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128))
"""What each ASCII character becomes: the same words as with the pattern, in half the time."""


class Rouge(NamedTuple):
    """F1 values, one for each pair of texts."""

    rouge1: Values
    rouge2: Values
    rougeL: Values  # noqa: N815  (its name in the literature)


_NOTHING = Rouge(np.zeros(0), np.zeros(0), np.zeros(0))


class _Side(NamedTuple):
    """The tokens of many texts in one row, as numbers, and where each text begins and ends."""

    tokens: Numbers
    ends: Numbers


def rouge(predictions: Sequence[str], references: Sequence[str]) -> Rouge:
    """ROUGE-1, ROUGE-2 and ROUGE-L of each prediction against the reference at the same place.

    F1 = 2·P·R ÷ (P + R), where P and R are what both texts share ÷ what the prediction and the reference
    have: words, pairs of neighbouring words, or the longest common subsequence of words; 0 where nothing
    is shared.
    """
    parts = [
        _rouge(predictions[start : start + AT_ONCE], references[start : start + AT_ONCE])
        for start in range(0, len(predictions), AT_ONCE)
    ]
    return Rouge(*(np.concatenate(values) for values in zip(*parts, strict=True))) if parts else _NOTHING


def _rouge(predictions: Sequence[str], references: Sequence[str]) -> Rouge:
    vocabulary: defaultdict[str, int] = defaultdict(count().__next__)
    predicted, expected = (_numbered(texts, vocabulary) for texts in (predictions, references))
    kinds = len(vocabulary)
    return Rouge(
        _overlap(_words(predicted), _words(expected), kinds, len(predictions)),
        _overlap(_pairs(predicted, kinds), _pairs(expected, kinds), kinds * kinds, len(predictions)),
        _subsequence(predicted, expected),
    )


def _numbered(texts: Sequence[str], vocabulary: defaultdict[str, int]) -> _Side:
    tokens: list[int] = []
    ends: list[int] = []
    number = vocabulary.__getitem__
    for text in texts:
        result = text.translate(_ASCII).split() if text.isascii() else _TOKEN.findall(normalize(text))
        tokens += map(number, result)
        ends.append(len(tokens))
    return _Side(np.array(tokens, dtype=np.int64), np.array(ends, dtype=np.int64))


Grams = tuple[Numbers, Numbers]
"""Numbers of words or pairs of words, and the text that each stands in."""


def _words(side: _Side) -> Grams:
    return side.tokens, np.repeat(np.arange(len(side.ends)), np.diff(side.ends, prepend=0))


def _pairs(side: _Side, kinds: int) -> Grams:
    """Pairs of neighbours within a text."""
    tokens, texts = _words(side)
    within = texts[1:] == texts[:-1]
    return (tokens[:-1] * kinds + tokens[1:])[within], texts[1:][within]


def _overlap(predicted: Grams, expected: Grams, kinds: int, texts: int) -> Values:
    """F1 of two bags per text: what both have counts as often as both have it."""
    (first, times), (second, other_times) = (
        np.unique(where * kinds + grams, return_counts=True) for grams, where in (predicted, expected)
    )
    places = np.asarray(np.searchsorted(second, first), dtype=np.int64)
    places[places == len(second)] = 0
    shared = second[places] == first if len(second) else np.zeros(len(first), dtype=bool)
    common = np.minimum(times[shared], other_times[places[shared]])
    sizes = [np.bincount(where, minlength=texts) for _, where in (predicted, expected)]
    totals: Values = np.bincount(first[shared] // max(kinds, 1), common, texts).astype(np.float64)
    return _f1(totals, sizes[0], sizes[1])


def _subsequence(predicted: _Side, expected: _Side) -> Values:
    """F1 of the longest common subsequence."""
    from rapidfuzz.distance import LCSseq

    first, second = _lists(predicted), _lists(expected)
    lengths = [LCSseq.similarity(each, other) for each, other in zip(first, second, strict=True)]
    sizes = [np.array([len(each) for each in side], dtype=np.int64) for side in (first, second)]
    return _f1(np.array(lengths, dtype=np.float64), sizes[0], sizes[1])


def _lists(side: _Side) -> list[list[int]]:
    tokens = side.tokens.tolist()
    starts = [0, *side.ends.tolist()]
    return [tokens[start:end] for start, end in pairwise(starts)]


def _f1(common: Values, predicted: Numbers, expected: Numbers) -> Values:
    """2·common ÷ (predicted + expected), which is the harmonic mean of precision and recall."""
    total = predicted + expected
    values = np.zeros(len(total))
    np.divide(2 * common, total, out=values, where=total > 0)
    return values
