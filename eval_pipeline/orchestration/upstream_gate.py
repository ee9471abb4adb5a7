"""The gate on an asset whose rows are evaluated: a check on that asset, which may hold back what is below it.

It evaluates by itself, whether the chain runs or not: a check that waited for assets below its own could
never hold anything back. What it makes is what the chain makes, under the same names.
"""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import dagster as dg
from msgspec.structs import replace

from eval_pipeline import reports as shown
from eval_pipeline import stages
from eval_pipeline.decisions import propose, standings_of
from eval_pipeline.numbers import number
from eval_pipeline.orchestration.checks import problems_check
from eval_pipeline.orchestration.io_manager import GOLDEN_SET
from eval_pipeline.orchestration.metadata import publish_report, report_links
from eval_pipeline.orchestration.places import Place
from eval_pipeline.orchestration.reporting import Reported, report_on
from eval_pipeline.orchestration.resources import WORKBENCHES
from eval_pipeline.orchestration.upstream import ROWS, Context, Upstream, previous_version
from eval_pipeline.problems import BadInput
from eval_pipeline.reports import bullets, plain
from eval_pipeline.scoring import Evaluation

MOST_LINES = 10
LONGEST_LINE = 1000


def gate_name(name: str) -> str:
    """The check on an upstream asset, by the name of the place of its evaluation."""
    return f"{name}_gate"


def build_gate(place: Place, upstream: Upstream) -> dg.AssetChecksDefinition:
    """The check."""
    name = gate_name(place.name)

    def judged(context: dg.AssetCheckExecutionContext, given: Mapping[str, Any]) -> dg.AssetCheckResult:
        bench: stages.Workbench = place.of(context, WORKBENCHES).of(place.suite, context.run.run_id)
        try:
            rows = upstream.rows(context, given)
            evaluation, made = evaluate_rows(bench, context, upstream, rows)
        except BadInput as bad:
            return problems_check(name, bad.problems)
        return _result(name, bench, evaluation, made)

    with warnings.catch_warnings():
        # Partitioned checks and resources bound to them are not final in Dagster; without them no gate is.
        warnings.simplefilter("ignore", (dg.PreviewWarning, dg.BetaWarning))
        spec = place.check(_spec(place, upstream, name))
        decorate = dg.asset_check(
            asset=spec.asset_key,
            name=spec.name,
            description=spec.description,
            blocking=spec.blocking,
            metadata=spec.metadata,
            automation_condition=spec.automation_condition,
            partitions_def=spec.partitions_def,
            # In a run with both, it waits for the cases that another asset brings.
            additional_deps=[place.key(GOLDEN_SET)] if place.golden_asset else None,
            required_resource_keys={place.resource(WORKBENCHES)},
            resource_defs=place.resources,
            pool=place.pool,
        )
        if upstream.load:

            @decorate
            def gate(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
                return judged(context, {})
        else:

            @decorate
            def gate(context: dg.AssetCheckExecutionContext, rows: Any) -> dg.AssetCheckResult:
                return judged(context, {ROWS: rows})

    return gate


def _spec(place: Place, upstream: Upstream, name: str) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(
        name,
        asset=upstream.key,
        description=f"Its rows pass the gates of {place.suite.name}, and are no worse than before.",
        blocking=upstream.blocking,
        partitions_def=upstream.partitions_def,
    )


def evaluate_rows(
    bench: stages.Workbench, context: Context, upstream: Upstream, rows: Iterable[Mapping[str, Any]]
) -> tuple[Evaluation, Reported]:
    """Evaluate rows from the golden set to the report, and keep all of it."""
    store, suite, source = bench.store, bench.suite.name, upstream.key.to_user_string()
    golden = store.golden(suite) if bench.cases_folder != bench.golden_folder else None
    golden = golden or stages.load_golden(bench).table
    store.keep_golden(suite, golden)
    version = upstream.version(context)
    answers = stages.answer_with_rows(bench, golden, rows, version, source, upstream.columns).table
    store.keep_outputs(answers)
    scored = stages.score_answers(bench, golden, answers)
    store.keep_scores(scored)
    evaluation = stages.evaluate(bench, scored, answers.costs)
    stages.add_to_history(bench, context.run.run_id, scored, evaluation, varies=answers.varies)
    store.keep_evaluation(evaluation)
    previous = previous_version(upstream, context, bench)
    compared = stages.compare_evaluation(bench, golden, answers, scored, previous=previous)
    compared = replace(compared, proposal=propose(evaluation, standings_of(bench.rules_folder, compared)))
    store.keep_compared(compared)
    made = report_on(bench, answers, scored, evaluation, compared)
    store.keep_report(evaluation.identity, made.report.text, made.report.page)
    publish_report(bench, evaluation.identity)
    return evaluation, made


def _result(
    name: str, bench: stages.Workbench, evaluation: Evaluation, made: Reported
) -> dg.AssetCheckResult:
    """What the gate says: the verdict, why, and where the report is."""
    against, identity = made.against, evaluation.identity
    said = [each.text for each in (*against.blocking, *against.warnings)]
    lines = [plain(line, LONGEST_LINE) for line in said[:MOST_LINES]]
    headline = evaluation.summary.metrics.get(bench.suite.headline)
    verdict = f"{identity.outputs.version}: {shown.TITLES[against.state]}"
    if headline is not None:
        metric = bench.suite.metric(bench.suite.headline)
        verdict += f", {metric.name} {number(headline.value, metric.unit)}"
    red = against.state in ("block", "incomplete")
    return dg.AssetCheckResult(
        check_name=name,
        passed=not red,
        severity=dg.AssetCheckSeverity.ERROR if red else dg.AssetCheckSeverity.WARN,
        description="\n\n".join([plain(verdict, LONGEST_LINE), *([bullets(lines)] if lines else [])]),
        metadata={"evaluation": identity.id, **report_links(bench, identity)},
    )
