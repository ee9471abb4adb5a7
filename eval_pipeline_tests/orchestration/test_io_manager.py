"""Values of assets outside of a run: what a notebook loads is what the run made."""

from __future__ import annotations

import json
import os
from unittest import mock

import dagster as dg
import pytest

from eval_pipeline.definitions import build_definitions
from eval_pipeline.orchestration import partitions_of
from eval_pipeline.orchestration.io_manager import Report
from eval_pipeline.project import Project
from eval_pipeline.scoring import Evaluation
from eval_pipeline.store import AnswerTable, Compared, GoldenTable, Scored
from eval_pipeline_tests.running import environment, instance_in, run_chain

SUITE, VERSION = "decomposition", "decompose-concepts-v1.0"


def test_every_asset_can_be_loaded_outside_of_a_run(project: Project) -> None:
    with instance_in(project) as instance:
        result = run_chain(project, instance, SUITE, VERSION)
    definitions = build_definitions(project)

    def load(stage: str, version: str | None = VERSION) -> object:
        return definitions.load_asset_value([SUITE, stage], partition_key=version)

    def made(stage: str) -> object:
        return result.output_for_node(f"{SUITE}__{stage}")

    with mock.patch.dict(os.environ, environment(project)):
        golden, answers, scored = load("golden_set", None), load("model_outputs"), load("case_scores")
        evaluation, compared, report = load("metrics"), load("baseline_comparison"), load("report")
        assert load("golden_set") == golden == made("golden_set")
    assert isinstance(golden, GoldenTable)
    assert isinstance(answers, AnswerTable)
    answered = made("model_outputs")
    assert isinstance(answered, AnswerTable)
    assert answers.identity == answered.identity
    assert list(answers) == list(answered)
    assert scored == made("case_scores")
    assert isinstance(scored, Scored)
    assert evaluation == made("metrics")
    assert isinstance(evaluation, Evaluation)
    assert compared == made("baseline_comparison")
    assert isinstance(compared, Compared)
    assert [each.role for each in compared.comparisons] == ["baseline"]
    assert report == made("report")
    assert isinstance(report, Report)
    assert VERSION in report.text
    _are_frames(golden, answers, scored, evaluation, compared, report)


def _are_frames(
    golden: GoldenTable,
    answers: AnswerTable,
    scored: Scored,
    evaluation: Evaluation,
    compared: Compared,
    report: Report,
) -> None:
    """Each value as a data frame: of the size of what it holds, and with its numbers."""
    assert golden.to_pandas()["case_id"].tolist() == list(golden.hashes("case_hash"))
    assert json.loads(golden.to_pandas()["input"][0])
    assert golden.to_pandas()["attribute:domain"].notna().all()
    assert answers.to_pandas()["text"].tolist() == [answer.text for answer in answers]
    counts = scored.to_pandas()
    assert counts["case_id"].tolist() == scored.scores.case_ids
    assert counts["count:answers"].sum() == len(answers)
    metrics = evaluation.to_pandas()
    whole = metrics[metrics["axis"].isna()].set_index("metric")["value"]
    assert whole["overall_index"] == evaluation.summary.metrics["overall_index"].value
    (comparison,) = compared.comparisons
    changes = compared.to_pandas()
    assert len(changes) == len(comparison.metrics) + len(comparison.groups)
    assert set(changes["role"]) == {"baseline"}
    (row,) = report.to_pandas().to_dict("records")
    assert (row["suite"], row["version"], row["text"]) == (SUITE, VERSION, report.text)


@pytest.mark.parametrize(
    ("stage", "version", "message"),
    [
        ("golden_set", None, "decomposition/golden_set has no value. Materialize it."),
        ("metrics", VERSION, f"decomposition/metrics has no value for {VERSION}. Materialize it."),
        ("report", None, "decomposition/report has no value. Give a version as its partition key."),
    ],
)
def test_a_value_that_is_not_there_says_what_to_do(
    project: Project, instance: dg.DagsterInstance, stage: str, version: str | None, message: str
) -> None:
    instance.add_dynamic_partitions(str(partitions_of(SUITE).name), [VERSION])
    with pytest.raises(dg.Failure, match=message):
        build_definitions(project).load_asset_value([SUITE, stage], instance=instance, partition_key=version)
