"""The embedded engine: a classifier by keywords, as a prompt version's parameters steer it."""

import re
from functools import cache
from typing import Literal

import msgspec

from eval_pipeline.language.word_lists import word_lists
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suites.heritage_typing.cases import TypingInput
from eval_pipeline.suites.heritage_typing.scoring import Typing

KEYWORDS = word_lists(__package__, "data/keywords.txt")
INSTITUTIONS = word_lists(__package__, "data/institutions.txt")
UNKNOWN = "U"
MIXED = "X"


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version may choose."""

    system: Literal["keywords"] = "keywords"
    compounds: bool = True
    """Whether a keyword is also found inside longer words (Streekarchief)."""
    specific_first: bool = True
    """Whether, of equally good types, the one that few texts mention wins over the one that many do."""
    mixed: bool = True
    """Whether a text that names several kinds of institution is about a mixed one."""


SPECIFIC_FIRST = "TBIHFDXNPCOESRGALMU"
"""Museums, archives and libraries are mentioned in passing everywhere; a botanical garden is not."""
ALPHABETICAL = "".join(sorted(KEYWORDS))


def classify(given: TypingInput, parameters: Parameters, resources: None) -> Typing:
    """The type with the most different keywords in the text; unknown where there is none."""
    text = normalize(given.text)
    if (
        parameters.mixed
        and sum(bool(_pattern(words, True).search(text)) for words in INSTITUTIONS.values()) > 1
    ):
        return Typing(MIXED)
    scores = {
        letter: len(set(_pattern(words, parameters.compounds).findall(text)))
        for letter, words in KEYWORDS.items()
    }
    best = max(scores.values())
    order = SPECIFIC_FIRST if parameters.specific_first else ALPHABETICAL
    return Typing(next(letter for letter in order if scores[letter] == best) if best else UNKNOWN)


@cache
def _pattern(keywords: tuple[str, ...], compounds: bool) -> re.Pattern[str]:
    """Keywords as one expression; without compounds only whole words."""
    forms = []
    for keyword in keywords:
        core = re.escape(normalize(keyword.strip("*").replace("_", " ")))
        before = r"\w*" if compounds and keyword.startswith("*") else ""
        after = r"\w*" if compounds and keyword.endswith("*") else ""
        forms.append(f"{before}{core}{after}")
    return re.compile(rf"(?<!\w)(?:{'|'.join(sorted(forms, key=len, reverse=True))})(?!\w)")
