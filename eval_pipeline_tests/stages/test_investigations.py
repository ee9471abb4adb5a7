"""Every shipped version is investigated, without Dagster; what comes out is a document that can be read."""

from __future__ import annotations

import json

import pytest

from eval_pipeline import stages
from eval_pipeline.decisions import Standings, objections_to
from eval_pipeline.files import readable_json
from eval_pipeline.investigation import Investigation
from eval_pipeline.project import Project
from eval_pipeline.prompts import versions_in
from eval_pipeline.reports import blocks_markdown, investigation_blocks, investigation_data
from eval_pipeline.reports.console import print_blocks
from eval_pipeline.scoring import Evaluation
from eval_pipeline.suites import find_suite, suite_names
from eval_pipeline_tests.conftest import REPOSITORY, House

SUITES = suite_names(Project(REPOSITORY, REPOSITORY / ".eval"))


def evaluated(project: Project, suite: str, version: str) -> tuple[Evaluation, Investigation, str, str]:
    """A version's evaluation and investigation, as Markdown and as JSON."""
    bench = stages.Workbench(project, find_suite(project, suite))
    golden, answers = bench.store.golden(suite), bench.store.outputs(suite, version)
    scored, evaluation = bench.store.scored(suite, version), bench.store.evaluation(suite, version)
    assert golden
    assert answers
    assert scored
    assert evaluation
    found = stages.investigate_evaluation(bench, golden, answers, scored, evaluation)
    against = objections_to(bench, evaluation, Standings())
    blocks = list(investigation_blocks(bench.suite, evaluation, against, found))
    print_blocks(blocks)
    data = readable_json(investigation_data(bench.suite, evaluation, against, found))
    return evaluation, found, blocks_markdown(blocks), data


@pytest.mark.parametrize("suite", SUITES)
def test_every_shipped_version_is_investigated(
    suite: str, house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    versions = versions_in(house.project.prompts(suite))
    assert versions
    for version in versions:
        evaluation, found, markdown, data = evaluated(house.project, suite, version)
        assert all(len(line) <= 80 for line in capsys.readouterr().out.splitlines())
        assert json.loads(data)["failing"] == found.failing
        failing = [gate.metric for gate in evaluation.summary.gates if gate.status == "fail"]
        assert f"# Failure investigation: {suite}, {version}\n" in markdown
        assert all(metric in markdown for metric in failing)
        if not found.failing:
            assert "there is nothing to investigate" in markdown or failing
            continue
        for part in (
            "## Symptoms",
            "## Root cause",
            "## Proposed fix",
            "## Verification plan",
            "## Checklist",
        ):
            assert part in markdown
        assert f"{found.failing:,} of {found.answers:,} answer" in markdown
        first = found.hypotheses[0]
        assert first.certain or first.cause == "unknown"
        assert all(0 <= each.explained <= found.failing for each in found.hypotheses)
        assert all(each.evidence for each in found.hypotheses)


def test_answers_without_a_diagnosis_are_told_as_such(house: House) -> None:
    """Version 2.0 of grounded_qa cites everything: its claims are right, and scoring names no mistake."""
    _, found, markdown, _ = evaluated(house.project, "grounded_qa", "answer-with-citations-v2.0")
    first = found.hypotheses[0]
    assert first.cause == "undiagnosed"
    assert (
        "scoring does not say what is wrong with them; what sets them apart is their citation_precision"
        in (first.text)
    )
    assert "scoring does not say what is wrong" in markdown
