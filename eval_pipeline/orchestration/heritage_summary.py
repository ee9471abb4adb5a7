"""The summary over all heritage tasks: eight numbers from the latest evaluations, in one table."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import dagster as dg

from eval_pipeline.loading import load_suites, suite_names
from eval_pipeline.numbers import NOTHING, number
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.prompts import active_versions
from eval_pipeline.reports import Table, gate_label, size_of, systems_table, table, tables
from eval_pipeline.scoring import Evaluation
from eval_pipeline.stages import Workbench, compare_systems
from eval_pipeline.store import Store
from eval_pipeline.suite import Suite

KEY = dg.AssetKey(["heritage", "summary"])
TARGETS_MET = "targets_met"


class Source(NamedTuple):
    """Where a number of the summary comes from."""

    suite: str
    metric: str
    beside: str = ""
    """Another metric that a person wants to see beside it."""


SOURCES: Mapping[str, Source] = {
    "ner_f1_strict": Source("heritage_ner", "strict_f1"),
    "ner_f1_partial": Source("heritage_ner", "partial_f1"),
    "type_classification_accuracy": Source("heritage_typing", "accuracy"),
    "entity_linking_mrr": Source("heritage_linking", "mrr"),
    "entity_linking_hits@1": Source("heritage_linking", "hits@1"),
    "retrieval_ndcg@10": Source("heritage_retrieval", "ndcg@10"),
    "qa_faithfulness": Source("heritage_qa", "faithfulness"),
    "qa_relevance": Source("heritage_qa", "relevance_index", "relevance"),
}
"""The summary's keys, in the order of its document."""


class Entry(NamedTuple):
    """One number of the summary, or why there is none."""

    key: str
    source: Source
    version: str = ""
    value: float | None = None
    zone: str = ""
    label: str = ""
    """The result of its gate, as reports show it."""
    evaluated_at: str = ""
    cases: str = ""
    """On how many cases it rests, and on which."""
    missing: str = ""
    beside: float | None = None
    """The value of the other metric."""

    @property
    def met(self) -> bool:
        """Whether the number is there, and its gate passes."""
        return not self.missing and self.zone in ("pass", "excellent")


def summarize_heritage(project: Project, store: Store) -> list[Entry]:
    """Each number from the latest evaluation of its suite's active version; what is not there is missing."""
    entries: list[Entry] = []
    suites, broken = load_suites(project, _present(project))
    evaluations = {suite.name: _latest(project, store, suite) for suite in suites}
    for key, source in SOURCES.items():
        latest = evaluations.get(source.suite, [])
        entries += [_entry(key, source, version, evaluation) for version, evaluation in latest]
        if not latest:
            missing = "the suite cannot be loaded" if source.suite in broken else "no active version"
            entries.append(Entry(key, source, missing=missing))
    return entries


def _present(project: Project) -> list[str]:
    """The heritage suites that the project has."""
    return sorted({source.suite for source in SOURCES.values()} & set(suite_names(project)))


def _latest(project: Project, store: Store, suite: Suite) -> list[tuple[str, Evaluation | None]]:
    """The active versions of a suite with their latest evaluations."""
    versions = active_versions(suite, project.prompts(suite.name))
    return [(version, store.evaluation(suite.name, version)) for version in versions]


def _entry(key: str, source: Source, version: str, evaluation: Evaluation | None) -> Entry:
    if evaluation is None:
        return Entry(key, source, version, missing="not evaluated")
    if evaluation.outage:
        return Entry(key, source, version, evaluated_at=evaluation.created_at, missing="incomplete")
    result = evaluation.summary.metrics.get(source.metric)
    if result is None or result.value is None:
        return Entry(
            key, source, version, evaluated_at=evaluation.created_at, missing="undefined in the evaluation"
        )
    gate = next((gate for gate in evaluation.summary.gates if gate.metric == source.metric), None)
    zone, label = (gate.zone or "", gate_label(gate).text) if gate else ("", "")
    cases = size_of(evaluation.summary)
    other = evaluation.summary.metrics.get(source.beside)
    beside = other.value if other else None
    return Entry(key, source, version, result.value, zone, label, evaluation.created_at, cases, beside=beside)


def summary_table(entries: list[Entry]) -> Table:
    """The summary for a person."""
    return Table(
        ("summary", "value", "zone", "beside it", "cases", "metric", "version", "evaluated at"),
        [
            (
                entry.key,
                NOTHING if entry.missing else number(entry.value),
                f"✗ missing: {entry.missing}" if entry.missing else entry.label,
                NOTHING if entry.beside is None else f"{entry.source.beside} {number(entry.beside)}",
                entry.cases or NOTHING,
                f"{entry.source.suite}: {entry.source.metric}",
                entry.version or NOTHING,
                entry.evaluated_at or NOTHING,
            )
            for entry in entries
        ],
    )


def build_summaries(project: Project) -> list[dg.AssetsDefinition]:
    """The summary as the only asset of a list, which is empty where the project has no heritage suite."""
    return [_build_summary(project)] if _present(project) else []


def _build_summary(project: Project) -> dg.AssetsDefinition:
    """The summary as an asset, below the metrics of every heritage suite that the project has."""

    @dg.asset(
        key=KEY,
        group_name="heritage",
        description="The eight summary numbers of the heritage tasks, from the latest evaluation of each "
        "suite's active version. A suite that was not evaluated is missing, and never passes.",
        deps=[dg.AssetDep(dg.AssetKey([name, "metrics"])) for name in _present(project)],
        check_specs=[
            dg.AssetCheckSpec(
                TARGETS_MET, asset=KEY, description="Every number is there and in its pass zone."
            )
        ],
    )
    def heritage_summary() -> Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]:
        try:
            entries = summarize_heritage(project, Store(project.state))
            metadata = _metadata(project, entries)
        except BadInput as bad:
            raise dg.Failure("\n".join(map(str, bad.problems)), allow_retries=False) from None
        yield dg.MaterializeResult(metadata=metadata)
        yield _targets_met(entries)

    return heritage_summary


def refresh_summary_events(project: Project) -> list[dg.AssetMaterialization | dg.AssetCheckEvaluation]:
    """The summary made anew outside of a run; what to tell Dagster of it, if it has such an asset."""
    if not _present(project):
        return []
    entries = summarize_heritage(project, Store(project.state))
    check = _targets_met(entries)
    return [
        dg.AssetMaterialization(KEY, metadata=_metadata(project, entries)),
        dg.AssetCheckEvaluation(
            asset_key=KEY,
            check_name=TARGETS_MET,
            passed=check.passed,
            metadata=check.metadata,
            severity=check.severity,
            description=check.description,
        ),
    ]


def _metadata(project: Project, entries: list[Entry]) -> dict[str, Any]:
    """What a person sees of the summary in the UI: the numbers, and the systems of each task beside them."""
    numbers = {entry.key: entry.value for entry in entries if entry.value is not None}
    beside = {
        f"{entry.key}_{entry.source.beside}": entry.beside for entry in entries if entry.beside is not None
    }
    suites, _ = load_suites(project, _present(project))
    systems = [each for suite in suites for each in _systems(Workbench(project, suite))]
    return {
        "summary": dg.MetadataValue.md(table(summary_table(entries))),
        "systems": dg.MetadataValue.md(tables(systems) or "none"),
        **numbers,
        **beside,
    }


def _systems(bench: Workbench) -> list[Table]:
    """The systems of a suite, if there are any; one that cannot be used is missing above, too."""
    try:
        systems = compare_systems(bench)
        return [systems_table(bench.suite, systems, bench.gates)] if systems else []
    except BadInput:
        return []


def _targets_met(entries: list[Entry]) -> dg.AssetCheckResult:
    short = [
        f"{entry.key}: {entry.missing or number(entry.value)} {entry.label}".rstrip()
        for entry in entries
        if not entry.met
    ]
    return dg.AssetCheckResult(
        check_name=TARGETS_MET,
        passed=not short,
        severity=dg.AssetCheckSeverity.WARN,
        description="; ".join(short) or "Every heritage task meets its targets.",
        metadata={"missing": sum(bool(entry.missing) for entry in entries), "short": len(short)},
    )
