"""Stems: what the forms of a word have in common."""

from functools import lru_cache
from threading import Lock
from typing import Any

from eval_pipeline.metrics.text import normalize, words

STEMMERS = {"nl": "dutch", "en": "english", "de": "german", "fr": "french"}
_ONE_WORD = Lock()


@lru_cache(maxsize=2**14)
def stem(word: str) -> str:
    """The stem of an English word."""
    return str(_stemmer().stemWord(normalize(word)))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=2**16)
def stem_in(language: str, word: str) -> str:
    """The stem of a normalized word of a language; the word itself where the language has no stemmer here."""
    if language not in STEMMERS:
        return word
    with _ONE_WORD:  # a stemmer keeps the word that it is at
        return str(_stemmer_of(language).stemWord(word))


@lru_cache(maxsize=len(STEMMERS))
def _stemmer_of(language: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(STEMMERS[language])


def word_parts(text: str) -> list[str]:
    """The words of a text, normalized, parts of hyphenated ones by themselves."""
    return [part for word in words(normalize(text)) for part in word.text.split("-")]
