"""What identifies a golden set."""

from __future__ import annotations

from pathlib import Path

from eval_pipeline.golden.identity import golden_hash


def test_the_golden_hash_depends_on_cases_and_resources_but_not_on_order(tmp_path: Path) -> None:
    assert golden_hash(["a", "b"], None) == golden_hash(["b", "a"], None)
    assert golden_hash(["a"], None) != golden_hash(["b"], None)
    (tmp_path / "words.txt").write_text("one")
    before = golden_hash(["a"], tmp_path)
    (tmp_path / "words.txt").write_text("two")
    assert golden_hash(["a"], tmp_path) != before
