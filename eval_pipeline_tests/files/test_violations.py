"""Fields that are wrong, as people read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.files import FieldPath, read_json, read_yaml, shown_field
from eval_pipeline.problems import Problems
from eval_pipeline_tests.files.test_lines import Record


def test_a_misspelt_field_is_answered_with_the_right_one(tmp_path: Path) -> None:
    path, problems = tmp_path / "x", Problems()
    path.write_text('{"id": "a",\n "verson": "2"}')
    assert list(read_json(path, Record, problems)) == []
    assert read_yaml(path, Record, problems) is None
    assert {str(each) for each in problems} == {
        f"{path}:2: verson: is not a known field. Did you mean version?"
    }


@pytest.mark.parametrize(
    ("path", "text"), [((), ""), (("a",), "a"), ((3,), "[3]"), (("a", 3, "b", 0, 1), "a[3].b[0][1]")]
)
def test_shown(path: FieldPath, text: str) -> None:
    assert shown_field(path) == text
