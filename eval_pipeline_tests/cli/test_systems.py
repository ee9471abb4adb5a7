"""`eval-pipeline systems` and the family that can be named together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from eval_pipeline.loading import family
from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import copy_project
from eval_pipeline_tests.running import invoke


@pytest.fixture
def two(tmp_path: Path) -> Project:
    """A project with two suites of the family, and one beside them."""
    return copy_project(tmp_path / "project", "heritage_linking", "heritage_typing", "review")


def test_systems_stand_side_by_side_with_their_targets(two: Project) -> None:
    done = invoke(two, "systems", "heritage")
    assert done.returncode == 0, done.stderr
    assert "cases on split test" in done.stdout
    lines = done.stdout.splitlines()
    assert any("system" in line and "hits@1 (>= 0.70)" in line for line in lines)
    assert any("fuzzy (in use)" in line for line in lines)
    data = json.loads(invoke(two, "systems", "heritage_linking", "--json").stdout)
    assert [each["system"] for each in data["heritage_linking"]] == ["exact", "fuzzy"]
    assert {"hits@1", "mrr"} <= data["heritage_linking"][0]["metrics"].keys()


def test_where_no_case_was_held_out_nothing_is_said(two: Project) -> None:
    for file in (two.golden("heritage_typing") / "cases").glob("*.tsv"):
        file.write_text(file.read_text().replace("\ttest\n", "\ttrain\n"))
    done = invoke(two, "systems", "heritage_typing")
    assert (done.returncode, done.stdout) == (0, "heritage_typing: no case was held out.\n")


@pytest.mark.parametrize(("suite", "reason"), [("review", "has no systems"), ("nothing", "is not a suite")])
def test_a_suite_without_systems_is_bad_input(two: Project, suite: str, reason: str) -> None:
    done = invoke(two, "systems", suite)
    assert done.returncode == 2
    assert reason in done.stderr


def test_what_is_wrong_with_several_suites_is_told_at_once(two: Project) -> None:
    for name in ("heritage_linking", "heritage_typing"):
        (two.golden(name) / "cases" / "broken.json").write_text("[")
    done = invoke(two, "systems", "heritage")
    assert (done.returncode, done.stdout) == (2, "")
    assert "heritage_linking/cases/broken.json" in done.stderr
    assert "heritage_typing/cases/broken.json" in done.stderr


def test_a_family_is_run_together_and_its_summary_refreshed(two: Project) -> None:
    assert family(two, "heritage") == ["heritage_linking", "heritage_typing"]
    assert family(two, "review") == []
    for folder in (two.golden("heritage_linking"), two.prompts("heritage_linking")):
        shutil.rmtree(folder)
    done = invoke(two, "run", "heritage", "--brief")
    assert "heritage_typing" in done.stdout
    assert "review" not in done.stdout
    assert "heritage summary: " in done.stdout
    assert "qa_faithfulness: no active version" in done.stdout
