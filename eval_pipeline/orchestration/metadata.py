"""What a person sees of samples and comparisons on a materialization and on a check."""

from collections.abc import Callable
from functools import partial
from typing import Any

import dagster as dg

from eval_pipeline import reports as shown
from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.decisions import Standing, Standings
from eval_pipeline.suite import Suite


def sample_metadata(identity: OutputsIdentity) -> dict[str, Any]:
    """That only a sample of the cases was asked, on everything that such numbers stand on."""
    return {"case_sample": identity.case_sample.text} if identity.case_sample else {}


def comparison_metadata(suite: Suite, standings: Standings) -> dict[str, Any]:
    """Every comparison of an evaluation, and what is to be said of those that are lacking."""
    return {
        **({} if standings.baseline else {"verdict": "no baseline"}),
        **by_comparison(standings, partial(_in_full, suite)),
        **({"notes": standings.notes} if standings.notes else {}),
        **({"not_compared": standings.missing} if standings.missing else {}),
    }


def by_comparison(standings: Standings, facts: Callable[[Standing], dict[str, Any]]) -> dict[str, Any]:
    """What there is to say of each comparison; what is not the baseline's is named `replaced_…`."""
    return {
        f"{'' if each.comparison.role == 'baseline' else 'replaced_'}{name}": value
        for each in standings.all
        for name, value in facts(each).items()
    }


def _in_full(suite: Suite, standing: Standing) -> dict[str, Any]:
    comparison = standing.comparison
    chart = shown.image(shown.comparison_chart(suite, comparison), "differences by metric")
    return {
        "against": comparison.before,
        "conclusion": standing.conclusion,
        "comparison": dg.MetadataValue.md(shown.comparison_text(suite, standing)),
        "chart": dg.MetadataValue.md(chart),
        "verdict": comparison.verdict,
        "action": comparison.action,
        **({"approved": [each.summary for each in standing.approvals]} if standing.approved else {}),
        "cases_compared": comparison.shared,
        "cases_improved": len(comparison.improved),
        "cases_regressed": len(comparison.regressed),
        "cases_appeared": len(comparison.appeared),
        "cases_vanished": len(comparison.vanished),
        **{
            f"difference_{each.metric}": each.difference
            for each in comparison.metrics
            if each.gated and each.difference is not None
        },
    }
