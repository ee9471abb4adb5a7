"""Baselines as they are read: what a person edited is not what was promoted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.store import read_baseline, read_baselines
from eval_pipeline.suites import suite_names
from eval_pipeline_tests.running import baseline_outputs, invoke

VERSION = "decompose-concepts-v1.0"


@pytest.fixture
def record(project: Project) -> Path:
    return project.golden("decomposition") / "baseline" / "decompose-concepts.json"


def test_those_that_are_shipped_are_as_they_were_promoted(whole_project: Project) -> None:
    for suite in suite_names(whole_project):
        assert read_baselines(whole_project.golden(suite)), suite


def other_number(content: dict[str, Any]) -> None:
    content["metrics"]["overall_index"] += 0.01


EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a number": other_number,
    "a number more": lambda content: content["metrics"].update(mine=1.0),
    "a person": lambda content: content.update(promoted_by="Somebody else"),
    "a case": lambda content: content["cases"].popitem(),
    "a field more": lambda content: content.update(mine=10**40),
    "the digest": lambda content: content.update(digest="0" * 32),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_word_that_was_edited_by_hand_is_named(project: Project, record: Path, edit: str) -> None:
    content = json.loads(record.read_text())
    EDITS[edit](content)
    record.write_text(json.dumps(content))
    with pytest.raises(BadInput, match="is not what was promoted: it was edited since"):
        read_baseline(project.golden("decomposition"), VERSION)
    shown = invoke(project, "baseline", "show", "decomposition", "--json")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "golden/decomposition/baseline/decompose-concepts.json: is not what was promoted" in shown.stderr


def test_a_list_and_a_record_without_a_digest_are_no_baseline(project: Project, record: Path) -> None:
    content = json.loads(record.read_text())
    record.write_text(json.dumps([content]))
    with pytest.raises(BadInput, match="is not what was promoted"):
        read_baselines(project.golden("decomposition"))
    del content["digest"]
    record.write_text(json.dumps(content))
    with pytest.raises(BadInput, match="digest: is missing"):
        read_baselines(project.golden("decomposition"))


def test_answers_without_end_are_not_what_was_promoted(project: Project) -> None:
    with baseline_outputs(project).open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(BadInput, match="is not what was promoted"):
        read_baseline(project.golden("decomposition"), VERSION)


def test_how_it_is_laid_out_does_not_matter(project: Project, record: Path) -> None:
    before = read_baseline(project.golden("decomposition"), VERSION)
    backwards = dict(reversed(json.loads(record.read_text()).items()))
    record.write_text("\ufeff" + json.dumps(backwards, indent=7).replace("\n", "\r\n"))
    assert read_baseline(project.golden("decomposition"), VERSION) == before
