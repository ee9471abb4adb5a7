"""Settings of a suite: from its file and from the command line, with every problem where it was said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.scoring import check_settings, context_for
from eval_pipeline.suites import find_suite

SUITE = find_suite(Project.find(), "span_labeling")


@pytest.mark.parametrize(
    ("text", "given", "problems"),
    [
        ("minimum_iou: 0.5\n", {}, []),
        ("minimum_iou: 2\n", {"minimum_iou": 0.5}, []),
        (
            "# a comment\nminimum_iou: 0\nboundry_drift: 2\n",
            {},
            [
                "settings.yaml:2: minimum_iou: is not more than 0. Write more than 0.",
                "settings.yaml:3: boundry_drift: is not a known field. Did you mean boundary_drift?",
            ],
        ),
        (
            "minimum_iou: high\n",
            {"boundary_drift": 5000},
            [
                "input: boundary_drift: is more than 1000. Write 1000 or less.",
                "settings.yaml:1: minimum_iou: is a text, not a number. Write a number, without quotes.",
            ],
        ),
        (
            "- x\n",
            {},
            ["settings.yaml:1: is a list, not a set of fields. Write name: value on lines below it."],
        ),
        (None, {"taste": 1}, ["input: taste: is not a known field. Known: minimum_iou, boundary_drift."]),
    ],
)
def test_every_problem_is_named_where_it_was_said(
    tmp_path: Path, text: str | None, given: dict[str, Any], problems: list[str]
) -> None:
    if text is not None:
        (tmp_path / "settings.yaml").write_text(text)
    found: list[str] = []
    try:
        context = context_for(SUITE, tmp_path, settings=given)
        assert context.settings.minimum_iou == 0.5
    except BadInput as bad:
        found = [str(each).removeprefix(f"{tmp_path}/") for each in bad.problems]
    assert sorted(found) == sorted(problems)


def test_settings_can_be_checked_alone(tmp_path: Path) -> None:
    problems = Problems()
    check_settings(SUITE, tmp_path, problems)
    (tmp_path / "settings.yaml").write_text("minimum_iuo: 1\n")
    check_settings(SUITE, tmp_path, problems)
    assert [each.field for each in problems] == ["minimum_iuo"]
