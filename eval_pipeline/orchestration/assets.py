"""Suite → assets: one function builds the chain that every suite gets.

golden_set → model_outputs → case_scores → metrics → baseline_comparison → report → active_version
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
import msgspec
from msgspec.structs import replace

from eval_pipeline import reports as shown
from eval_pipeline import stages
from eval_pipeline.answers import parse_trials
from eval_pipeline.comparison import metric_trends
from eval_pipeline.decisions import Standings, objections_to, propose, standings_of
from eval_pipeline.gates import GATES_FILE, read_gates
from eval_pipeline.orchestration import checks
from eval_pipeline.orchestration.active_version import build_active_version
from eval_pipeline.orchestration.columns import table_metadata
from eval_pipeline.orchestration.configuration import ComparisonConfig, chosen, evaluation_schema
from eval_pipeline.orchestration.io_manager import GOLDEN_SET
from eval_pipeline.orchestration.metadata import (
    comparison_metadata,
    in_screens,
    investigation_metadata,
    metrics_metadata,
    outputs_metadata,
    page_link,
    publish_report,
    report_metadata,
    sample_metadata,
)
from eval_pipeline.orchestration.places import MODEL_OUTPUTS, NOTHING, Place, Work
from eval_pipeline.orchestration.reporting import report_on
from eval_pipeline.orchestration.resources import PROCESS_TAG, PROGRESS, STORE, WORKBENCHES, Workbenches
from eval_pipeline.orchestration.upstream import ROWS, Upstream, previous_version, table_rows
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.scoring import Evaluation, case_rows, of_version
from eval_pipeline.store import AnswerTable, Compared, GoldenTable, Scored
from eval_pipeline.suite import quantities, suite_code

STATE_TAG = "eval_pipeline/state"
"""Whether a version passes, on the materialization of its report."""

Results = Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]


def build_job(place: Place, assets: Sequence[dg.AssetsDefinition]) -> Any:
    """The job that evaluates a version of a suite from the golden set to the report."""
    return dg.define_asset_job(
        place.job,
        selection=dg.AssetSelection.assets(*assets),
        description=f"Evaluates a prompt version of {place.suite.name}, from the golden set to the report.",
    )


def build_chain(place: Place, project: Project) -> list[dg.AssetsDefinition]:
    """The assets of a suite, with their checks: of rows of another asset, no version is in use."""
    return [
        _golden_set(place),
        _rows(place, place.upstream) if place.upstream else _model_outputs(place, project),
        _case_scores(place),
        _metrics(place, project),
        _baseline_comparison(place),
        _report(place),
        *(() if place.upstream else (build_active_version(place),)),
    ]


def _asset(
    place: Place,
    stage: str,
    description: str,
    *,
    upstream: Sequence[str] = (),
    ins: Mapping[str, dg.AssetIn] = NOTHING,
    deps: Sequence[dg.AssetDep] = (),
    check_specs: Sequence[dg.AssetCheckSpec] = (),
    config_schema: Mapping[str, dg.Field] | None = None,
) -> Callable[[Work], dg.AssetsDefinition]:
    """What all stages have in common. Their output is optional: bad input is a failed check, not a crash."""
    return place.asset(
        stage,
        check_specs,
        description=description,
        partitions_def=None if stage == GOLDEN_SET else place.partitions,
        io_manager_key=place.resource(STORE),
        required_resource_keys={place.resource(each) for each in (PROGRESS, STORE, WORKBENCHES)},
        output_required=False,
        ins={**{name: dg.AssetIn(key=place.key(name)) for name in upstream}, **ins},
        deps=deps,
        config_schema=config_schema,
    )


def _bench(context: dg.AssetExecutionContext, place: Place) -> stages.Workbench:
    """What this run has loaded of a suite already."""
    benches: Workbenches = place.of(context, WORKBENCHES)
    return benches.of(place.suite, context.run.run_id)


def _golden_set(place: Place) -> dg.AssetsDefinition:
    suite = place.suite
    description = f"The golden cases of {suite.name}, read from golden/{suite.name}."

    ins = {ROWS: dg.AssetIn(key=place.golden_asset)} if place.golden_asset else NOTHING

    @_asset(place, GOLDEN_SET, description, ins=ins, check_specs=checks.golden_specs(place))
    def golden_set(context: dg.AssetExecutionContext, **given: Any) -> Results:
        try:
            if place.golden_asset:
                source = place.golden_asset.to_user_string()
                stages.keep_golden_rows(_bench(context, place), table_rows(given[ROWS], source))
            loaded = stages.load_golden(_bench(context, place))
            with suite_code(suite.name):
                results = list(checks.golden_checks(suite, loaded))
        except BadInput as bad:
            yield checks.problems_check(checks.WELL_FORMED, bad.problems)
            return
        facts = loaded.table.facts
        yield dg.MaterializeResult(
            value=loaded.table,
            data_version=dg.DataVersion(facts.golden_hash),
            metadata={
                "cases": facts.cases,
                "golden_hash": facts.golden_hash,
                **({"dataset": loaded.dataset.text} if loaded.dataset else {}),
                **in_screens("overview", shown.table(shown.overview_table(loaded.overview))),
            },
        )
        yield from results
        try:
            probed = stages.probe_golden(_bench(context, place), loaded.table)
        except BadInput as bad:
            yield checks.problems_check(checks.PROBES, bad.problems)
            return
        yield checks.probes_check(suite, probed)

    return golden_set


def _model_outputs(place: Place, project: Project) -> dg.AssetsDefinition:
    suite = place.suite
    description = f"What an engine answers to every case of {suite.name} with this version, in every trial."

    @_asset(
        place,
        MODEL_OUTPUTS,
        description,
        upstream=("golden_set",),
        check_specs=checks.output_specs(place),
        config_schema=evaluation_schema(place, project),
    )
    def model_outputs(context: dg.AssetExecutionContext, golden_set: GoldenTable) -> Results:
        config = chosen(context)
        try:
            answers = stages.answer_cases(
                _bench(context, place),
                stages.draw_cases(golden_set, config["cases"], config["stratify"], config["seed"]),
                context.partition_key,
                engine=config["engine"],
                trials=parse_trials(config["trials"]),
                sample=config["sample"],
                progress=place.of(context, PROGRESS)(context.log),
            )
        except BadInput as bad:
            yield checks.problems_check(checks.PROMPT_VALID, bad.problems)
            return
        yield dg.MaterializeResult(
            value=answers,
            data_version=dg.DataVersion(answers.identity.id),
            metadata=outputs_metadata(answers),
        )
        limits = _bench(context, place).operation_gates
        yield from checks.output_checks(answers.identity.subject, answers.costs, limits)

    return model_outputs


def _rows(place: Place, upstream: Upstream) -> dg.AssetsDefinition:
    source = upstream.key.to_user_string()
    description = f"The rows of {source}, as the answers to the cases of {place.suite.name}."

    @_asset(
        place,
        MODEL_OUTPUTS,
        description,
        upstream=("golden_set",),
        ins=upstream.ins,
        deps=upstream.deps,
        check_specs=checks.output_specs(place),
    )
    def model_outputs(context: dg.AssetExecutionContext, golden_set: GoldenTable, **given: Any) -> Results:
        bench = _bench(context, place)
        try:
            rows = upstream.rows(context, given)
            taken = stages.answer_with_rows(
                bench, golden_set, rows, place.version(context), source, upstream.columns
            )
        except BadInput as bad:
            yield checks.problems_check(checks.PROMPT_VALID, bad.problems)
            return
        answers = taken.table
        yield dg.MaterializeResult(
            value=answers,
            data_version=dg.DataVersion(answers.identity.id),
            metadata={**outputs_metadata(answers), "rows": taken.rows, "rows_of_other_cases": taken.beside},
        )
        yield from checks.output_checks(answers.identity.subject, answers.costs, bench.operation_gates)

    return model_outputs


def _case_scores(place: Place) -> dg.AssetsDefinition:
    suite = place.suite
    description = (
        f"What each answer earns against the golden set of {suite.name}, and what was wrong with it."
    )

    @_asset(
        place,
        "case_scores",
        description,
        upstream=("golden_set", "model_outputs"),
        check_specs=checks.score_specs(place),
    )
    def case_scores(
        context: dg.AssetExecutionContext, golden_set: GoldenTable, model_outputs: AnswerTable
    ) -> Results:
        try:
            scored = stages.score_answers(_bench(context, place), golden_set, model_outputs)
        except BadInput as bad:
            yield checks.problems_check(checks.SCORED, bad.problems)
            return
        yield dg.MaterializeResult(
            value=scored,
            data_version=dg.DataVersion(scored.identity.id),
            metadata={
                **sample_metadata(scored.identity.outputs),
                "evaluation": scored.identity.id,
                "rows": scored.scores.counts.num_rows,
                "diagnoses": dg.MetadataValue.md(shown.table(shown.diagnosis_table(scored.scores))),
                **table_metadata(of_version(scored.identity.outputs, case_rows(scored.scores))),
            },
        )
        yield checks.scored_check(scored.identity.outputs.subject, scored.scores)

    return case_scores


def _metrics(place: Place, project: Project) -> dg.AssetsDefinition:
    suite = place.suite
    description = (
        f"Every metric of {suite.name}, over all cases and by group, in the zone its gate puts it in."
    )
    file = project.rules(suite.name) / GATES_FILE
    gated = [name for name in read_gates(suite, file, Problems()) if name in quantities(suite)]

    @_asset(
        place,
        "metrics",
        description,
        upstream=("model_outputs", "case_scores"),
        check_specs=checks.gate_specs(place, gated),
    )
    def metrics(
        context: dg.AssetExecutionContext, model_outputs: AnswerTable, case_scores: Scored
    ) -> Results:
        _stop_unless_one(model_outputs.identity, case_scores.identity.outputs)
        bench = _bench(context, place)
        try:
            gates = bench.gates
            evaluation = stages.evaluate(bench, case_scores, model_outputs.costs)
        except BadInput as bad:
            yield checks.problems_check(checks.GATES_VALID, bad.problems)
            return
        varies, run = model_outputs.varies, context.run.run_id
        point, alike = stages.add_to_history(bench, run, case_scores, evaluation, varies=varies)
        trends = metric_trends(suite, gates, alike)
        scores = case_scores.scores
        yield dg.MaterializeResult(
            value=evaluation,
            data_version=dg.DataVersion(evaluation.id),
            metadata=metrics_metadata(bench, evaluation, scores, alike, trends, point.replay),
        )
        page = page_link(bench, evaluation.identity)
        yield from checks.gate_checks(suite, gated, evaluation, scores, page)
        yield checks.trend_check(evaluation.identity.outputs.subject, len(alike), trends)

    return metrics


def _baseline_comparison(place: Place) -> dg.AssetsDefinition:
    suite = place.suite
    description = (
        f"What changed against the frozen baseline of {suite.name} and against the version that would be "
        "replaced, by metric and case, and what to do."
    )

    @_asset(
        place,
        "baseline_comparison",
        description,
        upstream=("golden_set", "model_outputs", "case_scores", "metrics"),
        check_specs=checks.comparison_specs(place),
    )
    def baseline_comparison(
        context: dg.AssetExecutionContext,
        golden_set: GoldenTable,
        model_outputs: AnswerTable,
        case_scores: Scored,
        metrics: Evaluation,
        config: ComparisonConfig,
    ) -> Results:
        _stop_unless_one(case_scores.identity, metrics.identity)
        _stop_unless_one(model_outputs.identity, metrics.identity.outputs)
        bench = _bench(context, place)
        compared = Compared(metrics.identity, ())
        standings = Standings()
        try:
            compared = stages.compare_evaluation(
                bench,
                golden_set,
                model_outputs,
                case_scores,
                since=config.since,
                previous=previous_version(place.upstream, context, bench),
                progress=place.of(context, PROGRESS)(context.log),
            )
            standings = standings_of(bench.rules_folder, compared)
            page = page_link(bench, metrics.identity)
            result = checks.regression_check(suite, metrics.identity.outputs, standings, page, metrics.outage)
        except BadInput as bad:
            result = checks.problems_check(checks.REGRESSION, bad.problems)
        proposal = propose(metrics, standings)
        against = objections_to(bench, metrics, standings)
        looked_at = (golden_set, model_outputs, case_scores, metrics)
        yield dg.MaterializeResult(
            value=replace(compared, proposal=proposal),
            metadata={
                **sample_metadata(metrics.identity.outputs),
                **({"verdict": "incomplete"} if metrics.outage else comparison_metadata(suite, standings)),
                **({"proposal": proposal.text} if proposal else {}),
                **(investigation_metadata(bench, against, *looked_at) if against.blocking else {}),
            },
        )
        yield result

    return baseline_comparison


def _stop_unless_one(*identities: msgspec.Struct) -> None:
    """Refuse to put parts of different evaluations together, as partial materializations may bring about."""
    if len(set(identities)) > 1:
        raise dg.Failure(
            "The assets above belong to different evaluations. Materialize the whole chain of this version.",
            allow_retries=False,
        )


def _report(place: Place) -> dg.AssetsDefinition:
    suite = place.suite
    description = f"The report on this version of {suite.name}: verdict first, then numbers, then cases."

    @_asset(
        place,
        "report",
        description,
        upstream=("model_outputs", "case_scores", "metrics", "baseline_comparison"),
        check_specs=checks.report_specs(place),
    )
    def report(
        context: dg.AssetExecutionContext,
        model_outputs: AnswerTable,
        case_scores: Scored,
        metrics: Evaluation,
        baseline_comparison: Compared,
    ) -> Results:
        _stop_unless_one(case_scores.identity, metrics.identity, baseline_comparison.identity)
        _stop_unless_one(model_outputs.identity, metrics.identity.outputs)
        bench = _bench(context, place)
        try:
            made = report_on(bench, model_outputs, case_scores, metrics, baseline_comparison)
        except BadInput as bad:
            yield checks.problems_check(checks.REPORTED, bad.problems)
            return
        yield dg.MaterializeResult(
            value=made.report,
            metadata=report_metadata(bench, metrics.identity, made.against, made.report.text, made.versions),
            tags={STATE_TAG: made.against.state},
        )
        # A command writes, or does not, what it was told to.
        if not place.upstream and PROCESS_TAG not in context.run.tags:
            _keep_in_changelog(context, bench, metrics, standings_of(bench.rules_folder, baseline_comparison))
        try:
            publish_report(bench, metrics.identity)
        except BadInput as bad:
            yield checks.problems_check(checks.REPORTED, bad.problems)
            return
        yield checks.reported_check(metrics.identity.outputs.subject)

    return report


def _keep_in_changelog(
    context: dg.AssetExecutionContext, bench: stages.Workbench, evaluation: Evaluation, standings: Standings
) -> None:
    """Write an evaluation into its version's entry; a changelog that cannot be edited loses no report."""
    try:
        shown.keep_in_changelog(bench, evaluation, standings)
    except BadInput as bad:
        context.log.warning("; ".join(map(str, bad.problems)))
