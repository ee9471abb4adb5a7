"""The golden answers of grounded_qa, and what else it is probed with."""

from eval_pipeline.suite import Context, Probing
from eval_pipeline.suites.grounded_qa.cases import GroundedCase
from eval_pipeline.suites.grounded_qa.corpus import Parameters, prepare
from eval_pipeline.suites.grounded_qa.scoring import REFUSAL
from eval_pipeline.suites.grounded_qa.traces import GroundedClaim


def golden_answer(case: GroundedCase) -> GroundedClaim:
    """A claim that holds what it must, from the golden passages; the refusal where there are none."""
    expected = case.expected
    if not expected.answerable:
        return GroundedClaim(REFUSAL, [], [])
    citations = list(expected.gold_citations or ())
    parts = [each[0] for each in (*(expected.all_of or ()), expected.gold_claim_substr or ()) if each]
    return GroundedClaim(" and ".join(parts) or "anything", citations, citations)


def refuse(case: GroundedCase, context: Context) -> GroundedClaim:
    """The refusal token, whatever the question."""
    return GroundedClaim(REFUSAL)


def everything(case: GroundedCase, context: Context) -> GroundedClaim:
    """All that was retrieved, one passage after the other, and all of it cited."""
    prepared = prepare(case.input, Parameters(), context.resources)
    return GroundedClaim("\n".join(each.text for each in prepared.passages), prepared.retrieved_ids)


PROBING = Probing(golden_answer, ranked=("retrieved_ids",), own={"refusal": refuse, "everything": everything})
