"""Bad input, reported all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.problems import (
    BadInput,
    Problem,
    Problems,
    first_lines,
    shown_path,
    tree_of,
    without_problems,
)


def test_what_was_read_without_problems_is_returned_even_if_it_is_empty() -> None:
    assert without_problems(lambda problems: {"a": len(problems)}) == {"a": 0}
    assert without_problems(list) == []


def test_every_problem_of_a_reading_is_raised_whatever_it_returns() -> None:
    def read(problems: Problems) -> str:
        problems.add("second", "is wrong")
        problems.add("first", "is missing", "Add it.")
        return "half of it"

    with pytest.raises(BadInput) as bad:
        without_problems(read)
    assert [str(each) for each in bad.value.problems] == ["first: is missing. Add it.", "second: is wrong."]


def test_of_very_many_problems_the_first_hundred_are_shown() -> None:
    problems = [Problem("file", line, "", "is wrong", "") for line in range(1, 1235)]
    assert first_lines(problems[:100])[-1] == "file:100: is wrong."
    assert first_lines(problems)[-2:] == ["file:100: is wrong.", "… and 1,134 more."]
    assert len(str(BadInput(problems)).splitlines()) == 101


def test_files_of_a_revision_are_named_by_it(tmp_path: Path) -> None:
    file = tmp_path / "golden" / "toy" / "gates.yaml"
    with tree_of(tmp_path, "1a2b3c4"):
        assert shown_path(file) == "golden/toy/gates.yaml at 1a2b3c4"
        assert shown_path(tmp_path.parent / "other") == str(tmp_path.parent / "other")
    assert shown_path(file) == str(file)


def test_a_link_that_leads_in_a_circle_has_a_name(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert shown_path(tmp_path / "circle").endswith("circle")
