"""The files of an imported suite, tried before they are written; and docs/promptfoo.md."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from eval_pipeline.importing import prompt_texts, suite_files
from eval_pipeline.importing.translations import INSTEAD, NOTES, TYPES
from eval_pipeline.problems import BadInput
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.importing.configuring import imported_from

TEXT = (REPOSITORY / "docs" / "promptfoo.md").read_text()


def test_every_type_is_documented() -> None:
    assert all(f"`{name}`" in TEXT for name in TYPES)
    assert NOTES.keys() <= TYPES.keys()
    assert not INSTEAD.keys() & TYPES.keys()


def test_the_first_prompt_is_active_and_others_follow(tmp_path: Path) -> None:
    prompts = [{"raw": "{{ word }}", "label": 'a "b"\nc: d'}, "Say {{ word }}"]
    texts = prompt_texts("taken", imported_from(tmp_path, prompts=prompts))
    fronts = [yaml.safe_load(text.split("---")[1]) for text in texts.values()]
    assert list(texts) == ["taken-v1.0", "taken-v1.1"]
    assert fronts == [
        {"suite": "taken", "status": "active", "description": 'a "b" c: d'},
        {"suite": "taken", "status": "candidate", "predecessor": "taken-v1.0"},
    ]


def test_a_prompt_that_cannot_be_rendered_is_listed(tmp_path: Path) -> None:
    broken = "{% for each in word %}{{ each.name }}{% endfor %}"
    contents, kept = suite_files("taken", imported_from(tmp_path, prompts=[broken, "{{ word }}"]))
    assert [each.body for each in kept.prompts] == ["{{ word }}"]
    (left,) = kept.leftovers.dropped
    assert "as a template of Jinja it" in left.message
    assert sorted(contents) == [
        "golden/taken/cases/tests.jsonl",
        "golden/taken/gates.yaml",
        "golden/taken/suite.yaml",
        "prompts/taken/taken-v1.0.md",
        "recorded/taken/taken-v1.0.jsonl",
    ]
    with pytest.raises(BadInput, match="as a template of Jinja"):
        suite_files("taken", imported_from(tmp_path, prompts=[broken]))


def test_gates_wait_for_figures_that_only_a_model_has(tmp_path: Path) -> None:
    tests = [
        {
            "vars": {"word": "x"},
            "assert": [{"type": "latency", "threshold": 5}, {"type": "equals", "value": "x"}],
        }
    ]
    contents, _ = suite_files("taken", imported_from(tmp_path, tests=tests))
    assert yaml.safe_load(contents["golden/taken/gates.yaml"])["metrics"].keys() == {"equals"}
    assert "# latency:" in contents["golden/taken/gates.yaml"]
