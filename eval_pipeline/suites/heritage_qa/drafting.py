"""A question and its passages as the draft of a golden entry."""

from typing import Any

from eval_pipeline.suite.drafting import Drafting, Fields
from eval_pipeline.suites._heritage.attributes import ATTRIBUTES


def entry(fields: Fields) -> dict[str, Any]:
    """The question, its passages and its language."""
    return {
        "question": fields.get("question"),
        "context": fields.get("context"),
        "language": fields.get("language") or None,
    }


DRAFTING = Drafting(
    text="question",
    given=entry,
    expected=("gold_answer", "answer_type", "answerable"),
    optional=("supporting_facts", *ATTRIBUTES),
    passages="context",
)
