"""A text with mentions as the draft of a golden entry; the link of each mention is blank."""

from typing import Any

from eval_pipeline.suite.drafting import Drafting, Fields
from eval_pipeline.suites._heritage.attributes import ATTRIBUTES


def entry(fields: Fields) -> dict[str, Any]:
    """The text, and its mentions as far as the request names them; null says that a mention has no link."""
    mentions = [
        {
            "mention_id": each.get("mention_id") or f"m{number}",
            "mention": each.get("mention"),
            "start": each.get("start"),
            "gold_wikidata": "",
        }
        for number, each in enumerate(fields.get("mentions") or (), 1)
        if isinstance(each, dict)
    ]
    return {
        "context": fields.get("context"),
        "mentions": mentions or None,
        "language": fields.get("language") or None,
    }


DRAFTING = Drafting(text="context", given=entry, expected=("mentions",), optional=ATTRIBUTES)
