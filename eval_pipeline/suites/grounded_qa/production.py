"""What grounded answers show without golden ones: citations of what was retrieved, and words of it."""

import re

from eval_pipeline.language.negation import NEGATORS, negations
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite.production import (
    HALLUCINATION,
    PROVENANCE,
    Measure,
    ProductionMeasures,
    Served,
    Share,
    share_of,
)
from eval_pipeline.suites.grounded_qa.corpus import STOP_WORDS
from eval_pipeline.suites.grounded_qa.scoring import REFUSAL
from eval_pipeline.suites.grounded_qa.traces import GroundedClaim

ENOUGH = 0.6
"""The share of a claim's words that the passages it cites must hold."""
_WORD = re.compile(r"[^\W_]+")


def refuses(output: GroundedClaim) -> bool:
    """Whether an answer says that the passages do not hold it."""
    return normalize(output.claim) == normalize(REFUSAL)


def cited(served: Served) -> Share | None:
    """Citations that were retrieved ÷ citations; an answer that cites nothing has one that was not."""
    if refuses(served.output):
        return None
    known = {each.id for each in served.retrieved} | {*(served.output.retrieved_ids or ())}
    given = sorted({*(served.output.citations or ())})
    return share_of(each in known for each in given) or Share(0.0)


def unsupported(served: Served) -> Share | None:
    """Whether the cited passages do not hold the claim; unknown where their texts are not."""
    if refuses(served.output):
        return None
    named = {*(served.output.citations or ())}
    passages = [each for each in served.retrieved if each.text and (not named or each.id in named)]
    if not any(each.text for each in served.retrieved):
        return None
    return Share(float(not _supported(served.output.claim, [each.text for each in passages])))


def _supported(claim: str, passages: list[str]) -> bool:
    """Whether passages hold every number and most words of a claim, and deny something where it does."""
    text, held = normalize(claim), [normalize(each) for each in passages]
    own = {*_WORD.findall(text)} - STOP_WORDS - NEGATORS["en"]
    known = {word for each in held for word in _WORD.findall(each)}
    numbers = {word for word in own if word.isdigit()}
    if not own or not numbers <= known or len(own & known) < ENOUGH * len(own):
        return False
    return not negations(text) or any(negations(each) for each in held)


MEASURES = ProductionMeasures(
    measures=(
        Measure(PROVENANCE, "Citations among the retrieved passages ÷ citations.", cited),
        Measure(
            HALLUCINATION,
            "Claims that the passages they cite do not hold ÷ claims, where the passages' texts are known.",
            unsupported,
            better="lower",
        ),
    ),
    words=(1, 80),
    items=lambda output: len(output.citations or ()),
    most_items=10,
    refuses=refuses,
)
