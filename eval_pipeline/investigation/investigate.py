"""An investigation, from what was seen of answers to hypotheses and the checklist."""

from eval_pipeline.investigation.checklist import checklist_of
from eval_pipeline.investigation.hypotheses import Material, failing_cases, hypotheses_of
from eval_pipeline.investigation.observations import Other
from eval_pipeline.investigation.records import Investigation


def investigate(material: Material, *, before: Other | None = None, unread: int = 0) -> Investigation:
    """Why answers fail, as far as the data tell; `before` is what they are compared with."""
    observations = material.observations
    hypotheses = hypotheses_of(material)
    failing = failing_cases(observations)
    known = {each.case_id for each in before.observations} if before else set()
    return Investigation(
        answers=len(observations),
        failing=len(material.failing),
        failing_cases=len(failing),
        cases=len({each.case_id for each in observations}),
        trials=len({each.trial for each in observations}),
        new_failures=len((failing & known) - failing_cases(before.observations)) if before else None,
        before=before.label if before else "",
        hypotheses=tuple(hypotheses),
        checklist=tuple(checklist_of(material, hypotheses)) if hypotheses else (),
        unread=unread,
    )
