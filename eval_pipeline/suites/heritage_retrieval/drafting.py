"""A query as the draft of a topic, with its judgments: grades by document."""

from typing import Any

from eval_pipeline.suite.drafting import Drafting
from eval_pipeline.suites._heritage.attributes import ATTRIBUTES
from eval_pipeline.suites.heritage_retrieval.trec import QRELS, TOPICS


def contents(entry: dict[str, Any]) -> dict[str, str]:
    """The topic, and its judgments in a file beside it."""
    described = "".join(f"<{name}> {entry[name]}\n" for name in ATTRIBUTES if entry.get(name))
    title = " ".join(str(entry["title"]).split())
    judged = entry["judgments"] if isinstance(entry["judgments"], dict) else {}
    return {
        TOPICS: f"<top>\n<num> Number: {entry['num']}\n<title> {title}\n{described}</top>\n",
        QRELS: "".join(f"{entry['num']} 0 {document} {grade}\n" for document, grade in judged.items()),
    }


DRAFTING = Drafting(
    text="query",
    given=lambda fields: {"title": fields.get("query"), "language": fields.get("language") or None},
    expected=("judgments",),
    optional=ATTRIBUTES,
    id="num",
    file=f"cases/{{id}}{QRELS}",
    contents=contents,
)
