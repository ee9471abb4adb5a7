"""Whether what a text speaks of is still there in another: by stem, synonym, narrower word or meaning.

"Golden retriever" and "canine" keep "dog"; "cat" does not. A thesaurus says what keeps what; similarity of
meaning fills its gaps, from a threshold above which words are nearly always the same thing. A mention that is
denied keeps nothing.
"""

import csv
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from eval_pipeline.language.embedder import Embedder, default_embedder, similarity
from eval_pipeline.language.stems import stem, word_parts
from eval_pipeline.metrics.text import normalize, words
from eval_pipeline.suites._video.negation import affirmed
from eval_pipeline.suites._video.words import CLOSED

Thesaurus = Mapping[str, Sequence[str]]
"""A word → what keeps it: synonyms and narrower words."""

SAME_MEANING = 0.68
"""From this similarity on, two words or short phrases count as the same thing; dog and cat have 0.67."""
LONGEST_TEXT = 20_000


def content_stems(text: str) -> list[str]:
    """The stems of a text's words that have more than grammar, parts of hyphenated ones by themselves."""
    return [stem(part) for part in word_parts(text[:LONGEST_TEXT]) if part not in CLOSED]


class KeptWords:
    """Looks for elements of one text in another."""

    def __init__(self, thesaurus: Thesaurus, embedder: Embedder | None = None) -> None:
        self._embedder = embedder or default_embedder()
        self._keepers: dict[str, list[list[str]]] = {}
        for word, keepers in sorted(thesaurus.items()):
            for name in (word, *keepers):
                self._keepers.setdefault(stem(word), []).append(
                    [stem(part) for part in normalize(name).split()]
                )

    def keeps_head(self, phrase: str, text: str) -> bool:
        """Whether the thing that a noun phrase names, its last word, is still there."""
        parts = [part for part in normalize(phrase).split() if part not in CLOSED]
        return bool(parts) and self._keeps(parts[-1:], phrase, text)

    def keeps_all(self, phrase: str, text: str) -> bool:
        """Whether every word of a phrase with more than grammar is still there."""
        parts = [part for part in normalize(phrase).split() if part not in CLOSED]
        return bool(parts) and self._keeps(parts, phrase, text)

    def _keeps(self, parts: Sequence[str], phrase: str, text: str) -> bool:
        shown = affirmed(text[:LONGEST_TEXT])
        stems = content_stems(shown)
        if all(self._by_word(part, stems) for part in parts):
            return True
        return self._by_meaning(phrase, shown)

    def _by_word(self, part: str, stems: Sequence[str]) -> bool:
        pieces = [stem(piece) for piece in part.split("-")]
        if _in_order(pieces, stems):
            return True
        return any(_in_order(keeper, stems) for keeper in self._keepers.get(stem(part), ()))

    def _by_meaning(self, phrase: str, text: str) -> bool:
        results = [word.text for word in words(normalize(text[:LONGEST_TEXT])) if word.text not in CLOSED]
        near = sorted({*results, *(" ".join(pair) for pair in pairwise(results))})
        if not near:
            return False
        vectors = self._embedder.embed([normalize(phrase), *near])
        return bool((similarity(vectors[0], vectors[1:]) >= SAME_MEANING).any())


def _in_order(wanted: Sequence[str], stems: Sequence[str]) -> bool:
    """Whether stems stand side by side in a text."""
    size = len(wanted)
    return any(list(stems[start : start + size]) == list(wanted) for start in range(len(stems) - size + 1))


class LabelledPair(NamedTuple):
    """A word, a text, and whether the text keeps the word."""

    kept: bool
    word: str
    text: str


def labelled_pairs() -> list[LabelledPair]:
    """Pairs labelled by hand; two in three are of words that the golden thesaurus knows, the rest are not."""
    text = files("eval_pipeline.suites._video").joinpath("data/kept.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [LabelledPair(row["kept"] == "1", row["word"], row["text"]) for row in rows]


def accuracy(matcher: KeptWords) -> tuple[int, int]:
    """How many of how many labelled pairs are judged rightly."""
    pairs = labelled_pairs()
    return sum(matcher.keeps_head(pair.word, pair.text) == pair.kept for pair in pairs), len(pairs)
