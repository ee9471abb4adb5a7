from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.monitoring import Production, check_production
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import REPOSITORY

WRONG = """drop: 5
settled_seconds: -1
suites:
  toy:
    raw_txt: true
    targets:
      latency_p96_ms: {below: 1}
"""


def test_everything_that_is_wrong_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "production.yaml").write_text(WRONG)
    problems = Problems()
    assert check_production(Project(tmp_path, tmp_path / ".eval"), problems) is None
    assert [(each.line, each.field) for each in problems] == [
        (1, "drop"),
        (2, "settled_seconds"),
        (5, "suites.toy.raw_txt"),
        (7, "suites.toy.targets.latency_p96_ms"),
    ]


def test_without_a_file_there_are_defaults_and_ours_is_right(tmp_path: Path) -> None:
    assert check_production(Project(tmp_path, tmp_path / ".eval"), Problems()) == Production()
    problems = Problems()
    own = check_production(Project(REPOSITORY, tmp_path), problems)
    assert own is not None
    assert len(own.of("decomposition").targets) == 6


@pytest.mark.parametrize("scale", ["lowest: 3, highest: 3", "lowest: 5, highest: 1", "lowest: 5"])
def test_a_scale_without_values_between_its_ends_is_refused(tmp_path: Path, scale: str) -> None:
    (tmp_path / "production.yaml").write_text(f"feedback:\n  user_feedback: {{{scale}}}\n")
    problems = Problems()
    assert check_production(Project(tmp_path, tmp_path / ".eval"), problems) is None
    (found,) = problems
    assert (found.line, found.field) == (2, "feedback.user_feedback.highest")
    assert found.message == "is not above lowest"
