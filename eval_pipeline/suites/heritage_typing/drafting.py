"""A description as the draft of a row of the golden table."""

from typing import Any

from eval_pipeline.suite.drafting import Drafting
from eval_pipeline.suites._heritage.attributes import ATTRIBUTES

OTHERS = tuple(name for name in ATTRIBUTES if name != "custodian_type")


def contents(entry: dict[str, Any]) -> dict[str, str]:
    """A table of one row; white space within a cell is a space, since tabs separate cells."""
    cells = {name: " ".join(str(value).split()) for name, value in entry.items()}
    return {".tsv": "".join("\t".join(row) + "\n" for row in (cells, cells.values()))}


DRAFTING = Drafting(
    text="text",
    given=lambda fields: {"text": fields.get("text"), "language": fields.get("language") or None},
    expected=("gold_type",),
    optional=("secondary_types", *OTHERS),
    file="cases/{id}.tsv",
    contents=contents,
)
