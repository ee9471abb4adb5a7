"""What a report's page is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from eval_pipeline.answers import Costs, Stopping
from eval_pipeline.comparison import comparable
from eval_pipeline.decisions import Objections, Standings, objections_to, standings_of
from eval_pipeline.project import namespace_of
from eval_pipeline.reports.brief import COLOURS
from eval_pipeline.reports.report import TITLES
from eval_pipeline.reports.rows import Colour
from eval_pipeline.scoring import CaseResult, Evaluation, Point, Scores, Summary, case_results
from eval_pipeline.stages import Exhibits, NotCurrent, Workbench, evaluations_beside, exhibits_of
from eval_pipeline.store import AnswerTable, Compared, History, Proposal, Scored, database_url, point_of
from eval_pipeline.suite import Suite


@dataclass(frozen=True)
class Findings:
    """Everything that a page says: numbers always, the rest as far as it is there."""

    suite: Suite
    summary: Summary
    scores: Scores
    exhibits: Exhibits
    evaluation: Evaluation | None = None
    """None where outputs of another system were scored."""
    standings: Standings = field(default_factory=Standings)
    against: Objections = field(default_factory=Objections)
    costs: Costs | None = None
    stopping: Stopping | None = None
    proposal: Proposal | None = None
    beside: Mapping[str, Evaluation] = field(default_factory=dict)
    history: Sequence[Point] = ()
    """The evaluations that can be compared with this one, oldest first."""

    @property
    def name(self) -> str:
        """What was evaluated."""
        return self.exhibits.own.label

    @cached_property
    def results(self) -> tuple[CaseResult, ...]:
        """How each case fared that the numbers rest on, worst first."""
        if self.evaluation is not None:
            return self.evaluation.case_results
        return case_results(self.suite, self.summary.rests_on(self.scores))

    @property
    def verdict(self) -> tuple[str, Colour]:
        """Whether it passes, in words and in a colour."""
        if self.evaluation is not None:
            return TITLES[self.against.state], COLOURS.get(self.against.state, "red")
        return (TITLES["pass"], "green") if self.summary.passed else ("✗ fails its gates", "red")


def findings_of(
    bench: Workbench, answers: AnswerTable, scored: Scored, evaluation: Evaluation, compared: Compared
) -> Findings:
    """Everything that a page says of an evaluation, from what its stages left."""
    outputs = evaluation.identity.outputs
    golden = bench.store.golden(outputs.suite, evaluation.identity.golden_hash)
    if golden is None:
        raise NotCurrent(outputs.version, "was evaluated on a golden table that is gone", outputs.suite)
    standings = standings_of(bench.rules_folder, compared)
    with History(database_url(bench.project), namespace_of(bench.project)) as history:
        points = history.points(outputs.suite, outputs.version)
    return Findings(
        bench.suite,
        evaluation.summary,
        scored.scores,
        exhibits_of(bench, golden, answers, scored, compared),
        evaluation,
        standings,
        objections_to(bench, evaluation, standings),
        answers.costs,
        answers.stopping,
        compared.proposal,
        evaluations_beside(bench, evaluation),
        comparable(points, point_of("", evaluation)),
    )


def latest_findings(bench: Workbench, version: str) -> Findings:
    """The same for the latest evaluation of a version; nothing is asked or decided anew."""
    store, suite = bench.store, bench.suite.name
    evaluation, scored = store.evaluation(suite, version), store.scored(suite, version)
    answers = store.answers(evaluation.identity.outputs) if evaluation else None
    if evaluation is None or scored is None or answers is None:
        raise NotCurrent(version, "was never evaluated on all cases", suite)
    compared = store.compared(suite, version) or Compared(evaluation.identity, ())
    return findings_of(bench, answers, scored, evaluation, compared)
