"""Scores by case: the values of `case_rows` and `case_results`, in another order."""

from __future__ import annotations

import pytest

from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.reports import cases_data
from eval_pipeline.reports.by_case import by_case
from eval_pipeline.scoring import OutputsScorer, Scores, case_results, case_rows, context_for
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.conftest import REPOSITORY

HERE = Project(REPOSITORY, REPOSITORY / ".eval")
SUITE = find_suite(HERE, "heritage_typing")
LINES = """\
{"case_id": "typing-a-01", "trial": 1, "output": {"type": "A"}}
{"case_id": "typing-a-01", "trial": 2, "output": {"type": "L"}}
{"case_id": "typing-a-02", "trial": 1, "output": {"type": "A"}}
{"case_id": "typing-a-02", "trial": 2, "output": {"type": "A"}}
"""


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Scores:
    outputs = tmp_path_factory.mktemp("outputs") / "outputs.jsonl"
    outputs.write_text(LINES)
    golden = HERE.golden(SUITE.name)
    scorer = OutputsScorer(SUITE, context_for(SUITE, golden), keep_diagnoses=True)
    return scorer.score(golden, outputs, Problems()).scores


def test_a_case_is_told_trial_by_trial(scores: Scores) -> None:
    cases = by_case(SUITE, scores)
    differing, fine = cases["typing-a-01"], cases["typing-a-02"]
    assert [each.metrics["accuracy"] for each in differing.trials] == [1.0, 0.0]
    assert (differing.value("accuracy"), differing.passed, differing.differs, differing.failed) == (
        0.5,
        1,
        True,
        True,
    )
    assert differing.kinds == ["wrong_type"]
    assert differing.trials[1].diagnoses == (("wrong_type", "A (archive)", "L (library)"),)
    assert (fine.passed, fine.differs, fine.failed, fine.kinds) == (2, False, False, [])
    missing = cases["typing-a-03"]
    assert [each.error for each in missing.trials] == ["missing", "missing"]
    assert (missing.value("accuracy"), missing.passed, missing.failed) == (0.0, 0, True)


def test_every_row_and_result_is_there(scores: Scores) -> None:
    cases = by_case(SUITE, scores)
    for row in case_rows(scores, SUITE).to_pylist():
        trial = cases[row["case_id"]].trials[row["trial"] - 1]
        assert trial.metrics == {name: row[name] for name in trial.metrics}
        assert (trial.trial, trial.error) == (row["trial"], row["error"])
    for result in case_results(SUITE, scores):
        case = cases[result.case_id]
        assert (case.value(SUITE.headline), case.passed) == (result.headline, result.passed)


def test_as_data_each_diagnosis_has_its_names(scores: Scores) -> None:
    data = {each["case_id"]: each for each in cases_data(SUITE, scores)}
    assert data["typing-a-01"]["trials"][1]["diagnoses"] == [
        {"kind": "wrong_type", "expected": "A (archive)", "got": "L (library)"}
    ]
    assert data["typing-a-01"]["attributes"]["language"]
    assert len(data) == 950
