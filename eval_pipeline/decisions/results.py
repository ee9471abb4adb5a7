"""A version's latest result: its evaluation and comparisons by today's code and gates, and its approvals."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from eval_pipeline import stages
from eval_pipeline.comparison import Comparison
from eval_pipeline.decisions.approvals import Approval, approvals_of, result_key
from eval_pipeline.decisions.objections import (
    FailedCheck,
    Objections,
    Standing,
    Standings,
    objections,
    paused_by,
)
from eval_pipeline.decisions.production import open_incidents
from eval_pipeline.revisions import HEAD
from eval_pipeline.scoring import Evaluation
from eval_pipeline.store import AnswerTable, Compared, Proposal, Scored


@dataclass(frozen=True)
class Result:
    """What the latest answers of a version come to."""

    bench: stages.Workbench
    golden: stages.LoadedGolden
    answers: AnswerTable
    scored: Scored
    evaluation: Evaluation

    @property
    def version(self) -> str:
        """The prompt version."""
        return self.answers.identity.version

    def standings(
        self, *, since: str = HEAD, activating: bool = False, with_baseline: bool = True
    ) -> Standings:
        """How it stands against the baseline and against what it would replace; nothing is asked for it."""
        compared = stages.compare_evaluation(
            self.bench,
            self.golden.table,
            self.answers,
            self.scored,
            since=since,
            activating=activating,
            with_baseline=with_baseline,
        )
        return standings_of(self.bench.rules_folder, compared)

    def against(self, version: str) -> Standing:
        """How it stands against another version."""
        before = stages.current_answers(self.bench, self.golden.table, version)
        comparison = stages.compare_versions(
            self.bench, self.golden.table, before, self.answers, self.scored.scores
        )
        return standing_of(self.bench.rules_folder, comparison)


def latest_result(bench: stages.Workbench, version: str) -> Result:
    """Score the latest answers of a version once more; they must be those of its prompt as it is."""
    golden = stages.load_golden(bench)
    answers = stages.current_answers(bench, golden.table, version)
    scored = stages.score_answers(bench, golden.table, answers)
    return Result(bench, golden, answers, scored, stages.evaluate(bench, scored, answers.costs))


def standing_of(golden: Path, comparison: Comparison) -> Standing:
    """A comparison with the approvals that a golden folder holds for it."""
    return Standing(comparison, approvals_of(golden, comparison.key))


def standings_of(golden: Path, compared: Compared) -> Standings:
    """All comparisons of an evaluation, each with its approvals."""
    each = tuple(standing_of(golden, comparison) for comparison in compared.comparisons)
    return Standings(each, compared.missing, compared.note)


def objections_to(
    bench: stages.Workbench,
    evaluation: Evaluation,
    standings: Standings,
    failed: Iterable[FailedCheck] = (),
) -> Objections:
    """What speaks against an evaluation, its comparisons and its run."""
    approvals = _own_approvals(bench, evaluation, standings.baseline)
    return objections(evaluation, standings.all, approvals, failed, standings.missing)


def objections_of_production(
    bench: stages.Workbench, evaluation: Evaluation, standings: Standings
) -> Objections:
    """What speaks against deploying an evaluated version now, whatever its numbers are."""
    incidents = open_incidents(bench.project, bench.suite.name)
    return paused_by(incidents or (), _own_approvals(bench, evaluation, standings.baseline))


def _own_approvals(
    bench: stages.Workbench, evaluation: Evaluation, baseline: Standing | None
) -> tuple[Approval, ...]:
    """The approvals of an evaluation's own numbers: given where it met the baseline, or alone without one."""
    if baseline is not None:
        return baseline.approvals
    return approvals_of(bench.rules_folder, result_key(evaluation, None, bench.gates))


def propose(evaluation: Evaluation, standings: Standings) -> Proposal | None:
    """What a significant improvement over the baseline proposes, where nothing speaks against it."""
    baseline = standings.baseline
    sampled = evaluation.identity.outputs.case_sample is not None
    if baseline is None or baseline.comparison.verdict != "improved" or sampled:
        return None
    against = objections(evaluation, standings.all, missing=standings.missing)
    if against.holding or any(each.open for each in standings.all):
        return None
    outputs = evaluation.identity.outputs
    comparison, now = baseline.comparison, datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Proposal(
        suite=outputs.suite,
        version=outputs.version,
        against=comparison.before,
        evaluation=evaluation.id,
        sentence=comparison.sentence,
        proposed_at=now,
        baseline=comparison.identities[0].id if comparison.identities else "",
    )
