"""Texts that ask the same, and texts that are about the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.language.embedder import Embedder, similarity
from eval_pipeline.metrics.text import normalize, words

SAME = 0.85
"""Texts as alike as this, with the same numbers in them, ask for the same thing. Measured on questions: the
same one in other words has 0.80 to 0.98, one whose subject is another has up to 0.85."""
ALIKE = 0.6
"""Texts as alike as this are about the same thing."""
_NUMBER = re.compile(r"\d+")
FEWEST_WORDS = 3
"""A word or two are too little to tell by meaning: all countries are alike. They are the same when equal."""


class Likeness(NamedTuple):
    """What a text is to the known ones, and to those before it."""

    known: int | None
    """The known text that asks the same."""
    earlier: int | None
    """The text before it that asks the same."""
    nearest: int | None
    """The known text that is most alike, whatever it asks."""
    similarity: float
    group: int
    """The first of the texts before it that it is about the same as; its own place where there is none."""


def plain(text: str) -> str:
    """The words of a text, without case and punctuation: what texts share that ask the same to the letter."""
    normal = normalize(text)
    return " ".join(word.text for word in words(normal)) or normal


def likenesses(texts: Sequence[str], known: Sequence[str], embedder: Embedder) -> list[Likeness]:
    """What each text is to the known ones and to those before it, in their order."""
    if not texts:  # then nobody need know what the others mean
        return []
    own, others = _Texts(texts, embedder), _Texts(known, embedder)
    kept: list[int] = []
    leaders: list[int] = []
    result = []
    for index in range(len(texts)):
        close = own.to(index, others)
        same = _best(np.where(own.may_be(index, others), close, 0.0), SAME)
        earlier = _best(np.where(own.may_be(index, own, kept), own.to(index, own, kept), 0.0), SAME)
        leader = _best(own.to(index, own, leaders), ALIKE)
        group = index if leader is None else leaders[leader]
        if same is None and earlier is None:
            kept.append(index)
            leaders += [index] if group == index else []
        nearest = _best(close, 0.0)
        result.append(
            Likeness(
                same,
                None if earlier is None else kept[earlier],
                nearest,
                0.0 if nearest is None else float(close[nearest]),
                group,
            )
        )
    return result


class _Texts:
    """Texts with their vectors and marks."""

    def __init__(self, texts: Sequence[str], embedder: Embedder) -> None:
        compared = [normalize(text) for text in texts]
        self._vectors = embedder.embed(compared)
        self._marks = [_marks(text) for text in compared]

    def to(self, index: int, others: _Texts, chosen: Sequence[int] | None = None) -> NDArray[np.float64]:
        """How alike a text is to others, or to some of them."""
        vectors = others._vectors if chosen is None else others._vectors[chosen]
        return similarity(self._vectors[index], vectors)

    def may_be(self, index: int, others: _Texts, chosen: Sequence[int] | None = None) -> NDArray[np.bool_]:
        """Which of them have the same marks: invoice 7 is not invoice 8."""
        places = range(len(others._marks)) if chosen is None else chosen
        return np.array([others._marks[place] == self._marks[index] for place in places], dtype=bool)


def _marks(text: str) -> tuple[str, ...]:
    """What texts must share to ask the same, however alike: their numbers; where they are short, all."""
    return tuple(_NUMBER.findall(text)) if len(words(text)) >= FEWEST_WORDS else (plain(text),)


def _best(close: NDArray[np.float64], least: float) -> int | None:
    if not len(close):
        return None
    best = int(np.argmax(close))
    return best if close[best] >= least else None
