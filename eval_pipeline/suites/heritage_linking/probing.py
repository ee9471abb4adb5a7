"""The golden answers of heritage_linking, and what else it is probed with."""

from eval_pipeline.suite import Context, Probing
from eval_pipeline.suites.heritage_linking.cases import LinkingCase
from eval_pipeline.suites.heritage_linking.scoring import Candidate, LinkedMention, Linking


def golden_answer(case: LinkingCase) -> Linking:
    """Every mention with its entry and identifiers, or as NIL."""
    return Linking(
        [
            LinkedMention(
                name,
                [Candidate(gold.kb_id)] if gold.kb_id else [],
                gold.kb_id is None,
                gold.viaf_id,
                gold.isil_code,
            )
            for name, gold in case.expected.links.items()
        ]
    )


def refuse(case: LinkingCase, context: Context) -> Linking:
    """Every mention as NIL."""
    return Linking([LinkedMention(each.mention_id, [], True) for each in case.input.mentions])


def everything(case: LinkingCase, context: Context) -> Linking:
    """Every mention with every entry of the knowledge base."""
    candidates = [Candidate(each) for each in context.resources.institutions] if context.resources else []
    return Linking([LinkedMention(each.mention_id, candidates, False) for each in case.input.mentions])


PROBING = Probing(golden_answer, ranked=("candidates",), own={"refusal": refuse, "everything": everything})
