"""The suites of a project: which it has, modules, and those of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.declarative import DeclaredSuite
from eval_pipeline.loading import all_suites, find_suite, load_suites, shipped_names, suite_names
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.suites import suite_names as modules
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.declaring import CLASSIFIER, declare
from eval_pipeline_tests.running import invoke

DECLARED = "cases: cases/c.csv\nscores: [{contains: a}]\n"


def empty(root: Path) -> Project:
    root.mkdir(exist_ok=True)
    (root / "engines.yaml").write_text("default: r\nengines: {r: {kind: recorded, path: r.jsonl}}\n")
    return Project(root, root / ".eval")


def declare_small(project: Project, name: str) -> None:
    (project.golden(name) / "cases").mkdir(parents=True)
    (project.golden(name) / "cases" / "c.csv").write_text("text\na\n")
    (project.golden(name) / "suite.yaml").write_text(DECLARED)


def test_every_shipped_suite_is_there_where_its_data_are() -> None:
    shipped = Project(REPOSITORY, REPOSITORY / ".eval")
    assert suite_names(shipped) == shipped_names() == modules(shipped)


def test_a_project_has_its_own_suites_and_those_it_has_data_of(tmp_path: Path) -> None:
    project = empty(tmp_path)
    assert suite_names(project) == []
    declare_small(project, "tickets")
    assert suite_names(project) == ["tickets"]
    project.golden("heritage_ner").mkdir()
    project.prompts("review").mkdir(parents=True)
    (project.own_suites / "other").mkdir(parents=True)
    (project.own_suites / "other" / "__init__.py").write_text("")
    assert suite_names(project) == ["heritage_ner", "other", "review", "tickets"]


def test_a_shipped_suite_scores_data_that_lie_elsewhere(tmp_path: Path) -> None:
    assert find_suite(empty(tmp_path), "decomposition").name == "decomposition"
    with pytest.raises(BadInput, match=r"'nonsense' is not a suite\. Begin with: eval-pipeline init"):
        find_suite(empty(tmp_path), "nonsense")


def test_an_empty_project_says_how_to_begin(tmp_path: Path) -> None:
    project = empty(tmp_path)
    with pytest.raises(BadInput, match=r"there is no suite yet. Begin with: eval-pipeline init\."):
        all_suites(project)
    for command in (("golden", "check"), ("golden", "probe"), ("schema",)):
        done = invoke(project, *command)
        assert (done.returncode, done.stdout) == (2, "")
        assert "there is no suite yet. Begin with: eval-pipeline init." in done.stderr


def test_what_an_own_project_checks_and_shows_is_its_own(tmp_path: Path) -> None:
    from eval_pipeline.definitions import build_definitions

    project = empty(tmp_path)
    declare_small(project, "tickets")
    done = invoke(project, "golden", "check")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "tickets: 1 case can be read",
        "  warning: not signed off: it was never signed off",
    ]
    graph = build_definitions(project).resolve_asset_graph()
    shown = {key.path[0] for key in graph.get_all_asset_keys()}
    assert "tickets" in shown
    assert not shown & {*shipped_names(), "heritage"}


def test_a_declared_suite_stands_beside_the_others(tmp_path: Path) -> None:
    project = declare(tmp_path, CLASSIFIER)
    assert suite_names(project) == ["tickets"]
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
