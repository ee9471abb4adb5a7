"""Signing golden sets off: what changed since."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.golden.signoff import SignOff, Unsigned, sign_off, unsigned_changes
from eval_pipeline.problems import Problems

SIGNED = {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    ("present", "cases", "changes"),
    [
        ("hash", SIGNED, []),
        ("other", {**SIGNED, "c": "3"}, ["added: c"]),
        ("other", {"a": "1", "b": "9"}, ["changed: b"]),
        ("other", {"b": "2"}, ["removed: a"]),
        ("other", {"b": "9", "c": "3", "d": "4"}, ["added: c", "added: d", "removed: a", "changed: b"]),
        ("other", SIGNED, ["resources changed"]),
    ],
)
def test_changes_since_the_sign_off_are_named(
    tmp_path: Path, present: str, cases: dict[str, str], changes: list[str]
) -> None:
    record = sign_off(tmp_path, "hash", SIGNED, "Ada", "Reviewed.")
    assert (record.signed_by, record.reason, record.cases) == ("Ada", "Reviewed.", SIGNED)
    problems = Problems()
    unsigned = unsigned_changes(tmp_path, present, cases, problems)
    assert unsigned == Unsigned(tuple(changes))
    assert unsigned.blocks == bool(changes)
    assert len(problems) == 0


def test_a_missing_sign_off_warns_and_a_broken_one_blocks(tmp_path: Path) -> None:
    problems = Problems()
    never = unsigned_changes(tmp_path, "hash", SIGNED, problems)
    assert never == Unsigned(("it was never signed off",), never=True)
    assert never
    assert not never.blocks
    assert len(problems) == 0
    SignOff.file(tmp_path).write_text('{"golden_hash": "hash"}')
    broken = unsigned_changes(tmp_path, "hash", SIGNED, problems)
    assert broken == Unsigned(("the sign-off cannot be read",))
    assert broken.blocks
    assert len(problems) > 0


def test_references_belong_to_the_sign_off(tmp_path: Path) -> None:
    problems = Problems()
    second = tmp_path / "references" / "second.tsv"
    second.parent.mkdir()
    second.write_text("a")
    assert sign_off(tmp_path, "hash", SIGNED, "Ada", "Reviewed.").references
    assert unsigned_changes(tmp_path, "hash", SIGNED, problems) == Unsigned()
    second.write_text("b")
    assert unsigned_changes(tmp_path, "hash", SIGNED, problems) == Unsigned(("references changed",))
    second.unlink()
    assert unsigned_changes(tmp_path, "other", SIGNED, problems) == Unsigned(
        ("resources changed", "references changed")
    )
