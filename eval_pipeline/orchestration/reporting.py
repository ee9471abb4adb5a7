"""The report on an evaluation, from what its stages made."""

from typing import NamedTuple

from eval_pipeline import reports as shown
from eval_pipeline import stages
from eval_pipeline.decisions import Objections, objections_to, standings_of
from eval_pipeline.orchestration.io_manager import Report
from eval_pipeline.reports.page.findings import findings_of
from eval_pipeline.reports.page.report import report_page
from eval_pipeline.scoring import Evaluation
from eval_pipeline.store import AnswerTable, Compared, Scored


class Reported(NamedTuple):
    """A report, what it says against the evaluation, and how the versions beside it fare."""

    report: Report
    against: Objections
    versions: str


def report_on(
    bench: stages.Workbench, answers: AnswerTable, scored: Scored, evaluation: Evaluation, compared: Compared
) -> Reported:
    """The report on an evaluation, in Markdown and as a page."""
    beside = stages.evaluations_beside(bench, evaluation)
    versions = shown.tables(shown.cross_tables(bench.suite, beside))
    page = report_page(findings_of(bench, answers, scored, evaluation, compared))
    standings = standings_of(bench.rules_folder, compared)
    against = objections_to(bench, evaluation, standings)
    text = shown.report(
        bench.suite,
        evaluation,
        scored.scores,
        standings,
        against,
        answers.stopping,
        compared.proposal,
        beside,
        answers.costs,
    )
    return Reported(Report(evaluation.identity, text, page), against, versions)
