"""The embedded engine: concepts and relationships of an English text by word classes and cue phrases.

No model is involved. Words get a coarse role from closed word classes and their neighbours; runs of
content words are candidates, ranked by how often and where they stand; a reader of clauses then links
the chosen concepts by what the verbs and cues between them state. It is the floor that a model must beat.
"""

from typing import Annotated, Literal

import msgspec

from eval_pipeline.language.sentences import split_sentences
from eval_pipeline.suites.decomposition.cases import DecompositionInput, Predicate
from eval_pipeline.suites.decomposition.engine.clauses import relate
from eval_pipeline.suites.decomposition.engine.phrases import choose, find_aliases, find_candidates
from eval_pipeline.suites.decomposition.engine.sentences import read_sentence
from eval_pipeline.suites.decomposition.scoring import Concept, Decomposition, ExtractedRelationship


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version of this engine chooses."""

    max_concepts: Annotated[int, msgspec.Meta(ge=1, le=500)] = 24
    """At most so many concepts, the best first."""
    minimum_mentions: Annotated[int, msgspec.Meta(ge=1, le=20)] = 2
    """A candidate that stands in the text fewer times is no concept, unless the text gives it two names."""
    minimum_score: Annotated[float, msgspec.Meta(ge=0, le=100)] = 2.0
    """A candidate that scores less is no concept."""
    role_weight: Annotated[float, msgspec.Meta(ge=0, le=10)] = 0.5
    """What each mention beside a verb or a cue adds, as a share of a mention."""
    quotes: Literal["sentence", "none"] = "sentence"
    """Whether a concept quotes the sentence that introduces it."""
    aliases: bool = True
    """Whether "full name (FN)" and "X, also known as Y," name one concept."""
    predicates: tuple[Predicate, ...] = ("IS_A", "CAUSES", "PRECEDES", "REQUIRES", "RELATES_TO")
    """Which relationships are reported."""
    unstated: Literal["none", "verbs", "sentences"] = "none"
    """What else counts as RELATES_TO: nothing, any other verb between, or standing in one sentence."""


def decompose(prepared: DecompositionInput, parameters: Parameters, resources: object) -> Decomposition:
    """The concepts of a text, best first, and the relationships that it states between them."""
    sentences = [read_sentence(text) for text in split_sentences(prepared.source_text)]
    aliases = find_aliases(sentences) if parameters.aliases else {}
    chosen = choose(
        find_candidates(sentences, aliases),
        max_concepts=parameters.max_concepts,
        minimum_mentions=parameters.minimum_mentions,
        minimum_score=parameters.minimum_score,
        role_weight=parameters.role_weight,
    )
    quoted = parameters.quotes == "sentence"
    concepts = [
        Concept(
            each.label,
            each.introduced_by if quoted else None,
            _confidence(each.score(parameters.role_weight)),
        )
        for each in chosen
    ]
    names = {name: each.label for each in chosen for name in each.names}
    stated = relate(sentences, names, predicates=parameters.predicates, unstated=parameters.unstated)
    return Decomposition(concepts, [ExtractedRelationship(*each) for each in stated])


def _confidence(score: float) -> float:
    """A score as a confidence: half at 1, and never quite 1. It was not fitted to anything."""
    return round(score / (1 + score), 2)
