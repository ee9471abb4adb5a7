"""YAML files: every problem at once, and no alias."""

from __future__ import annotations

from pathlib import Path

from eval_pipeline_tests.files.test_lines import read


def test_every_problem_of_a_yaml_file_is_named_at_once(tmp_path: Path) -> None:
    text = (
        "# A comment\ncount: many\nparts:\n  - label: a\n  - label: 1\n    aliases:\n      - b\n      - 3\n"
    )
    assert read(tmp_path / "x.yaml", text + 'verson: "2"\nmain: {aliases: []}\n') == (
        [],
        [
            (2, "count", "Expected 'int', got 'str'"),
            (2, "id", "is missing"),
            (5, "parts[1].label", "Expected 'str', got 'int'"),
            (8, "parts[1].aliases[1]", "Expected 'str', got 'int'"),
            (9, "verson", "is not a known field"),
            (10, "main.label", "is missing"),
        ],
    )


def test_aliases_are_refused_before_they_are_expanded(tmp_path: Path) -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 60)]
    records, found = read(tmp_path / "x.yaml", "\n".join(["id: a", "l0: &l0 [lol]", *levels]))
    assert records == []
    assert {message for _, _, message in found} == {"YAML aliases are not allowed"}
