"""The embedded engine: names that are equal, or names that are alike, and places that stand in the text."""

from typing import Annotated, Literal

import msgspec

from eval_pipeline.metrics.text import normalize, occurs_as_words
from eval_pipeline.suites.heritage_linking.cases import LinkingInput, Mention
from eval_pipeline.suites.heritage_linking.engine.knowledge import Institution, KnowledgeBase
from eval_pipeline.suites.heritage_linking.scoring import Candidate, LinkedMention, Linking

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Score = Annotated[float, msgspec.Meta(ge=0, le=2)]

DIGITS = 6
"""Digits of a score that are kept: the rest is noise of the arithmetic."""


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version may choose."""

    system: Literal["exact", "fuzzy"] = "exact"
    nil_threshold: Score = 0.8
    """A mention whose best candidate scores less is said to be NIL."""
    place_weight: Share = 0.0
    """What a candidate gains when its city stands in the text."""
    candidates: Annotated[int, msgspec.Meta(ge=1, le=50)] = 10


class PreparedCandidate(msgspec.Struct, frozen=True):
    """An entry of the knowledge base that a mention may stand for, and how well it fits."""

    institution: Institution
    score: float
    """How alike the names are, from 0 to 1, and what the place adds to it."""


class PreparedMention(msgspec.Struct, frozen=True):
    """A mention with its candidates, best first."""

    mention_id: str
    mention: str
    candidates: list[PreparedCandidate]


class Prepared(msgspec.Struct, frozen=True):
    """What a template renders: the text, and its mentions with candidates from the knowledge base."""

    context: str
    language: str
    mentions: list[PreparedMention]


def prepare(given: LinkingInput, parameters: Parameters, knowledge: KnowledgeBase) -> Prepared:
    """Look up candidates for every mention."""
    context = normalize(given.context)
    return Prepared(
        given.context,
        given.language,
        [
            PreparedMention(each.mention_id, each.mention, _candidates(each, context, parameters, knowledge))
            for each in given.mentions
        ],
    )


def _candidates(
    mention: Mention, context: str, parameters: Parameters, knowledge: KnowledgeBase
) -> list[PreparedCandidate]:
    alike = _equal if parameters.system == "exact" else _alike
    scored = [
        PreparedCandidate(each, round(likeness + parameters.place_weight * _is_near(each, context), DIGITS))
        for each, likeness in alike(normalize(mention.mention), knowledge)
    ]
    scored.sort(key=lambda each: (-each.score, each.institution.kb_id))
    return scored[: parameters.candidates]


def _is_near(institution: Institution, context: str) -> bool:
    """Whether the institution's city stands in the text, in whatever language."""
    return any(
        occurs_as_words(normalize(city), context) for city in (institution.city, *institution.city_aliases)
    )


def _equal(mention: str, knowledge: KnowledgeBase) -> list[tuple[Institution, float]]:
    """The institutions that bear exactly this name."""
    owners = {name.owner.kb_id: name.owner for name in knowledge.names if name.text == mention}
    return [(owner, 1.0) for owner in owners.values()]


def _alike(mention: str, knowledge: KnowledgeBase) -> list[tuple[Institution, float]]:
    """Every institution, by the name of it that is most like the mention.

    Words may stand in another order or be left out, and letters differ.
    """
    from rapidfuzz import fuzz, process

    names = [name.text for name in knowledge.names]
    ratios = process.cdist([mention], names, scorer=fuzz.token_ratio)[0]
    best: dict[str, float] = {}
    for name, ratio in zip(knowledge.names, ratios, strict=True):
        best[name.owner.kb_id] = max(best.get(name.owner.kb_id, 0.0), float(ratio) / 100)
    return [(knowledge.institutions[kb_id], score) for kb_id, score in best.items()]


def link(prepared: Prepared, parameters: Parameters, knowledge: KnowledgeBase) -> Linking:
    """Link every mention to its best candidate, or say that it is NIL."""
    return Linking([_linked(each, parameters.nil_threshold) for each in prepared.mentions])


def _linked(mention: PreparedMention, threshold: float) -> LinkedMention:
    candidates = [Candidate(each.institution.kb_id, each.score) for each in mention.candidates]
    if not candidates or mention.candidates[0].score < threshold:
        return LinkedMention(mention.mention_id, candidates, is_nil=True)
    best = mention.candidates[0].institution
    return LinkedMention(mention.mention_id, candidates, False, best.viaf_id, best.isil_code)
