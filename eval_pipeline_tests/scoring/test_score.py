"""Errors at their worst, and only where a metric applies."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from eval_pipeline.project import Project
from eval_pipeline.scoring import score_cases, summarize
from eval_pipeline.suite import Case, Context, defined
from eval_pipeline.suites import find_suite
from eval_pipeline.suites.heritage_qa.cases import QuestionExpected, QuestionInput
from eval_pipeline_tests.sources import Recorded, golden

ANSWERABLE, UNANSWERABLE = (
    Case(
        name,
        QuestionInput("Who founded it?", ["Ada founded it."], "en"),
        QuestionExpected("Ada founded it." if answerable else "The sources do not say.", facts, answerable),
    )
    for name, answerable, facts in (("a", True, ["Ada founded it."]), ("u", False, []))
)


def values(answers: Mapping[str, dict[str, str]]) -> tuple[dict[str, float | None], dict[str, list[float]]]:
    suite = find_suite(Project.find(), "heritage_qa")
    cases = [golden(ANSWERABLE), golden(UNANSWERABLE)]
    scores = score_cases(suite, cases, Recorded(answers), Context())
    columns = ("relevance", "faithfulness")
    counted = {name: scores.counts[defined(name)].to_pylist() for name in columns}
    return {name: each.value for name, each in summarize(suite, scores, {}).metrics.items()}, counted


def test_an_error_outside_of_a_population_counts_for_nothing_there() -> None:
    """Without it, an error on an unanswerable question halved the relevance of the answerable ones."""
    right = {"answer": "Ada founded it."}
    with_error, counted = values({"a": right})
    without, _ = values({"a": right, "u": {"answer": "The sources do not say."}})
    assert counted == {"relevance": [1, 0], "faithfulness": [1, 1]}
    assert with_error["relevance"] == without["relevance"]
    assert with_error["faithfulness"] == pytest.approx(0.5)


def test_an_error_inside_of_a_population_counts_as_the_worst() -> None:
    with_error, counted = values({"u": {"answer": "The sources do not say."}})
    assert counted == {"relevance": [1, 0], "faithfulness": [1, 0]}
    assert with_error["relevance"] == 0.0
