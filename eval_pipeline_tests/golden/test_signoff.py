"""What was signed off, and what changed since."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.golden import (
    sign_off,
    unsigned_changes,
)
from eval_pipeline.golden.signoff import SignOff
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
    folder: Path, present: str, cases: dict[str, str], changes: list[str]
) -> None:
    record = sign_off(folder, "hash", SIGNED, "Ada", "Reviewed.")
    assert (record.signed_by, record.reason, record.cases) == ("Ada", "Reviewed.", SIGNED)
    problems = Problems()
    assert unsigned_changes(folder, present, cases, problems) == changes
    assert len(problems) == 0


def test_a_missing_sign_off_and_a_broken_one_never_count(folder: Path) -> None:
    problems = Problems()
    assert unsigned_changes(folder, "hash", SIGNED, problems) == ["it was never signed off"]
    assert len(problems) == 0
    SignOff.file(folder).write_text('{"golden_hash": "hash"}')
    assert unsigned_changes(folder, "hash", SIGNED, problems) == ["the sign-off cannot be read"]
    assert len(problems) > 0
