"""A golden set as it is read: its identity, and whether it is as signed."""

from __future__ import annotations

import json
from pathlib import Path

from eval_pipeline.golden import GoldenSet
from eval_pipeline.problems import Problems
from eval_pipeline.suites.decomposition import SUITE

ENTRY = {"domain": "ecological", "sourceText": "Reefs.", "expectedConcepts": [{"label": "Coral reef"}]}


def golden_set(folder: Path, *changes: dict[str, object]) -> GoldenSet:
    lines = [json.dumps({"id": f"case-{number}", **ENTRY, **each}) for number, each in enumerate(changes)]
    (folder / "cases.jsonl").write_text("\n".join(lines))
    problems = Problems()
    golden = GoldenSet(SUITE, folder, problems)
    assert len(list(golden.read())) == len(golden) == len(changes)
    assert list(problems) == []
    return golden


def test_expectations_change_the_hash_and_inputs_change_both(tmp_path: Path) -> None:
    before = golden_set(tmp_path, {})
    expectation = golden_set(tmp_path, {"forbiddenConcepts": ["x"]})
    assert expectation.hash != before.hash
    assert expectation.inputs_hash == before.inputs_hash
    text = golden_set(tmp_path, {"sourceText": "Other."})
    assert text.hash != before.hash
    assert text.inputs_hash != before.inputs_hash


def test_what_was_signed_off_is_unchanged_until_a_case_or_a_resource_changes(tmp_path: Path) -> None:
    golden = golden_set(tmp_path, {}, {})
    assert golden.unsigned_changes().never
    assert golden.sign_off("Ada", "Reviewed.").golden_hash == golden.hash
    assert golden_set(tmp_path, {}, {}).unsigned_changes().changes == ()
    assert golden_set(tmp_path, {}, {"topic": "x"}).unsigned_changes().changes == ("changed: case-1",)
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "words.txt").write_text("one")
    assert golden_set(tmp_path, {}, {}).unsigned_changes().changes == ("resources changed",)
