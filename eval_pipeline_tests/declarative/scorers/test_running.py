"""Time and money: the answer's own figures, and nothing without them."""

from __future__ import annotations

from typing import Any

import pytest

from eval_pipeline.answers import Answer
from eval_pipeline.declarative import Task, Text
from eval_pipeline.suite import Case
from eval_pipeline_tests.declaring import passes, scored, scorer, value


@pytest.mark.parametrize(("name", "figure"), [("latency", "latency_ms"), ("cost", "cost_usd")])
def test_within_the_limit(name: str, figure: str) -> None:
    figures: list[dict[str, Any]] = [{figure: 2.0}, {figure: 2.1}]
    assert [value({name: 2}, {}, "x", **each) for each in figures] == [1, 0]
    assert value({name: 2}, {}, "x") is None
    assert not passes({name: 2}, {}, "x")


def test_another_score_decides_where_there_is_no_figure() -> None:
    entries: list[dict[str, Any]] = [{"equals": "x"}, {"latency": 2}]
    for output, passed in (("x", True), ("y", False)):
        assert scored(entries, [{}], [output])[1].counts["all_passed"][0] == passed
    _, batch = scored(entries, [{}], ["x"], latency_ms=3.0)
    assert batch.counts["all_passed"][0] == 0
    assert batch.counts["score"][0] == 0.5
    assert [tuple(row) for _, row in batch.diagnoses] == [("latency", "at most 2", "3")]


def test_an_error_counts_as_its_worst_only_with_a_figure() -> None:
    task = Task(Text(), [scorer({"latency": 2})])
    case: Case[None, dict[str, str]] = Case("a", None, {})
    for answer, counted in (
        (None, 0),
        (Answer("a", error="x"), 0),
        (Answer("a", error="x", latency_ms=1), 1),
    ):
        counts = task.errored(case, answer).counts
        assert (counts["latency"], counts["latency:defined"]) == (0, counted)
