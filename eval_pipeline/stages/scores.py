"""The third stage: scores, and the evaluation that they sum up to."""

import datetime

from eval_pipeline.answers import Costs, Outage
from eval_pipeline.comparison import summarize_held_out
from eval_pipeline.gates import operation_results
from eval_pipeline.problems import BadInput
from eval_pipeline.prompts import versions_in
from eval_pipeline.scoring import (
    Evaluation,
    Identity,
    Scores,
    case_results,
    lost_verdicts,
    outage_among,
    score_cases,
    scorer_version,
)
from eval_pipeline.stages.samples import sampled
from eval_pipeline.stages.shards import score_in_shards, shards_for
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import AnswerTable, GoldenTable, Scored


def score_answers(bench: Workbench, golden: GoldenTable, answers: AnswerTable) -> Scored:
    """Score answers against the golden set as it is now, or against the sample of it that was asked."""
    suite = bench.suite
    golden = sampled(golden, answers.identity.case_sample)
    identity = _identity(bench, golden, answers)
    if shards := shards_for(bench, golden, answers):
        return Scored(identity, score_in_shards(bench, shards, golden, identity, answers))
    return Scored(identity, score_cases(suite, golden.cases(suite), answers, bench.context))


def known_scores(bench: Workbench, golden: GoldenTable, answers: AnswerTable) -> Scores | None:
    """What an earlier evaluation made of the same answers, by the same code; None where there was none.

    Where a judge rules, answers are scored anew: the verdicts that it owed may be there now. So are answers
    with errors, and those that were written since: a call that failed may have been made again.
    """
    if bench.context.judge is not None or answers.costs.errors:
        return None
    identity, suite, version = _identity(bench, golden, answers), bench.suite.name, answers.identity.version
    try:
        scored = bench.store.scored(suite, version, identity.id)
    except BadInput:  # what is damaged is made again
        return None
    if scored is None or scored.identity != identity or scored.scores.errors:
        return None
    kept = bench.store.evaluations_folder(suite, version) / identity.id / "identity.json"
    return scored.scores if answers.path.stat().st_mtime_ns <= kept.stat().st_mtime_ns else None


def _identity(bench: Workbench, golden: GoldenTable, answers: AnswerTable) -> Identity:
    return Identity(
        answers.identity, golden.facts.golden_hash, scorer_version(bench.suite), bench.context.hash
    )


def evaluate(bench: Workbench, scored: Scored, costs: Costs) -> Evaluation:
    """Aggregate scores into metrics, and hold them and the costs against their gates."""
    held_out = scored.identity.outputs.held_out
    summary = summarize_held_out(bench.suite, scored.scores, held_out, bench.gates, bench.models)
    return Evaluation(
        id=scored.identity.id,
        identity=scored.identity,
        created_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        summary=summary,
        case_results=case_results(bench.suite, summary.rests_on(scored.scores)),
        operations=operation_results(bench.operation_gates, costs.measures),
        outage=outage_of(bench, costs, scored.scores),
    )


def outage_of(bench: Workbench, costs: Costs, scores: Scores | None = None) -> Outage | None:
    """The answers, or a judge's verdicts on them, that never arrived, where they are too many."""
    outage = outage_among(costs.lost, bench.gates)
    if outage or scores is None or bench.suite.judge is None:
        return outage
    return outage_among(lost_verdicts(scores), bench.gates)


def evaluations_beside(bench: Workbench, evaluation: Evaluation) -> dict[str, Evaluation]:
    """The latest evaluations of all versions, as far as they were scored on the same by the same engine.

    Those that are incomplete are left out, whatever is beside them.
    """

    def conditions(one: Evaluation) -> tuple[str, ...]:
        identity, held_out = one.identity, one.summary.held_out
        rests_on = held_out.name if held_out else ""
        sample = identity.outputs.case_sample
        drawn = sample.text if sample else ""
        engine = identity.outputs.engine
        return (identity.golden_hash, identity.scorer, identity.context, engine, rests_on, drawn)

    suite = bench.suite.name
    own = evaluation.identity.outputs.version
    versions = sorted({*versions_in(bench.project.prompts(suite)), own})
    latest = {each: evaluation if each == own else bench.store.evaluation(suite, each) for each in versions}
    return {
        version: one
        for version, one in latest.items()
        if one and not one.outage and conditions(one) == conditions(evaluation)
    }
