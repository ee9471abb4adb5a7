"""Outages: so many answers, or verdicts of a judge, never arrived that numbers say nothing of quality."""

from collections.abc import Mapping

from eval_pipeline.answers import TRANSPORT, Costs, Outage
from eval_pipeline.gates import Gate
from eval_pipeline.scoring.scores import Scores
from eval_pipeline.suite import ERROR_RATE, UNJUDGED

VERDICT = "verdict of the judge"


def outage_among(lost: Outage, gates: Mapping[str, Gate]) -> Outage | None:
    """What never arrived, where it is more than the gate on errors allows."""
    share = sum(lost.errors.values()) / lost.answers if lost.answers else 0.0
    return lost if gates[ERROR_RATE.name].zone(share) == "fail" else None


def lost_verdicts(scores: Scores) -> Outage:
    """The verdicts of a judge that never arrived, of all that it was asked for; scores hold their causes."""
    asked = scores.counts.num_rows - sum(scores.errors.values())
    errors: dict[str, int] = {}
    examples: dict[str, str] = {}
    for row in scores.diagnoses.to_pylist():
        if row["kind"] == UNJUDGED and row["expected"] in TRANSPORT:
            errors[row["expected"]] = errors.get(row["expected"], 0) + 1
            examples.setdefault(row["expected"], f"{row['case_id']}: {row['got']}")
    lost = Costs(asked, errors, examples, None, None, None, None, transport=errors).lost
    return Outage(lost.answers, lost.errors, lost.examples, VERDICT)
