"""The history as rows."""

from __future__ import annotations

from eval_pipeline.project import Project
from eval_pipeline.reports import history_table
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.surveying import point


def test_rows_are_in_order_and_an_incomplete_one_has_no_numbers(toy: Project) -> None:
    points = [
        point(0, 0.75),
        point(1, 0.5, incomplete=True),
        point(2, 0.8, replay=True, held_out="split test"),
    ]
    shown = history_table(find_suite(toy, "toy"), ["accuracy", "error_rate"], points)
    assert shown.header == (
        "evaluated at",
        "version",
        "engine",
        "sample",
        "cases",
        "accuracy",
        "error_rate",
        "gates",
    )
    assert [row[5] for row in shown.rows] == ["75.0 %", "–", "80.0 %"]
    assert [row[3] for row in shown.rows][2] == "nightly-2 (replay)"
    assert shown.rows[2][4] == "4 (split test)"
    assert str(shown.rows[1][-1][0]) == "✗ incomplete"
