"""A text as the draft of a golden entry in JSON."""

from eval_pipeline.suite.drafting import Drafting
from eval_pipeline.suites._heritage.attributes import ATTRIBUTES

DRAFTING = Drafting(
    text="text",
    given=lambda fields: {"text": fields.get("text"), "language": fields.get("language") or None},
    expected=("ner_annotations",),
    optional=ATTRIBUTES,
)
