"""The heritage summary: eight keys, from the latest evaluations; what is missing never passes."""

from __future__ import annotations

import dagster as dg

from eval_pipeline.definitions import build_definitions
from eval_pipeline.orchestration.heritage_summary import (
    KEY,
    SOURCES,
    TARGETS_MET,
    Entry,
    Source,
    summarize_heritage,
    summary_table,
)
from eval_pipeline.project import Project
from eval_pipeline.reports import table
from eval_pipeline.scoring import Evaluation
from eval_pipeline.store import Store
from eval_pipeline_tests.running import QUIET, instance_in, run_chain

DOCUMENT_KEYS = [
    "ner_f1_strict",
    "ner_f1_partial",
    "type_classification_accuracy",
    "entity_linking_mrr",
    "entity_linking_hits@1",
    "retrieval_ndcg@10",
    "qa_faithfulness",
    "qa_relevance",
]


def materialize(project: Project, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    job = build_definitions(project).resolve_implicit_global_asset_job_def()
    return job.execute_in_process(instance=instance, asset_selection=[KEY], run_config=QUIET)


def test_it_has_the_keys_of_the_document_in_its_order() -> None:
    assert list(SOURCES) == DOCUMENT_KEYS


def test_a_suite_that_was_not_evaluated_is_missing_and_never_passes(whole_project: Project) -> None:
    entries = summarize_heritage(whole_project, Store(whole_project.state))
    assert [entry.key for entry in entries] == DOCUMENT_KEYS
    assert all(entry.missing and not entry.met and entry.value is None for entry in entries)
    assert "✗ missing" in table(summary_table(entries))
    with instance_in(whole_project) as instance:
        result = materialize(whole_project, instance)
    (check,) = result.get_asset_check_evaluations()
    assert not check.passed
    assert check.check_name == TARGETS_MET
    assert "qa_faithfulness: not evaluated" in str(check.description)


def test_it_shows_what_was_evaluated(whole_project: Project) -> None:
    with instance_in(whole_project) as instance:
        evaluated = run_chain(whole_project, instance, "heritage_qa", "answer-questions-v1.1")
        assert evaluated.success
        result = materialize(whole_project, instance)
    evaluation: Evaluation = evaluated.output_for_node("heritage_qa__metrics")
    (event,) = result.get_asset_materialization_events()
    shown = event.materialization.metadata
    for key, metric in (("qa_faithfulness", "faithfulness"), ("qa_relevance", "relevance_index")):
        assert shown[key].value == evaluation.summary.metrics[metric].value
    assert "ner_f1_strict" not in shown
    found = {entry.key: entry for entry in summarize_heritage(whole_project, Store(whole_project.state))}
    assert found["qa_faithfulness"].met
    assert found["qa_faithfulness"].version == "answer-questions-v1.1"


def test_a_number_below_its_target_or_without_a_gate_is_not_met() -> None:
    source = Source("heritage_qa", "faithfulness")
    assert Entry("qa_faithfulness", source, "v", 0.9, "pass").met
    assert not Entry("qa_faithfulness", source, "v", 0.9, "between").met
    assert not Entry("qa_faithfulness", source, "v", 0.9, "").met
    assert not Entry("qa_faithfulness", source, "v", 0.9, "pass", missing="not evaluated").met
