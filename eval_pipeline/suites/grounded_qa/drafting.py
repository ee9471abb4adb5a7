"""A question as the draft of a golden entry."""

from eval_pipeline.suite.drafting import Drafting

DRAFTING = Drafting(
    text="question",
    given=lambda fields: {"question": fields.get("question")},
    expected=("answerable",),
    optional=("gold_claim_substr", "all_of", "gold_citations"),
    id="qid",
)
