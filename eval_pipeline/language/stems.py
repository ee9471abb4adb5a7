"""Stems of English words: what the forms of a word have in common."""

from functools import lru_cache
from typing import Any

from eval_pipeline.metrics.text import normalize, words


@lru_cache(maxsize=2**14)
def stem(word: str) -> str:
    """The stem of an English word."""
    return str(_stemmer().stemWord(normalize(word)))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def word_parts(text: str) -> list[str]:
    """The words of a text, normalized, parts of hyphenated ones by themselves."""
    return [part for word in words(normalize(text)) for part in word.text.split("-")]
