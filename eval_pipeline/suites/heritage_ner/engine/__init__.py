"""The embedded engine: patterns, a gazetteer, or both, as a prompt version's parameters choose."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from eval_pipeline.suites.heritage_ner.cases import Entity, NerInput
from eval_pipeline.suites.heritage_ner.engine.gazetteer import Resources
from eval_pipeline.suites.heritage_ner.engine.names import institutions, places
from eval_pipeline.suites.heritage_ner.engine.patterns import Found, codes, times
from eval_pipeline.suites.heritage_ner.scoring import Extraction

__all__ = ["Parameters", "Resources", "extract"]


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version may choose."""

    system: Literal["regex", "gazetteer", "combined"] = "combined"
    aliases: bool = True
    """Whether the gazetteer knows institutions by their other names too."""
    periods: bool = True
    """Whether centuries, decades and named periods count as times, besides dates and years."""
    guess_places: bool = False
    """Whether a capitalised word after a preposition is taken for a place."""


def extract(given: NerInput, parameters: Parameters, resources: Resources | None) -> Extraction:
    """The entities of a text, found by the chosen system; where two overlap, the surer one stays."""
    known = (resources or Resources()).find(given.text, parameters.aliases)
    results: list[Found] = []
    if parameters.system != "regex":
        results += known
    if parameters.system != "gazetteer":
        results += times(given.text, parameters.periods)
        results += codes(given.text)
        results += institutions(given.text, given.language)
        if parameters.guess_places:
            results += places(given.text, given.language)
    return Extraction([Entity(given.text[s:e], kind, s, e) for s, e, kind in _without_overlaps(results)])


def _without_overlaps(found: Iterable[Found]) -> list[Found]:
    """What is named first wins."""
    kept: list[Found] = []
    for each in found:
        if all(each.end <= other.start or other.end <= each.start for other in kept):
            kept.append(each)
    return sorted(kept)
