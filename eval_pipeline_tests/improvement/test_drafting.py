"""Suites of a project's own: what is drafted looks like the cases that it has."""

from __future__ import annotations

import json

import pytest

from eval_pipeline.improvement import accept, suggest, write
from eval_pipeline.loading import find_suite
from eval_pipeline.project import Project
from eval_pipeline_tests.improvement.producing import CLOSES, END, START, event, keep
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
    (path,) = write(project, suggest(project, suite, START, END, CLOSES))
    content = json.loads(path.read_text())
    assert [key for key, value in content["case"].items() if value is None] == list(filled) + (
        ["attributes"] if name == "capitals" else []
    )
    content["case"] |= filled
    path.write_text(json.dumps(content))
    (accepted,) = accept(project, [path])
    assert ids(project, name) == before | set(accepted.names)


def test_a_field_that_only_one_case_has_is_asked_of_no_other(toy: Project) -> None:
    """Also where its file comes first by name, as that of an accepted case does."""
    suite = find_suite(toy, "toy")
    for number, (sound, animal, extra) in enumerate(
        (("ribbit", "frog", {"zzz": "seen"}), ("moo", "cow", {}))
    ):
        keep(toy, [event(number, "toy", {"sound": sound}, None, error="timeout")])
        (path,) = write(toy, suggest(toy, suite, START, END, CLOSES))
        content = json.loads(path.read_text())
        assert content["case"]["sound"] == sound
        content["case"] |= {"animal": animal, **extra}
        path.write_text(json.dumps(content))
        (accepted,) = accept(toy, [path])
        assert accepted.files[0].name < "sounds.jsonl"
    assert json.loads(accepted.files[0].read_text()) == {
        "id": accepted.names[0],
        "sound": "moo",
        "animal": "cow",
    }
