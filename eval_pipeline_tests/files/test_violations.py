"""Fields that are wrong, as people read them."""

from __future__ import annotations

from pathlib import Path

import msgspec
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


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    """A record like those of gates.yaml: one field is required, and others are refused."""

    threshold: str
    severity: str = "critical"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("treshold: x", ["treshold: is not a known field. Did you mean threshold?"]),
        ("threshold: x\nseverty: y", ["severty: is not a known field. Did you mean severity?"]),
        ("trheshlod: x", ["trheshlod: is not a known field. Did you mean threshold?"]),
        ("severity: y", ["threshold: is missing. Add it."]),
        ("threshold: x\nother: y", ["other: is not a known field. Known: threshold, severity."]),
        (
            "treshold: x\nother: y",
            [
                "treshold: is not a known field. Did you mean threshold?",
                "other: is not a known field. Known: threshold, severity.",
            ],
        ),
        (
            "threshold: 3\nseverty: y",
            ["threshold: Expected 'str', got 'int'. Correct the value.", "severty:"],
        ),
    ],
)
def test_one_typo_is_one_problem(tmp_path: Path, text: str, problems: list[str]) -> None:
    path, found = tmp_path / "x.yaml", Problems()
    path.write_text(text)
    assert read_yaml(path, Strict, found) is None
    assert len(list(found)) == len(problems)
    for problem, told in zip(found, problems, strict=True):
        assert told in str(problem)
