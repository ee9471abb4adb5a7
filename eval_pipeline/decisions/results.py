"""A version's latest result: its evaluation and comparisons by today's code and gates, and its approvals."""

import datetime
from dataclasses import dataclass
from pathlib import Path

from eval_pipeline import stages
from eval_pipeline.comparison import Comparison
from eval_pipeline.decisions.approvals import Approval, approvals_of, result_key
from eval_pipeline.decisions.objections import Objections, Standing, objections
from eval_pipeline.scoring import Evaluation
from eval_pipeline.store import AnswerTable, Proposal, Scored


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

    def against_baseline(self) -> Standing | None:
        """How it stands against the baseline; None where there is none."""
        comparison = stages.compare_with_baseline(
            self.bench, self.golden.table, self.answers, self.scored.scores
        )
        return standing_of(self.bench.golden_folder, comparison) if comparison else None

    def against(self, version: str) -> Standing:
        """How it stands against another version."""
        before = stages.current_answers(self.bench, self.golden.table, version)
        comparison = stages.compare_versions(
            self.bench, self.golden.table, before, self.answers, self.scored.scores
        )
        return standing_of(self.bench.golden_folder, comparison)


def latest_result(bench: stages.Workbench, version: str) -> Result:
    """Score the latest answers of a version once more; they must be those of its prompt as it is."""
    golden = stages.load_golden(bench)
    answers = stages.current_answers(bench, golden.table, version)
    scored = stages.score_answers(bench, golden.table, answers)
    return Result(bench, golden, answers, scored, stages.evaluate(bench, scored, answers.costs))


def standing_of(golden: Path, comparison: Comparison) -> Standing:
    """A comparison with the approvals that a golden folder holds for it."""
    return Standing(comparison, approvals_of(golden, comparison.key))


def own_approvals(
    bench: stages.Workbench, evaluation: Evaluation, standing: Standing | None
) -> tuple[Approval, ...]:
    """The approvals of an evaluation's own numbers: given with its comparison, or alone where it has none."""
    if standing is not None:
        return standing.approvals
    return approvals_of(bench.golden_folder, result_key(evaluation, None, bench.gates))


def objections_to(bench: stages.Workbench, evaluation: Evaluation, standing: Standing | None) -> Objections:
    """What speaks against an evaluation and its comparison with the baseline."""
    approvals = own_approvals(bench, evaluation, standing)
    return objections(evaluation, [standing] if standing else [], approvals)


def propose(evaluation: Evaluation, standing: Standing) -> Proposal | None:
    """What a significant improvement proposes, where nothing else speaks against it."""
    comparison = standing.comparison
    if comparison.verdict != "improved" or standing.open or objections(evaluation, [standing]).holding:
        return None
    outputs = evaluation.identity.outputs
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Proposal(
        outputs.suite, outputs.version, comparison.before, evaluation.id, comparison.sentence, now
    )
