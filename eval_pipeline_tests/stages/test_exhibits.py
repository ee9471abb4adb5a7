"""What can be looked at: the evaluation, the baseline and what would be replaced, case by case."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline import stages
from eval_pipeline.project import Project
from eval_pipeline.reports.page.findings import latest_findings
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.conftest import copy_project
from eval_pipeline_tests.reports.page.evaluated import evaluated

SUITE, V20 = "decomposition", "decompose-concepts-v2.0"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    copied = copy_project(tmp_path_factory.mktemp("exhibits") / "project", "decomposition")
    evaluated(copied, SUITE, V20)
    return copied


def exhibits(project: Project) -> stages.Exhibits:
    return latest_findings(stages.Workbench(project, find_suite(project, SUITE)), V20).exhibits


def test_both_sides_are_there_with_prompts_answers_and_diagnoses(project: Project) -> None:
    shown = exhibits(project)
    labels = [(each.label, each.role) for each in shown.all]
    assert labels == [
        (V20, "version"),
        ("baseline decompose-concepts-v1.0", "baseline"),
        ("decompose-concepts-v1.2 (in use)", "replaced"),
    ]
    for each in shown.all:
        assert each.prompt
        assert "max_concepts" in each.prompt
        assert "status:" not in each.prompt
        assert each.scores.diagnoses.num_rows > 0
    cases = [each for batch in shown.batches() for each in batch]
    assert [each.golden.case.id for each in cases] == [each.case.id for each in shown.cases()]
    for case in cases:
        assert case.prompt
        assert case.golden.case.input.source_text in case.prompt
        assert [len(trials) for trials in case.answers] == [1, 1, 1]
        assert all(answer and answer.text for trials in case.answers for answer in trials)


def test_a_prompt_that_changed_since_is_not_passed_off_as_the_one_that_was_asked(project: Project) -> None:
    path = project.prompts(SUITE) / f"{V20}.md"
    before = path.read_text()
    path.write_text(before + "\nMore.")
    try:
        shown = exhibits(project)
        assert shown.own.prompt is None
        assert [each.prompt for batch in shown.batches() for each in batch] == [None] * 15
    finally:
        path.write_text(before)


def test_a_template_that_cannot_be_rendered_leaves_the_rest_to_be_looked_at(tmp_path: Path) -> None:
    """The embedded engine reads no prompt, so that only the first one is tried when it is asked."""
    project = copy_project(tmp_path / "project", "decomposition")
    path = project.prompts(SUITE) / f"{V20}.md"
    path.write_text(path.read_text() + "{{ 1 // (topic == 'Algorithmic Fairness') }}")
    evaluated(project, SUITE, V20)
    cases = [each for batch in exhibits(project).batches() for each in batch]
    assert len(cases) == 15
    assert {each.prompt for each in cases} == {None}
    assert all(each.answers[0] for each in cases)
