"""The suites of a project: modules, and those of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.declarative import DeclaredSuite
from eval_pipeline.loading import find_suite, load_suites, suite_names
from eval_pipeline.problems import BadInput
from eval_pipeline_tests.declaring import CLASSIFIER, declare


def test_a_declared_suite_stands_beside_the_others(tmp_path: Path) -> None:
    project = declare(tmp_path, CLASSIFIER)
    assert {"review", "tickets"} <= set(suite_names(project))
    assert isinstance(find_suite(project, "tickets"), DeclaredSuite)
    assert not isinstance(find_suite(project, "review"), DeclaredSuite)
    with pytest.raises(BadInput, match=r"'tikets' is not a suite.*tickets"):
        find_suite(project, "tikets")


def test_one_that_is_broken_leaves_the_others(tmp_path: Path) -> None:
    project = declare(tmp_path, {**CLASSIFIER, "id": "idd"})
    loaded, broken = load_suites(project, ["review", "tickets"])
    assert [each.name for each in loaded] == ["review"]
    assert [each.field for each in broken["tickets"]] == ["id"]


def test_a_module_and_a_file_of_one_name(tmp_path: Path) -> None:
    project = declare(tmp_path, CLASSIFIER)
    folder = project.golden("tickets")
    folder.rename(folder.with_name("review"))
    with pytest.raises(BadInput, match="the suite review is a Python module, too"):
        find_suite(project, "review")
