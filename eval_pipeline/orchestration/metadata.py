"""What a person sees of comparisons and investigations on a materialization and on a check."""

from collections.abc import Callable
from functools import partial
from typing import Any

import dagster as dg

from eval_pipeline import reports as shown
from eval_pipeline import stages
from eval_pipeline.decisions import Objections, Standing, Standings
from eval_pipeline.problems import BadInput
from eval_pipeline.scoring import Evaluation
from eval_pipeline.store import AnswerTable, GoldenTable, Scored
from eval_pipeline.suite import Suite


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


def investigation_metadata(
    bench: stages.Workbench,
    against: Objections,
    golden: GoldenTable,
    answers: AnswerTable,
    scored: Scored,
    evaluation: Evaluation,
) -> dict[str, Any]:
    """Why a version fails, as far as the data tell; or what is wrong with the suite's own code."""
    try:
        found = stages.investigate_evaluation(bench, golden, answers, scored, evaluation)
    except BadInput as bad:
        return {"investigation": "; ".join(map(str, bad.problems))}
    blocks = shown.investigation_blocks(bench.suite, evaluation, against, found)
    return {"investigation": dg.MetadataValue.md(shown.blocks_markdown(blocks))}


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
