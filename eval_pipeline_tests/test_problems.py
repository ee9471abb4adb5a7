"""Bad input, reported all at once."""

from __future__ import annotations

import pytest

from eval_pipeline.problems import BadInput, Problems, without_problems


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
