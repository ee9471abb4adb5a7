"""The report on an evaluation, on one page."""

from __future__ import annotations

from collections.abc import Mapping

from eval_pipeline.answers import Stopping
from eval_pipeline.decisions import Objections, Standing
from eval_pipeline.numbers import counted
from eval_pipeline.reports.cases import hidden_problems, worst_cases
from eval_pipeline.reports.comparison import comparison_text
from eval_pipeline.reports.markdown import bullets, plain, table
from eval_pipeline.reports.pictures import confusion_charts
from eval_pipeline.reports.tables import cross_tables, group_tables, metric_table, model_list, suite_tables
from eval_pipeline.scoring import Evaluation, Scores
from eval_pipeline.store import Proposal
from eval_pipeline.suite import Suite

TITLES = {
    "pass": "✓ passes",
    "warn": "⚠ passes with warnings",
    "approved": "✓ passes, by approval",
    "block": "✗ is blocked",
}


def objection_lines(against: Objections) -> list[str]:
    """What speaks against an evaluation, the worst first, as lines of Markdown."""
    return [
        f"{sign} {plain(each.text, 1000)}"
        for sign, some in (
            ("✗", against.blocking),
            ("✓ approved:", against.approved),
            ("⚠", against.warnings),
        )
        for each in some
    ]


def report(
    suite: Suite,
    evaluation: Evaluation,
    scores: Scores,
    standing: Standing | None,
    against: Objections,
    stopping: Stopping | None = None,
    proposal: Proposal | None = None,
    beside: Mapping[str, Evaluation] | None = None,
) -> str:
    """The report on an evaluation: verdict first, then numbers, then cases; `beside` are all versions."""
    versions = cross_tables(suite, beside or {})
    summary, outputs = evaluation.summary, evaluation.identity.outputs
    parts = [
        f"# {outputs.version}: {TITLES[against.state]}",
        f"{suite.description} {counted(summary.cases, 'case')} × {counted(summary.trials, 'trial')} "
        f"on engine `{outputs.engine}` ({plain(outputs.model)}), {counted(summary.error_count, 'error')}.",
        plain(stopping.text) if stopping else "",
        plain(hidden_problems(summary), 1000),
        "## Decision\n\n"
        + (bullets(objection_lines(against)) or "Every gate passes, and nothing got worse."),
        "## Metrics\n\n" + metric_table(suite, summary),
        model_list(summary),
        "## Against the baseline\n\n"
        + (comparison_text(suite, standing) if standing else "There is no baseline to compare with."),
        plain(proposal.text, 1000) if proposal else "",
        "## Worst cases\n\n" + worst_cases(suite, evaluation.case_results, scores),
        "## Groups and tables\n\n"
        + "\n\n".join(
            filter(
                None,
                (
                    confusion_charts(suite, summary),
                    group_tables(suite, summary),
                    suite_tables(summary),
                ),
            )
        ),
        f"## Versions side by side\n\n{versions}" if versions else "",
        "## Identity\n\n"
        + table(
            ("what", "value"),
            (
                ("evaluation", evaluation.id),
                ("prompt", outputs.prompt_hash),
                ("golden set", evaluation.identity.golden_hash),
                ("scoring code", evaluation.identity.scorer),
                ("sample", plain(outputs.sample)),
                ("evaluated at", evaluation.created_at),
            ),
        ),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"
