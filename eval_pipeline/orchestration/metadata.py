"""What a person sees of answers, metrics, comparisons and investigations on a materialization."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import dagster as dg

from eval_pipeline import reports as shown
from eval_pipeline import stages
from eval_pipeline.answers import OutputsIdentity, Stopping
from eval_pipeline.comparison import MetricTrend
from eval_pipeline.decisions import Objections, Standing, Standings
from eval_pipeline.engines import default_engine
from eval_pipeline.problems import BadInput
from eval_pipeline.scoring import Evaluation, Identity, Point, Scores
from eval_pipeline.stages import Workbench
from eval_pipeline.store import AnswerTable, GoldenTable, Scored, report_shelf
from eval_pipeline.suite import Suite

MORE = "… and more, in the report."
LINES_OF_A_SCREEN, LINES_OF_AN_IMAGE = 20, 12
MOST_SCREENS = 30
WIDTH_OF_A_SCREEN = 120


def page_link(bench: Workbench, identity: Identity) -> dict[str, Any]:
    """The address of an evaluation's report, where reports are served."""
    try:
        shelf = report_shelf(bench.project.state)
    except BadInput:  # whoever publishes the report will say so
        shelf = None
    return {"page": dg.MetadataValue.url(shelf.address(bench.store.page_path(identity)))} if shelf else {}


def report_links(bench: Workbench, identity: Identity) -> dict[str, Any]:
    """Where the report of an evaluation is: its address and its file, else the file and what opens it."""
    page, path = page_link(bench, identity), str(bench.store.report_path(identity))
    way = f"eval-pipeline report {identity.outputs.suite} {identity.outputs.version} --open"
    return {**page, "file": dg.MetadataValue.path(path), **({} if page else {"open": way})}


def report_metadata(
    bench: Workbench, identity: Identity, against: Objections, text: str, versions: str
) -> dict[str, Any]:
    """The verdict, where the report is, how it begins, and the versions beside this one."""
    return {
        **sample_metadata(identity.outputs),
        "verdict": shown.TITLES[against.state],
        **report_links(bench, identity),
        "report": on_a_screen(text),
        **(in_screens("versions", versions) if versions else {}),
    }


def publish_report(bench: Workbench, identity: Identity) -> None:
    """Let the report be served by somebody else, where the environment says so."""
    if not identity.outputs.case_sample and (shelf := report_shelf(bench.project.state)):
        shelf.publish_report(bench.store.report_path(identity))


def on_a_screen(markdown: str) -> dg.MarkdownMetadataValue:
    """A screen of what the report holds in full: Dagster opens what is longer at its end."""
    first, *others = _screens(markdown)
    return dg.MetadataValue.md("\n".join([*first, "", MORE] if others else first))


def in_screens(name: str, markdown: str) -> dict[str, dg.MarkdownMetadataValue]:
    """A text, a screen for each entry: `name`, `name_2` and so on, as many as anybody leafs through."""
    screens = _screens(markdown)
    if len(screens) > MOST_SCREENS:
        screens = [*screens[: MOST_SCREENS - 1], [*screens[MOST_SCREENS - 1], "", MORE]]
    return {
        name if number == 1 else f"{name}_{number}": dg.MetadataValue.md("\n".join(lines))
        for number, lines in enumerate(screens, 1)
    }


def _screens(markdown: str) -> list[list[str]]:
    """The lines of a text by screens; a table that goes on has its header again."""
    screens: list[list[str]] = [[]]
    room, header = LINES_OF_A_SCREEN, list[str]()
    for line in markdown.strip().splitlines():
        in_table = line.startswith("|")
        header = [*header, line][:2] if in_table else []
        taken = LINES_OF_AN_IMAGE if line.startswith("![") else -(-len(line) // WIDTH_OF_A_SCREEN)
        taken = 1 if in_table else taken
        if taken > room and screens[-1]:
            screens.append([*header] if len(header) == 2 and line not in header else [])
            room = LINES_OF_A_SCREEN
        screens[-1].append(line)
        room -= taken
    return screens


def outputs_metadata(answers: AnswerTable) -> dict[str, Any]:
    """Who answered, how often, in what time and for how much."""
    identity, costs = answers.identity, answers.costs
    errors = shown.table(shown.error_table(costs))
    numbers = {
        name: getattr(costs, name) for name in ("latency_p50_ms", "latency_p95_ms", "cost_usd", "tokens")
    }
    return {
        "engine": identity.engine,
        "model": identity.model,
        "sample": identity.sample,
        **sample_metadata(identity),
        "trials": identity.trials,
        **_stopping_metadata(answers.stopping),
        "answers": costs.answers,
        "errors": costs.error_count,
        **{name: value for name, value in numbers.items() if value is not None},
        **(in_screens("error_kinds", errors) if costs.errors else {}),
        "outputs_id": identity.id,
        "file": dg.MetadataValue.path(str(answers.path)),
    }


def _stopping_metadata(stopping: Stopping | None) -> dict[str, Any]:
    if stopping is None:
        return {}
    return {
        "stopping": stopping.text,
        "stopped_because": stopping.reason,
        "most_trials": stopping.plan.max,
        "calls_saved": stopping.calls_saved,
    }


def metrics_metadata(
    bench: Workbench,
    evaluation: Evaluation,
    scores: Scores,
    alike: Sequence[Point],
    trends: Sequence[MetricTrend],
    replay: bool,
) -> dict[str, Any]:
    """The numbers of an evaluation: what is most to be seen first, and in a table that is narrow."""
    suite, summary = bench.suite, evaluation.summary
    chart = shown.metric_chart(suite, summary, bench.gates)
    models = shown.model_list(summary)
    tables = [*shown.group_tables(suite, summary, scores), *shown.suite_tables(suite, summary)]
    confusion = shown.confusion_charts(suite, summary)
    metrics = shown.metric_table(suite, summary).led_by("zone")
    return {
        **sample_metadata(evaluation.identity.outputs),
        "zones": dg.MetadataValue.md(shown.table(shown.zone_table(suite, summary))),
        **(in_screens("models", models) if models else {}),
        "chart": dg.MetadataValue.md(shown.image(chart, "gated metrics by zone")),
        **({"confusion": dg.MetadataValue.md(confusion)} if confusion else {}),
        "worst_cases": on_a_screen(shown.worst_cases(suite, evaluation.case_results, scores)),
        **in_screens("metrics", shown.table(metrics)),
        **in_screens("tables", shown.tables(tables) or "none"),
        "trend": dg.MetadataValue.md(shown.image(shown.trend_chart(suite, bench.gates, alike), "trend")),
        **in_screens("trends", shown.table(shown.trend_table(trends))),
        "replay": replay,
        **report_links(bench, evaluation.identity),
        "evaluation": evaluation.id,
        "cases": summary.cases,
        **({"held_out": summary.held_out.size} if summary.held_out else {}),
        "trials": summary.trials,
        "errors": summary.error_count,
        **_plotted(bench, evaluation),
    }


def _plotted(bench: Workbench, evaluation: Evaluation) -> dict[str, float]:
    """The gated metrics as plain numbers, which Dagster plots over time; none where they say nothing.

    A plot joins all that has one name. So those of another engine than the default one have another name.
    """
    if evaluation.outage or evaluation.identity.outputs.case_sample:
        return {}
    engine = evaluation.identity.outputs.engine
    of_engine = "" if engine == default_engine(bench.project) else f" ({engine})"
    return {
        f"{gate.metric}{of_engine}": gate.value for gate in evaluation.summary.gates if gate.value is not None
    }


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
        **in_screens("comparison", shown.comparison_text(suite, standing)),
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
