"""What identifies a golden set."""

from __future__ import annotations

from pathlib import Path

from eval_pipeline.golden import (
    golden_hash,
)


def test_the_golden_hash_depends_on_cases_and_resources_but_not_on_order(folder: Path) -> None:
    assert golden_hash(["a", "b"], None) == golden_hash(["b", "a"], None)
    assert golden_hash(["a"], None) != golden_hash(["b"], None)
    (folder / "words.txt").write_text("one")
    before = golden_hash(["a"], folder)
    (folder / "words.txt").write_text("two")
    assert golden_hash(["a"], folder) != before
