"""A document as the draft of a golden task."""

from typing import Any

from eval_pipeline.suite.drafting import Drafting, Fields


def entry(fields: Fields) -> dict[str, Any]:
    """The document, line by line."""
    document = fields.get("document")
    return {
        "title": fields.get("title") or None,
        "kind": fields.get("kind") or None,
        "document": document.split("\n") if isinstance(document, str) else None,
    }


DRAFTING = Drafting(text="document", given=entry, expected=("title", "kind", "expected_errors"))
