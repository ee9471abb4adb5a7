"""Suites that compare a text with an expected one: what `Suite` does unless it is given something else."""

import msgspec

from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite.case import Item
from eval_pipeline.suite.context import Context, per_case
from eval_pipeline.suite.counts import CaseScore, Diagnosis, mean_counts
from eval_pipeline.suite.metric import mean

WRONG = "wrong"
EXACT_MATCH = mean(
    "exact_match",
    "Answers that are the expected text ÷ answers; case, white space and Unicode form do not count.",
    explained_by=WRONG,
)


class TextInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The input of a case that is one text; templates call it `text`."""

    text: str


def exact_match(item: Item, context: Context) -> CaseScore:
    """Whether the whole answer is the expected text, both normalised."""
    right = normalize(item.output) == normalize(item.case.expected)
    wrong = [] if right else [Diagnosis(WRONG, item.case.expected, item.output)]
    return CaseScore(mean_counts({EXACT_MATCH.name: float(right)}), diagnoses=wrong)


score_exact_match = per_case(exact_match)
