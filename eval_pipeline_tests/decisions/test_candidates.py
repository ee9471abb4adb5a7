"""Which versions the gate evaluates, from a folder of prompts and what a change touched."""

from __future__ import annotations

import pytest

from eval_pipeline.decisions import Touched, candidates
from eval_pipeline.project import Project
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.cli.recorded_toy import prompt_file, write_prompt

VERSIONS = {"guess-v1.0": "active", "guess-v1.1": "candidate", "guess-v0.9": "archived", "ask-v1.0": "active"}


@pytest.fixture
def prompts(toy: Project) -> Project:
    for version, status in VERSIONS.items():
        write_prompt(toy, version, f"status: {status}")
    return toy


def chosen(project: Project, touched: Touched) -> tuple[dict[str, str], list[tuple[str, str]]]:
    causes, refused = candidates(project, find_suite(project, "toy"), touched, None)
    return causes, [(each.version, " ".join(each.reasons)) for each in refused]


@pytest.mark.parametrize(
    ("changed", "reasons", "causes"),
    [
        ({"guess-v1.1"}, set(), {"guess-v1.1": "prompt"}),
        ({"guess-v0.9", "gone-v1.0"}, set(), {"guess-v1.0": "prompt", "ask-v1.0": "prompt"}),
        (set(), {"gates", "baseline"}, dict.fromkeys(("guess-v1.0", "ask-v1.0"), "baseline, gates")),
        ({"ask-v1.0"}, {"gates"}, {"ask-v1.0": "prompt, gates", "guess-v1.0": "gates"}),
        ({"guess-v1.1"}, {"gates"}, {"guess-v1.1": "prompt", "guess-v1.0": "gates", "ask-v1.0": "gates"}),
    ],
)
def test_changed_versions_and_active_ones_where_anything_else_changed(
    prompts: Project, changed: set[str], reasons: set[str], causes: dict[str, str]
) -> None:
    assert chosen(prompts, Touched(prompts=changed, reasons=reasons)) == (causes, [])


def test_a_version_that_cannot_be_used_is_refused_and_the_others_evaluated(prompts: Project) -> None:
    prompt_file(prompts, "guess-v1.1").write_text("no front matter")
    causes, refused = chosen(prompts, Touched(prompts={"guess-v1.1", "ask-v1.0"}))
    assert causes == {"ask-v1.0": "prompt"}
    assert [version for version, _ in refused] == ["guess-v1.1"]
    assert "has no front matter" in refused[0][1]


def test_a_suite_without_an_active_version_is_refused(prompts: Project) -> None:
    for version in ("guess-v1.0", "ask-v1.0"):
        write_prompt(prompts, version, "status: archived")
    causes, ((version, reason),) = chosen(prompts, Touched(reasons={"gates"}))
    assert (causes, version) == ({}, "active version")
    assert "holds no active version" in reason


def test_versions_whose_answers_come_from_a_changed_file(prompts: Project) -> None:
    touched = Touched(prompts={"guess-v1.1"}, answers={"guess-v1.1", "ask-v1.0", "guess-v0.9"})
    causes = {"ask-v1.0": "engine's files", "guess-v1.1": "prompt"}
    assert chosen(prompts, touched) == (causes, [])
