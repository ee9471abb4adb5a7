"""The embedded engine: spans of an English prompt by patterns for numbers, a lexicon, and phrase boundaries.

No model is involved. Technical figures are found by pattern. What is left is cut into phrases at
function words, punctuation and verbs; the last known word of a phrase says what it is. Forms of known
verbs are actions and take their objects along. It is the floor that a model must beat.
"""

from functools import lru_cache

from eval_pipeline.suites.span_labeling.cases import Span, SpanInput
from eval_pipeline.suites.span_labeling.engine.phrases import Parameters, find_phrases
from eval_pipeline.suites.span_labeling.engine.technical import find_technical
from eval_pipeline.suites.span_labeling.engine.words import Vocabulary
from eval_pipeline.suites.span_labeling.resources import Lexicon, Resources
from eval_pipeline.suites.span_labeling.scoring import MOST_SPANS, Labels

__all__ = ["Parameters", "label"]


def label(prepared: SpanInput, parameters: Parameters, resources: Resources) -> Labels:
    """The spans of a prompt, in reading order, as many as the contract allows; none overlaps another."""
    prompt = prepared.prompt
    vocabulary = _vocabulary(_Key(resources.lexicon))
    figures = find_technical(prompt)
    phrases = find_phrases(prompt, vocabulary, figures, parameters)
    result = sorted([*figures, *phrases])[:MOST_SPANS]
    return Labels(
        [Span(prompt[each.start : each.end], each.start, each.end, each.category) for each in result]
    )


class _Key:
    """A lexicon by identity: it is inflected once, however many prompts are labelled."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon

    def __hash__(self) -> int:
        return id(self.lexicon)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.lexicon is self.lexicon


@lru_cache(maxsize=4)
def _vocabulary(key: _Key) -> Vocabulary:
    return Vocabulary.of(key.lexicon)
