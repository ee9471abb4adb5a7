"""A request as the draft of a golden file, and the concepts of an answer that its source does not name."""

from collections.abc import Sequence
from typing import Any

from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite.drafting import Drafting, Fields
from eval_pipeline.suites.decomposition.forms import stands_in_some_form, stems_of
from eval_pipeline.suites.decomposition.scoring import Decomposition


def entry(fields: Fields) -> dict[str, Any]:
    """The text and its topic."""
    return {"topic": fields.get("topic") or "", "sourceText": fields.get("source_text")}


def invented(output: Decomposition, fields: Fields) -> Sequence[str]:
    """Labels of concepts of which neither the words nor the quote stand in the source."""
    source = normalize(f"{fields.get('topic') or ''}\n{fields.get('source_text') or ''}")
    stems = stems_of(source)
    return [
        concept.label
        for concept in output.concepts
        if normalize(concept.label)
        and not (concept.source_quote and normalize(concept.source_quote) in source)
        and not stands_in_some_form(concept.label, stems)
    ]


DRAFTING = Drafting(
    text="source_text",
    given=entry,
    expected=("domain", "expectedConcepts", "expectedRelationships"),
    optional=("topic", "forbiddenConcepts", "forbiddenRelationships", "origin"),
    file="cases/{id}.gold.json",
    invented=invented,
    forbidden="forbiddenConcepts",
)
