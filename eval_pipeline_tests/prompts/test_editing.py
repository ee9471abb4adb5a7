"""Editing prompt files: what changes, and what stays byte for byte."""

from __future__ import annotations

import pytest

from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import following, load_prompt, write_edited
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.cli.recorded_toy import prompt_file, write_prompt

BODY = """status: active
predecessor: nobody
---
Which animal says {{ sound }}?
"""


@pytest.mark.parametrize(
    ("front", "follows"),
    [
        ("suite: toy\nstatus: active\n", "suite: toy\nstatus: candidate\npredecessor: guess-v1.0\n"),
        (
            "\"status\" : 'active' # now\nsuite: toy\n",
            '"status" : candidate # now\npredecessor: guess-v1.0\nsuite: toy\n',
        ),
        (
            "status: active\nsuite: toy\npredecessor:\n",
            "status: candidate\nsuite: toy\npredecessor: guess-v1.0\n",
        ),
        (
            "description: 'one: two'\npredecessor: \"guess-v0.9\"\nsuite: toy\nstatus: active\n",
            "predecessor: guess-v1.0\nsuite: toy\nstatus: candidate\n",
        ),
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_front_matter_is_edited_and_not_rewritten(
    toy: Project, front: str, follows: str, ends: str, mark: str
) -> None:
    def file(content: str) -> bytes:
        return f"{mark}---\n{content}---\n{BODY}".replace("\n", ends).encode()

    write_prompt(toy, "guess-v0.9", "status: archived")
    prompt_file(toy, "guess-v1.0").write_bytes(file(front))
    problems = Problems()
    active = load_prompt(find_suite(toy, "toy"), toy.prompts("toy"), "guess-v1.0", problems)
    assert active, list(problems)
    write_edited(prompt_file(toy, "guess-v1.1"), following(active), active.path)
    assert prompt_file(toy, "guess-v1.1").read_bytes() == file(follows)
