"""Why answers fail, as far as the data tell: signs, circumstances, hypotheses, the checklist."""

from eval_pipeline.investigation.hypotheses import Material, hypotheses_of
from eval_pipeline.investigation.investigate import investigate
from eval_pipeline.investigation.observations import (
    CaseFacts,
    Diagnosed,
    Observation,
    Other,
    facts_of,
    observe,
    with_texts,
)
from eval_pipeline.investigation.records import GOLDEN, Hypothesis, Investigation, Question, Section
from eval_pipeline.investigation.vocabulary import vocabulary_of

# fmt: off
__all__ = [
    "GOLDEN", "CaseFacts", "Diagnosed", "Hypothesis", "Investigation", "Material", "Observation",
    "Other", "Question", "Section", "facts_of", "hypotheses_of", "investigate", "observe",
    "vocabulary_of", "with_texts",
]
# fmt: on
