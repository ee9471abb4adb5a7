"""Suite → assets and checks: one function builds the chain that every suite gets.

golden_set → model_outputs → case_scores → metrics → baseline_comparison → report
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
import msgspec
import numpy as np

from eval_pipeline import stages
from eval_pipeline.comparison import Comparison
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.gates import ERROR_GATE, GATES_FILE, GateResult, read_gates
from eval_pipeline.golden import shortfalls
from eval_pipeline.problems import BadInput, Problem, Problems
from eval_pipeline.project import Project
from eval_pipeline.reports import evaluation as shown
from eval_pipeline.reports.charts import image
from eval_pipeline.reports.markdown import bullets, plain, table
from eval_pipeline.scoring import quantities
from eval_pipeline.store import Scored, Store
from eval_pipeline.store.io_manager import Compared, Report, StoreIOManager
from eval_pipeline.store.tables import AnswerTable, GoldenTable
from eval_pipeline.suite import Overview, Severity, Suite

STAGES = ("golden_set", "model_outputs", "case_scores", "metrics", "baseline_comparison", "report")
MOST_LINES = 50

STORE = "store"
PROJECT = "project"
PROGRESS = "progress"
PROBLEMS = "problems"

Results = Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]


class EvaluationConfig(dg.Config):
    """How a version is evaluated; every field has a sensible default."""

    engine: str | None = None
    trials: int | None = None
    sample: str = stages.DEFAULT_SAMPLE


def partitions_of(suite: str) -> dg.DynamicPartitionsDefinition:
    """The prompt versions of a suite, as partitions."""
    return dg.DynamicPartitionsDefinition(name=f"{suite}_prompt_versions")


def evaluation_job(suite: str) -> str:
    """The name of the job that runs a suite's whole chain."""
    return f"{suite}_evaluation"


def build_chain(suite: Suite, project: Project) -> list[dg.AssetsDefinition]:
    """The six assets of a suite, with their checks."""
    return [
        _golden_set(suite),
        _model_outputs(suite),
        _case_scores(suite),
        _metrics(suite, project),
        _baseline_comparison(suite),
        _report(suite),
    ]


def build_job(suite: Suite, assets: Sequence[dg.AssetsDefinition]) -> Any:
    """The job that evaluates a version of a suite from the golden set to the report."""
    return dg.define_asset_job(
        evaluation_job(suite.name),
        selection=dg.AssetSelection.assets(*assets),
        description=f"Evaluates a prompt version of {suite.name}, from the golden set to the report.",
    )


class LogProgress:
    """Progress as lines in Dagster's log: at most one every few seconds."""

    def __init__(self, log: dg.DagsterLogManager) -> None:
        self._log = log
        self._title, self._total, self._done = "", 0, 0
        self._next = 0.0

    def start(self, title: str, total: int) -> None:
        """Say what begins."""
        self._title, self._total, self._done = title, total, 0
        self._next = time.monotonic() + 5
        self._log.info(f"{title}: {total} answers to get")

    def advance(self, errors: int) -> None:
        """Say how far it is, now and then."""
        self._done += 1
        if self._done == self._total or time.monotonic() >= self._next:
            self._next = time.monotonic() + 5
            self._log.info(f"{self._title}: {self._done} of {self._total} answers, {errors} errors")


def _spec(suite: Suite, stage: str, name: str, description: str, blocking: bool = False) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(name, asset=[suite.name, stage], description=description, blocking=blocking)


def _asset(
    suite: Suite, stage: str, description: str, **options: Any
) -> Callable[[Any], dg.AssetsDefinition]:
    upstream = options.pop("upstream", ())
    decorate: Any = dg.asset(
        key=[suite.name, stage],
        group_name=suite.name,
        description=description,
        partitions_def=None if stage == "golden_set" else partitions_of(suite.name),
        io_manager_key=STORE,
        required_resource_keys={PROJECT, PROGRESS, STORE},
        output_required=False,
        ins={name: dg.AssetIn(key=[suite.name, name]) for name in upstream},
        **options,
    )
    return decorate  # type: ignore[no-any-return]


def _golden_set(suite: Suite) -> dg.AssetsDefinition:
    stage = "golden_set"
    specs = [
        _spec(
            suite,
            stage,
            "well_formed",
            "Every golden file can be read. If not, nothing downstream runs.",
            True,
        ),
        _spec(suite, stage, "signed_off", "The golden set is as a person last signed it off."),
        *(_spec(suite, stage, each.name, each.description) for each in suite.requirements),
    ]

    @_asset(
        suite, stage, f"The golden cases of {suite.name}, read from golden/{suite.name}.", check_specs=specs
    )
    def golden_set(context: dg.AssetExecutionContext) -> Results:
        project, store = context.resources.project, _store(context)
        try:
            loaded = stages.load_golden(project, store, suite)
        except BadInput as bad:
            yield _problems_result("well_formed", bad.problems)
            return
        yield _passed("well_formed", f"{loaded.table.facts.cases} cases can be read.")
        yield dg.AssetCheckResult(
            check_name="signed_off",
            passed=not loaded.unsigned,
            description=(
                f"Changes that nobody signed off: {', '.join(loaded.unsigned[:MOST_LINES])}. "
                f"Review them, then run: eval-pipeline golden freeze {suite.name} --reason …"
                if loaded.unsigned
                else "The golden set is as it was signed off."
            ),
            metadata={"changes": len(loaded.unsigned)},
        )
        for requirement, missing in shortfalls(suite, loaded.overview):
            yield dg.AssetCheckResult(
                check_name=requirement.name,
                passed=not missing,
                severity=_severity(requirement.severity),
                description="; ".join(missing[:MOST_LINES]) if missing else requirement.description,
                metadata={"shortfalls": len(missing)},
            )
        yield dg.MaterializeResult(
            value=loaded.table,
            data_version=dg.DataVersion(loaded.table.facts.golden_hash),
            metadata={
                "cases": loaded.table.facts.cases,
                "golden_hash": loaded.table.facts.golden_hash,
                "overview": dg.MetadataValue.md(_overview_table(loaded.overview)),
            },
        )

    return golden_set


def _overview_table(overview: Overview) -> str:
    plain_measures = {
        name: values
        for name, values in overview.measures.items()
        if all(isinstance(value, int | float) for value in values)
    }
    columns = {**overview.attributes, **plain_measures}
    header = ("case", "file", *(name.replace("_", " ") for name in columns))
    rows = (
        (plain(case_id), plain(file), *(plain(values[index]) for values in columns.values()))
        for index, (case_id, file) in enumerate(zip(overview.case_ids, overview.files, strict=True))
    )
    shown_rows = list(rows)[:MOST_LINES]
    more = len(overview.case_ids) - len(shown_rows)
    return table(header, shown_rows) + (f"\n\nand {more} more" if more > 0 else "")


def _model_outputs(suite: Suite) -> dg.AssetsDefinition:
    stage = "model_outputs"
    specs = [
        _spec(
            suite, stage, "prompt_valid", "The prompt file, its template and its engine can be used.", True
        ),
        _spec(suite, stage, "answered", "Every case has an answer in every trial."),
    ]
    description = (
        f"What an engine answers to every case of {suite.name} with this prompt version, in every trial."
    )

    @_asset(suite, stage, description, check_specs=specs, upstream=("golden_set",))
    def model_outputs(
        context: dg.AssetExecutionContext, golden_set: GoldenTable, config: EvaluationConfig
    ) -> Results:
        try:
            answers = stages.answer_cases(
                context.resources.project,
                _store(context),
                suite,
                golden_set,
                context.partition_key,
                engine=config.engine,
                trials=config.trials,
                sample=config.sample,
                progress=context.resources.progress(context.log),
            )
        except BadInput as bad:
            yield _problems_result("prompt_valid", bad.problems)
            return
        yield _passed("prompt_valid", "The prompt renders and its engine answers.")
        errors = _errors_by_kind(answers)
        total = sum(errors.values())
        kinds = ", ".join(f"{count} × {kind}" for kind, count in errors.items())
        told = f"{total} of {len(answers)} answers are errors: {kinds}."
        yield dg.AssetCheckResult(
            check_name="answered",
            passed=not total,
            severity=_severity("critical" if ERROR_GATE.zone(total / len(answers)) == "fail" else "warning"),
            description=told if total else f"All {len(answers)} answers are there.",
            metadata={"answers": len(answers), "errors": total},
        )
        yield dg.MaterializeResult(
            value=answers,
            data_version=dg.DataVersion(answers.identity.id),
            metadata=_outputs_metadata(answers, total),
        )

    return model_outputs


def _errors_by_kind(answers: AnswerTable) -> dict[str, int]:
    kinds: dict[str, int] = {}
    for answer in answers:
        if answer.error is not None:
            kinds[answer.error] = kinds.get(answer.error, 0) + 1
    return kinds


def _outputs_metadata(answers: AnswerTable, errors: int) -> dict[str, Any]:
    identity = answers.identity
    latencies = [answer.latency_ms for answer in answers if answer.latency_ms is not None]
    costs = [answer.cost_usd for answer in answers if answer.cost_usd is not None]
    metadata: dict[str, Any] = {
        "engine": identity.engine,
        "model": identity.model,
        "sample": identity.sample,
        "trials": identity.trials,
        "answers": len(answers),
        "errors": errors,
        "outputs_id": identity.id,
        "file": dg.MetadataValue.path(str(answers.path)),
    }
    if latencies:
        metadata["latency_p50_ms"] = float(np.percentile(latencies, 50))
        metadata["latency_p95_ms"] = float(np.percentile(latencies, 95))
    if costs:
        metadata["cost_usd"] = float(sum(costs))
    return metadata


def _case_scores(suite: Suite) -> dg.AssetsDefinition:
    stage = "case_scores"
    description = (
        f"What each answer earns against the golden set of {suite.name}, and what was wrong with it."
    )

    @_asset(suite, stage, description, upstream=("golden_set", "model_outputs"))
    def case_scores(
        context: dg.AssetExecutionContext, golden_set: GoldenTable, model_outputs: AnswerTable
    ) -> dg.MaterializeResult[Any]:
        scored = stages.score_answers(context.resources.project, suite, golden_set, model_outputs)
        kinds = scored.scores.diagnoses["kind"].value_counts().to_pylist()
        return dg.MaterializeResult(
            value=scored,
            data_version=dg.DataVersion(scored.identity.id),
            metadata={
                "evaluation": scored.identity.id,
                "rows": scored.scores.counts.num_rows,
                "diagnoses": dg.MetadataValue.md(
                    table(
                        ("kind", "times"),
                        (
                            (plain(each["values"].replace("_", " ")), str(each["counts"]))
                            for each in _by_count(kinds)
                        ),
                    )
                ),
            },
        )

    return case_scores


def _by_count(kinds: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(kinds, key=lambda each: (-each["counts"], each["values"]))


def _gate_check(metric: str) -> str:
    return f"gate_{metric.replace('@', '_at_')}"


def _metrics(suite: Suite, project: Project) -> dg.AssetsDefinition:
    stage = "metrics"
    file = project.golden(suite.name) / GATES_FILE
    described = quantities(suite)
    gated = [name for name in read_gates(suite, file, Problems()) if name in described]
    specs = [
        _spec(suite, stage, "gates_valid", f"golden/{suite.name}/{GATES_FILE} can be used.", True),
        *(_spec(suite, stage, _gate_check(name), described[name].description) for name in gated),
    ]

    @_asset(
        suite,
        stage,
        f"Every metric of {suite.name}, over all cases and by group, with the zone its gate puts it in.",
        check_specs=specs,
        upstream=("case_scores",),
    )
    def metrics(context: dg.AssetExecutionContext, case_scores: Scored) -> Results:
        try:
            gates = stages.load_gates(context.resources.project, suite)
            evaluation = stages.evaluate(context.resources.project, suite, case_scores)
        except BadInput as bad:
            yield _problems_result("gates_valid", bad.problems)
            return
        yield _passed("gates_valid", f"{len(gates)} gates apply.")
        results = {result.metric: result for result in evaluation.summary.gates}
        for name in gated:
            yield _gate_result(suite, name, results.get(name), case_scores)
        chart = shown.metric_chart(suite, evaluation.summary, gates)
        yield dg.MaterializeResult(
            value=evaluation,
            data_version=dg.DataVersion(evaluation.id),
            metadata={
                "metrics": dg.MetadataValue.md(shown.metric_table(suite, evaluation.summary)),
                "chart": dg.MetadataValue.md(image(chart, "gated metrics by zone")),
                "worst_cases": dg.MetadataValue.md(
                    shown.worst_cases(suite, evaluation.case_results, case_scores.scores)
                ),
                "groups": dg.MetadataValue.md(shown.group_tables(suite, evaluation.summary) or "no groups"),
                **(
                    {"tables": dg.MetadataValue.md(tables)}
                    if (tables := shown.suite_tables(evaluation.summary))
                    else {}
                ),
                "cases": evaluation.summary.cases,
                "trials": evaluation.summary.trials,
                "errors": evaluation.summary.error_count,
                "evaluation": evaluation.id,
                **_numeric(evaluation),
            },
        )

    return metrics


def _numeric(evaluation: Evaluation) -> dict[str, float]:
    """Metrics as plain numbers, which Dagster plots over time."""
    return {name: each.value for name, each in evaluation.summary.metrics.items() if each.value is not None}


def _gate_result(suite: Suite, name: str, result: GateResult | None, scored: Scored) -> dg.AssetCheckResult:
    if result is None:
        return _passed(
            _gate_check(name), f"{GATES_FILE} no longer has a gate on {name}; reload the definitions."
        )
    named = shown.explanations(suite, name, scored.scores) if result.status in ("warn", "fail") else []
    told = f" What it is made of: {'; '.join(named[:10])}{' …' if len(named) > 10 else ''}" if named else ""
    return dg.AssetCheckResult(
        check_name=_gate_check(name),
        passed=result.status in ("pass", "not_applicable"),
        severity=dg.AssetCheckSeverity.ERROR if result.status == "fail" else dg.AssetCheckSeverity.WARN,
        description=result.message + told,
        metadata={
            "status": result.status,
            "zone": result.zone or "none",
            **({"value": result.value} if result.value is not None else {}),
        },
    )


def _baseline_comparison(suite: Suite) -> dg.AssetsDefinition:
    stage = "baseline_comparison"
    specs = [
        _spec(
            suite,
            stage,
            "regression",
            "No gated metric fell so far that the regression table stops the change.",
        )
    ]

    @_asset(
        suite,
        stage,
        f"What changed against the frozen baseline of {suite.name}, by metric and by case, and what to do.",
        check_specs=specs,
        upstream=("golden_set", "model_outputs", "metrics"),
    )
    def baseline_comparison(
        context: dg.AssetExecutionContext,
        golden_set: GoldenTable,
        model_outputs: AnswerTable,
        metrics: Evaluation,
    ) -> Results:
        project, comparison, bad = context.resources.project, None, None
        try:
            comparison = stages.compare_with_baseline(project, suite, golden_set, model_outputs)
        except BadInput as error:
            bad = error
        yield (
            _problems_result("regression", bad.problems)
            if bad
            else _regression_result(suite, comparison, context.partition_key)
        )
        yield dg.MaterializeResult(
            value=Compared(metrics.identity, comparison),
            metadata=_comparison_metadata(suite, comparison) if comparison else {"verdict": "no baseline"},
        )

    return baseline_comparison


def _regression_result(suite: Suite, comparison: Comparison | None, version: str) -> dg.AssetCheckResult:
    if comparison is None:
        return dg.AssetCheckResult(
            check_name="regression",
            passed=False,
            severity=dg.AssetCheckSeverity.WARN,
            description=(
                "There is no baseline to compare with. Promote an evaluation that you trust: "
                f"eval-pipeline baseline promote {suite.name} {version} --reason …"
            ),
        )
    stops = comparison.action in ("needs_approval", "block")
    return dg.AssetCheckResult(
        check_name="regression",
        passed=comparison.action == "proceed",
        severity=dg.AssetCheckSeverity.ERROR if stops else dg.AssetCheckSeverity.WARN,
        description=f"{comparison.verdict}; {comparison.action.replace('_', ' ')}. {comparison.sentence}",
        metadata={
            "verdict": comparison.verdict,
            "action": comparison.action,
            "cases_regressed": len(comparison.regressed),
            "cases_improved": len(comparison.improved),
        },
    )


def _comparison_metadata(suite: Suite, comparison: Comparison) -> dict[str, Any]:
    differences = {
        f"difference_{each.metric}": each.difference
        for each in comparison.metrics
        if each.difference is not None
    }
    return {
        "verdict": comparison.verdict,
        "action": comparison.action,
        "comparison": dg.MetadataValue.md(shown.comparison_text(suite, comparison)),
        "chart": dg.MetadataValue.md(
            image(shown.comparison_chart(suite, comparison), "differences by metric")
        ),
        "cases_compared": comparison.shared,
        "cases_improved": len(comparison.improved),
        "cases_regressed": len(comparison.regressed),
        "cases_appeared": len(comparison.appeared),
        "cases_vanished": len(comparison.vanished),
        **differences,
    }


def _report(suite: Suite) -> dg.AssetsDefinition:
    stage = "report"

    @_asset(
        suite,
        stage,
        f"The report on this version of {suite.name}: verdict first, then numbers, then cases.",
        upstream=("case_scores", "metrics", "baseline_comparison"),
    )
    def report(
        context: dg.AssetExecutionContext,
        case_scores: Scored,
        metrics: Evaluation,
        baseline_comparison: Compared,
    ) -> dg.MaterializeResult[Any]:
        text = shown.report(suite, metrics, case_scores.scores, baseline_comparison.comparison)
        return dg.MaterializeResult(
            value=Report(metrics.identity, text),
            metadata={
                "report": dg.MetadataValue.md(text),
                "file": dg.MetadataValue.path(str(_store(context).report_path(metrics.identity))),
            },
        )

    return report


def _store(context: dg.AssetExecutionContext) -> Store:
    manager: StoreIOManager = context.resources.store
    return manager.store


def _severity(severity: Severity) -> dg.AssetCheckSeverity:
    return dg.AssetCheckSeverity.ERROR if severity == "critical" else dg.AssetCheckSeverity.WARN


def _passed(check: str, description: str) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(check_name=check, passed=True, description=description)


def _problems_result(check: str, problems: Sequence[Problem]) -> dg.AssetCheckResult:
    """Bad input as a failed check: every problem, as the command line would print it."""
    lines = [str(problem) for problem in problems]
    more = f"\n… and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
    return dg.AssetCheckResult(
        check_name=check,
        passed=False,
        severity=dg.AssetCheckSeverity.ERROR,
        description="\n".join(lines[:MOST_LINES]) + more,
        metadata={
            "count": len(lines),
            "what_to_do": dg.MetadataValue.md(bullets(plain(line, 1000) for line in lines[:MOST_LINES])),
            PROBLEMS: dg.MetadataValue.json([msgspec.to_builtins(problem) for problem in problems]),
        },
    )
