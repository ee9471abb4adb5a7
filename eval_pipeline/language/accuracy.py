"""How well an embedder tells texts of the same meaning from others, on pairs that no model was trained on.

The pairs (`data/pairs.tsv`) are labelled by hand: paraphrases, sentences on the same subject that say
something else, and unrelated ones, the same in Dutch, English, German and French; translations; phrases of
video prompts; and sentences that differ in nothing but who does what to whom (`word_order`), which an
average over words hardly sees: those are reported by themselves.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.language.embedder import Embedder, default_embedder, similarity

WORD_ORDER = "word_order"


class Pair(NamedTuple):
    """Two texts, and whether they mean the same."""

    language: str
    kind: str
    same: bool
    first: str
    second: str


@dataclass(frozen=True)
class Accuracy:
    """How far a similarity can be trusted."""

    name: str
    pairs: int
    auc: float
    """The chance that a pair of the same meaning is rated above a pair of different meaning."""
    accuracy: float
    """The share of pairs on the right side of the best threshold."""
    threshold: float
    auc_by_language: Mapping[str, float]
    word_order: float
    """The mean similarity of sentences that differ only in who does what to whom: the lower the better."""

    @property
    def told(self) -> str:
        """The measurement in words."""
        languages = ", ".join(f"{name} {auc:.2f}" for name, auc in self.auc_by_language.items())
        return (
            f"AUC {self.auc:.2f}, accuracy {self.accuracy:.1%} at {self.threshold:.2f}, "
            f"on {self.pairs} labelled pairs (AUC: {languages}; "
            f"sentences with reversed roles still rate {self.word_order:.2f})"
        )

    def __str__(self) -> str:
        return f"{self.name}: {self.told}"


def labelled_pairs() -> list[Pair]:
    """The labelled pairs."""
    text = files("eval_pipeline.language").joinpath("data/pairs.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        Pair(row["language"], row["kind"], row["same"] == "1", row["first"], row["second"]) for row in rows
    ]


def measure(embedder: Embedder) -> Accuracy:
    """An embedder's accuracy on the labelled pairs."""
    pairs = labelled_pairs()
    ratings = similarity(
        embedder.embed([pair.first for pair in pairs]), embedder.embed([pair.second for pair in pairs])
    )
    return rate(embedder.name, pairs, ratings)


def rate(name: str, pairs: Sequence[Pair], ratings: NDArray[np.float64]) -> Accuracy:
    """The accuracy of ratings, one for each labelled pair."""
    order = np.array([pair.kind == WORD_ORDER for pair in pairs])
    same = np.array([pair.same for pair in pairs])[~order]
    language = np.array([pair.language for pair in pairs])[~order]
    judged = ratings[~order]
    threshold, accuracy = _best_threshold(judged, same)
    return Accuracy(
        name,
        len(judged),
        _auc(judged, same),
        accuracy,
        threshold,
        {
            each: _auc(judged[language == each], same[language == each])
            for each in sorted(set(language.tolist()))
        },
        float(ratings[order].mean()),
    )


@lru_cache(maxsize=1)
def default_accuracy() -> Accuracy:
    """The accuracy of the embedder that every suite uses."""
    return measure(default_embedder())


def _auc(ratings: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    """P(a same pair is rated above a different one) + ½ P(they are rated alike)."""
    differences = ratings[same][:, None] - ratings[~same]
    return float((differences > 0).mean() + (differences == 0).mean() / 2)


def _best_threshold(ratings: NDArray[np.float64], same: NDArray[np.bool_]) -> tuple[float, float]:
    candidates = np.unique(ratings)
    right = ((ratings >= candidates[:, None]) == same).mean(axis=1)
    best = int(right.argmax())
    return float(candidates[best]), float(right[best])
