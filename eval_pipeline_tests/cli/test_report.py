"""`eval-pipeline report`: the page where it is wanted, and what is wrong where it cannot be had."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from eval_pipeline.project import Project
from eval_pipeline.store import Store
from eval_pipeline_tests.browsing import nodes_of
from eval_pipeline_tests.conftest import copy_project
from eval_pipeline_tests.reports.page.evaluated import evaluated
from eval_pipeline_tests.running import invoke

SUITE, V20 = "heritage_typing", "classify-custodian-v2.0"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    copied = copy_project(tmp_path_factory.mktemp("report") / "project", SUITE)
    evaluated(copied, SUITE, V20)
    return copied


def test_it_is_written_beside_the_evaluation(project: Project) -> None:
    done = invoke(project, "report", SUITE, V20)
    assert done.returncode == 0, done.stderr
    evaluation = Store(project.state).evaluation(SUITE, V20)
    assert evaluation is not None
    file = Store(project.state).page_path(evaluation.identity)
    assert done.stdout.startswith(f"Report: {file.relative_to(project.root)} (0.")
    assert len(nodes_of(file.read_text())["index"]["id"]) == 950


def test_twice_it_is_the_same_file(project: Project, tmp_path: Path) -> None:
    pages = [tmp_path / name for name in ("one.html", "two.html")]
    for page in pages:
        assert invoke(project, "report", SUITE, V20, "--out", page).returncode == 0
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_it_is_shown_in_the_browser_where_there_is_one(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    with mock.patch("webbrowser.open", return_value=True) as opened:
        assert invoke(project, "report", SUITE, V20, "--out", file, "--open").stderr == ""
    opened.assert_called_once_with(file.as_uri())
    with mock.patch("webbrowser.open", return_value=False):
        assert "No browser could be started" in invoke(project, "report", SUITE, V20, "--open").stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((SUITE, "classify-custodian-v1.0"), "was never evaluated on all cases. Run: eval-pipeline run"),
        ((SUITE, "classify-custodian-v9.9"), "classify-custodian-v9.9.md does not exist"),
        ((SUITE, "../../etc"), "is not a version name"),
        (("nothing", V20), "'nothing' is not a suite"),
        ((SUITE, V20, "--text", "none"), "Name one with --out."),
    ],
)
def test_what_cannot_be_is_bad_input(project: Project, arguments: tuple[str, ...], said: str) -> None:
    done = invoke(project, "report", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
