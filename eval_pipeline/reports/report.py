"""The report on an evaluation, on one page."""

from collections.abc import Iterator, Mapping, Sequence

from eval_pipeline.answers import Costs, Stopping
from eval_pipeline.decisions import Objections, Standings
from eval_pipeline.reports.cases import cause_lines, hidden_problems, named_things, size_of, worst_cases
from eval_pipeline.reports.comparison import comparison_text, reading_lines
from eval_pipeline.reports.markdown import bullets, plain, table, tables
from eval_pipeline.reports.pictures import confusion_charts
from eval_pipeline.reports.rows import Table
from eval_pipeline.reports.tables import cross_tables, group_tables, metric_table, model_list, suite_tables
from eval_pipeline.scoring import Evaluation, Scores
from eval_pipeline.store import Proposal
from eval_pipeline.suite import Suite

LONGEST_LINE = 1000
TITLES = {
    "pass": "✓ passes",
    "warn": "⚠ passes with warnings",
    "approved": "✓ passes, by approval",
    "block": "✗ is blocked",
    "incomplete": "✗ is incomplete",
}


def objection_lines(against: Objections) -> list[str]:
    """What speaks against an evaluation, the worst first."""
    sorts = against.blocking, against.approved, against.warnings
    return signed_lines(*([each.text for each in some] for some in sorts))


def signed_lines(blocking: Sequence[str], approved: Sequence[str], warnings: Sequence[str]) -> list[str]:
    """Reasons with their signs, the worst first."""
    sorts = (("✗", blocking), ("✓ approved:", approved), ("⚠", warnings))
    return [f"{sign} {line}" for sign, lines in sorts for line in lines]


def report(
    suite: Suite,
    evaluation: Evaluation,
    scores: Scores,
    standings: Standings,
    against: Objections,
    stopping: Stopping | None = None,
    proposal: Proposal | None = None,
    beside: Mapping[str, Evaluation] | None = None,
    costs: Costs | None = None,
) -> str:
    """The report on an evaluation: verdict first, then numbers, then cases; `beside` are all versions."""
    versions = tables(cross_tables(suite, beside or {}))
    summary, outputs = evaluation.summary, evaluation.identity.outputs
    lines = bullets(plain(line, LONGEST_LINE) for line in objection_lines(against))
    parts = [
        f"# {plain(outputs.subject)}: {TITLES[against.state]}",
        f"{suite.description} {size_of(summary)}, on engine "
        f"{plain(outputs.engine)} ({plain(outputs.model)}).",
        plain(stopping.text) if stopping else "",
        plain(hidden_problems(summary), LONGEST_LINE),
        bullets(
            plain(f"Against {each.comparison.before}: {line}", LONGEST_LINE)
            for each in standings.all
            for line in reading_lines(each.comparison)
        ),
        f"## Decision\n\n{lines or 'Every gate passes, and no comparison speaks against it.'}",
        bullets(plain(line, LONGEST_LINE) for line in cause_lines(named_things(suite, summary, scores))),
        f"## Metrics\n\n{table(metric_table(suite, summary))}",
        model_list(summary),
        *_comparisons(suite, evaluation, standings),
        plain(proposal.text, LONGEST_LINE) if proposal else "",
        f"## Worst cases\n\n{worst_cases(suite, evaluation.case_results, scores)}",
        "## Groups and tables",
        confusion_charts(suite, summary),
        tables([*group_tables(suite, summary, scores), *suite_tables(suite, summary)]),
        f"## Versions side by side\n\n{versions}" if versions else "",
        f"## Identity\n\n{table(_identity(evaluation, costs))}",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _comparisons(suite: Suite, evaluation: Evaluation, standings: Standings) -> Iterator[str]:
    """A section for each comparison, and what is to be said of those that are not there."""
    if evaluation.outage:
        yield "## Against the baseline\n\nNot compared, since the evaluation is incomplete."
    elif standings.baseline is None:
        yield "## Against the baseline\n\nThere is no baseline to compare with."
    for each in standings.all:
        yield f"## Against {plain(each.comparison.before)}\n\n{comparison_text(suite, each)}"
    if standings.note:
        yield plain(f"{standings.note}.", LONGEST_LINE)


def _identity(evaluation: Evaluation, costs: Costs | None) -> Table:
    identity = evaluation.identity
    spent = costs.spent if costs else ""
    return Table(
        ("what", "value"),
        [
            ("evaluation", evaluation.id),
            ("prompt", identity.outputs.prompt_hash),
            ("golden set", identity.golden_hash),
            ("scoring code", identity.scorer),
            ("sample", identity.outputs.sample),
            *([("cases", sample.text)] if (sample := identity.outputs.case_sample) else []),
            ("evaluated at", evaluation.created_at),
            *([("cost", spent)] if spent else []),
        ],
    )
