"""Which category of a taxonomy a phrase belongs to, learned from labelled phrases.

Regularised least squares on a kernel: phrases are alike by meaning (embeddings), by spelling (character
n-grams) and by the classes of their words. One solution gives both the classifier and, exactly, its answers
on every prompt had it been trained without that prompt: cross-validation costs nothing extra, and a phrase
can be classified without the examples of its own prompt.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.language.embedder import Embedder
from eval_pipeline.metrics.text import normalize, words
from eval_pipeline.suites._video.words import Tag, tags_of

Matrix = NDArray[np.float64]

RIDGE = 0.2
MEANING_SCALE = 2.0
SPELLING_WEIGHT = 0.3
CLASSES_WEIGHT = 0.3
N_GRAMS = (3, 4, 5)
LONGEST_PHRASE = 500
"""Characters of a phrase that are read."""


class Example(NamedTuple):
    """A phrase with its category, and the prompt it stands in."""

    text: str
    category: str
    prompt: str


class CrossValidation(NamedTuple):
    """How often the classifier is right on prompts that it was not trained on."""

    parents: float
    """The share of phrases whose parent category is found."""
    categories: float
    """The share whose category is found, child included."""
    phrases: int
    prompts: int


def parent(category: str) -> str:
    """The parent of a category: `subject` of `subject.wardrobe`."""
    return category.partition(".")[0]


class CategoryClassifier:
    """A classifier of phrases. Deterministic: the same examples always give the same answers."""

    def __init__(self, examples: Sequence[Example], embedder: Embedder) -> None:
        self._examples = sorted(set(examples))
        self._embedder = embedder
        self._categories = sorted({each.category for each in self._examples})
        self._parents = sorted({parent(each) for each in self._categories})
        texts = [each.text for each in self._examples]
        self._vectors = embedder.embed(texts).astype(np.float64)
        self._spelling = _Profiles([_n_grams(text) for text in texts])
        self._classes = _Profiles([_word_classes(text) for text in texts])
        kernel = self._kernel(self._vectors, self._spelling.rows, self._classes.rows)
        self._inverse: Matrix = np.linalg.inv(kernel + RIDGE * np.eye(len(texts))).astype(np.float64)
        self._weights: Matrix = self._inverse @ self._labels()

    def classify(self, texts: Sequence[str], without: Sequence[str] = ()) -> list[str]:
        """The category of each text; `without` names for each the prompt whose examples are left out."""
        if not texts:
            return []
        vectors = self._embedder.embed(texts).astype(np.float64)
        spelling = self._spelling.of([_n_grams(text) for text in texts])
        classes = self._classes.of([_word_classes(text) for text in texts])
        scores = self._scores(vectors, spelling, classes)
        for prompt in sorted({normalize(each) for each in without} & self._members.keys()):
            rows = [index for index, each in enumerate(without) if normalize(each) == prompt]
            kernel = self._kernel(vectors[rows], spelling[rows], classes[rows])
            scores[rows] = kernel @ self._weights_without(prompt)
        return self._decide(scores)

    def cross_validate(self) -> CrossValidation:
        """Each prompt's phrases by a classifier that never saw the prompt."""
        result = self._decide(self._held_out())
        wanted = [each.category for each in self._examples]
        pairs = list(zip(result, wanted, strict=True))
        return CrossValidation(
            sum(parent(one) == parent(other) for one, other in pairs) / len(pairs),
            sum(one == other for one, other in pairs) / len(pairs),
            len(pairs),
            len(self._members),
        )

    @cached_property
    def _members(self) -> Mapping[str, NDArray[np.int64]]:
        results: dict[str, list[int]] = {}
        for index, example in enumerate(self._examples):
            results.setdefault(normalize(example.prompt), []).append(index)
        return {prompt: np.array(indices, dtype=np.int64) for prompt, indices in results.items()}

    def _labels(self) -> Matrix:
        """1 for a phrase's parent and for its category, 0 elsewhere."""
        names = [*self._parents, *self._categories]
        return np.array(
            [
                [float(name in (each.category, parent(each.category))) for name in names]
                for each in self._examples
            ]
        )

    def _kernel(self, vectors: Matrix, spelling: Matrix, classes: Matrix) -> Matrix:
        kernel: Matrix = (
            self._meaning(vectors)
            + SPELLING_WEIGHT * (spelling @ self._spelling.rows.T)
            + CLASSES_WEIGHT * (classes @ self._classes.rows.T)
        )
        return kernel

    def _scores(self, vectors: Matrix, spelling: Matrix, classes: Matrix) -> Matrix:
        """The kernel times the weights, without the large matrices of spelling in between."""
        by_spelling, by_classes = self._projected
        scores: Matrix = (
            self._meaning(vectors) @ self._weights + spelling @ by_spelling + classes @ by_classes
        )
        return scores

    @cached_property
    def _projected(self) -> tuple[Matrix, Matrix]:
        return (
            SPELLING_WEIGHT * (self._spelling.rows.T @ self._weights),
            CLASSES_WEIGHT * (self._classes.rows.T @ self._weights),
        )

    def _meaning(self, vectors: Matrix) -> Matrix:
        likeness: Matrix = np.exp(MEANING_SCALE * (vectors @ self._vectors.T - 1.0))
        return likeness

    def _weights_without(self, prompt: str) -> Matrix:
        """The weights that training without a prompt's examples gives, by the block inverse."""
        left_out = self._members.get(normalize(prompt)) if prompt else None
        if left_out is None:
            return self._weights
        block = np.linalg.solve(self._inverse[np.ix_(left_out, left_out)], self._weights[left_out])
        weights: Matrix = self._weights - self._inverse[:, left_out] @ block
        return weights

    def _held_out(self) -> Matrix:
        """What each example's scores are when its prompt is left out: y − inverse_gg⁻¹ · weights_g."""
        scores = self._labels()
        for members in self._members.values():
            scores[members] -= np.linalg.solve(
                self._inverse[np.ix_(members, members)], self._weights[members]
            )
        return scores

    def _decide(self, scores: Matrix) -> list[str]:
        """The best parent, then the best category below it."""
        decided = []
        for row in np.round(scores, 9):
            best = self._parents[int(row[: len(self._parents)].argmax())]
            below = [
                (float(row[len(self._parents) + index]), category)
                for index, category in enumerate(self._categories)
                if parent(category) == best
            ]
            decided.append(max(below, key=lambda each: (each[0], each[1]))[1])
        return decided


class _Profiles:
    """Bags of features as unit rows, weighted by how rare a feature is among the examples."""

    def __init__(self, bags: Sequence[Counter[str]]) -> None:
        frequency = Counter(feature for bag in bags for feature in bag)
        kept = sorted(feature for feature, count in frequency.items() if count > 1)
        self._columns = {feature: column for column, feature in enumerate(kept)}
        self._rarity = np.array([1.0 + math.log(len(bags) / frequency[feature]) for feature in kept])
        self.rows = self.of(bags)

    def of(self, bags: Sequence[Counter[str]]) -> Matrix:
        """The rows of some bags; features that no two examples have are left out."""
        rows = np.zeros((len(bags), len(self._columns)))
        for row, bag in zip(rows, bags, strict=True):
            for feature, count in bag.items():
                if feature in self._columns:
                    row[self._columns[feature]] = 1.0 + math.log(count)
        rows *= self._rarity
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths > 0, lengths, 1.0)
        return rows


def _n_grams(text: str) -> Counter[str]:
    padded = f" {normalize(text[:LONGEST_PHRASE])} "
    return Counter(
        padded[start : start + size] for size in N_GRAMS for start in range(len(padded) - size + 1)
    )


def _word_classes(text: str) -> Counter[str]:
    """What the first and the last word can be, and which words have only grammar."""
    results = [word.text for word in words(normalize(text[:LONGEST_PHRASE]))]
    if not results:
        return Counter()
    return Counter(
        [
            *(f"first {tag.value}" for tag in tags_of(results[0])),
            *(f"last {tag.value}" for tag in tags_of(results[-1])),
            *(
                f"any {tag.value}"
                for word in results
                for tag in tags_of(word)
                if tag in (Tag.PREPOSITION, Tag.NUMBER)
            ),
            f"{min(len(results), 5)} words",
        ]
    )
