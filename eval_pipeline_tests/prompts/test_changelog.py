"""The changelog of prompts, as text before and after."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from eval_pipeline.prompts import read_changelog, with_activation, with_entry

TODAY = datetime.date.today()  # noqa: DTZ011
TABLE = "| Metric | a |\n|---|---|\n| accuracy | 90.0 % |"
OLD = "# Log\n\n## p v1.1 (2026-02-01, candidate)\n\n- More\n\n## p v1.0 (2026-01-01, active)\n\n- First\n"


def test_a_folder_without_a_changelog_begins_one(tmp_path: Path) -> None:
    assert read_changelog(tmp_path, "toy") == "# Changelog of the toy prompts\n"
    (tmp_path / "CHANGELOG.md").write_bytes(b"# Log\r\n")
    assert read_changelog(tmp_path, "toy") == "# Log\n"


def test_an_entry_stands_before_all_others() -> None:
    assert with_entry("# Log\n", "p-v1.0", "candidate", "- x") == (
        f"# Log\n\n## p v1.0 ({TODAY}, candidate)\n\n- x\n"
    )
    assert with_entry("# Log\n\n## p v1.0 (x, active)\n", "p-v1.1", "candidate", "- x") == (
        f"# Log\n\n## p v1.1 ({TODAY}, candidate)\n\n- x\n\n## p v1.0 (x, active)\n"
    )


@pytest.mark.parametrize(("impact", "section"), [("", ""), (TABLE, f"### Metrics impact\n{TABLE}\n\n")])
def test_an_activation_changes_what_entries_say(impact: str, section: str) -> None:
    after = with_activation(OLD, "p-v1.1", ["p-v1.0"], impact)
    assert after == (
        f"# Log\n\n## p v1.1 (2026-02-01, active)\n\n- More\n\n{section}"
        "## p v1.0 (2026-01-01, archived)\n\n- First\n"
    )
    assert with_activation(after, "p-v1.1", [], impact) == after


def test_a_version_without_an_entry_gets_one() -> None:
    first = with_activation("# Log\n", "p-v1.0", [], "")
    assert first == f"# Log\n\n## p v1.0 ({TODAY}, active)\n\n### Notes\n- The first version.\n"
