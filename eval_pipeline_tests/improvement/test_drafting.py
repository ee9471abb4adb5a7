"""Suites of a project's own: what is drafted looks like the cases that it has."""

from __future__ import annotations

import json

import pytest

from eval_pipeline.improvement import accept, suggest, write
from eval_pipeline.loading import find_suite
from eval_pipeline.project import Project
from eval_pipeline_tests.improvement.producing import END, START, event, keep
from eval_pipeline_tests.improvement.test_accepting import ids


@pytest.mark.parametrize(
    ("name", "given", "filled"),
    [
        ("toy", {"sound": "ribbit"}, {"animal": "frog"}),
        ("capitals", {"text": "What is the capital of Bolivia?"}, {"expected": "Sucre"}),
    ],
)
def test_a_case_of_an_own_suite(
    request: pytest.FixtureRequest, name: str, given: dict[str, str], filled: dict[str, str]
) -> None:
    project: Project = request.getfixturevalue("toy" if name == "toy" else "text_toy")
    suite, before = find_suite(project, name), ids(project, name)
    keep(project, [event(1, name, given, None, error="timeout")])
    (path,) = write(project, suggest(project, suite, START, END))
    content = json.loads(path.read_text())
    assert [key for key, value in content["case"].items() if value is None] == list(filled) + (
        ["attributes"] if name == "capitals" else []
    )
    content["case"] |= filled
    path.write_text(json.dumps(content))
    (accepted,) = accept(project, [path])
    assert ids(project, name) == before | set(accepted.names)
