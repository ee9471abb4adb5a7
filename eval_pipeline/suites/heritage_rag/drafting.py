"""A question as the draft of a golden entry."""

from eval_pipeline.suite.drafting import Drafting
from eval_pipeline.suites._heritage.attributes import ATTRIBUTES

DRAFTING = Drafting(
    text="question",
    given=lambda fields: {"question": fields.get("question"), "language": fields.get("language") or None},
    expected=("gold_answer", "answer_type", "answerable"),
    optional=("supporting_facts", "supporting_passages", *ATTRIBUTES),
)
