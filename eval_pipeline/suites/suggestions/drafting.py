"""A prompt and a span as the draft of a golden entry."""

from typing import Any

from eval_pipeline.suite.drafting import Drafting, Fields


def entry(fields: Fields) -> dict[str, Any]:
    """The prompt, and the span as far as the request names it."""
    span = {
        "text": fields.get("span") or "",
        "category": fields.get("category") or "",
        "start": fields.get("start"),
    }
    return {"prompt": fields.get("prompt"), "span": span}


DRAFTING = Drafting(
    text="prompt",
    given=entry,
    expected=("expectedQualities",),
    optional=("forbiddenOutputs", "allowedCategories", "whyLower"),
)
