"""The vocabulary of camera and light, found in texts on word boundaries.

"Panda" and "company" hold no "pan", "unsteady" no "steady". A frying pan and steady rain are nothing of the
camera's either: "pan" and "steady" do not count beside a word that gives them their daily meaning, and words
that mostly have one ("tilt", "zoom", "crane") count only beside a word that settles it.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from eval_pipeline.language.word_lists import line_lists
from eval_pipeline.metrics.text import normalize

_LISTS = line_lists(__package__, "data/cinematography.txt")
CAMERA_TERMS = (*_LISTS["SHOTS"], *_LISTS["MOVEMENTS"], *_LISTS["ANGLES"], *_LISTS["LENSES"])
TECHNICAL_TERMS = (*CAMERA_TERMS, *_LISTS["LIGHTS"])
EVERYDAY = {word: "".join(lines) for word, lines in line_lists(__package__, "data/everyday.txt").items()}
"""Words that name a technique in some company only, as patterns of bounded size."""


def technical_terms(text: str) -> list[str]:
    """The distinct technical terms in a text, in alphabetical order; of nested terms the longest."""
    return _found(text, TECHNICAL_TERMS)


def camera_terms(text: str) -> list[str]:
    """The distinct camera terms in a text."""
    return _found(text, CAMERA_TERMS)


def _found(text: str, terms: Sequence[str]) -> list[str]:
    prepared = _spaced(text)
    known = {_spaced(term) for term in terms}
    matches = [match.group() for match in _pattern(tuple(terms)).finditer(prepared)]
    results = {match if match in known else match.removesuffix("s") for match in matches}
    covered = " ".join(results)
    results |= {
        word
        for word, pattern in EVERYDAY.items()
        if re.search(rf"(?<!\w){pattern}", prepared) and not re.search(rf"(?<!\w){word}", covered)
    }
    return sorted(results)


def _spaced(text: str) -> str:
    """Lower case, hyphens as spaces: "close up" and "close-up" are one term."""
    return re.sub(r"[-‐‑–]", " ", normalize(text)).replace("’", "'")


@lru_cache(maxsize=8)
def _pattern(terms: tuple[str, ...]) -> re.Pattern[str]:
    spaced = sorted({_spaced(term) for term in terms}, key=lambda term: (-len(term), term))
    return re.compile(r"(?<!\w)(?:" + "|".join(re.escape(term) for term in spaced) + r")s?(?!\w)")
