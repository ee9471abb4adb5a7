"""Several scorers in one, by truth tables."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from eval_pipeline.declarative.catalogue import Refused
from eval_pipeline_tests.declaring import scored, scorer, value

PARTS = [{"contains": "a"}, {"contains": "b"}, {"contains": "c"}]


@pytest.mark.parametrize("letters", ["".join(each) for each in product(("a", ""), ("b", ""), ("c", ""))])
def test_truth_tables(letters: str) -> None:
    output = f"x{letters}"
    assert value({"all_of": PARTS}, {}, output) == (letters == "abc")
    assert value({"any_of": PARTS}, {}, output) == bool(letters)
    nested = {"any_of": [PARTS[0], {"all_of": PARTS[1:]}]}
    assert value(nested, {}, output) == ("a" in letters or "bc" in letters)


@pytest.mark.parametrize(
    ("name", "output", "expected"),
    [("all_of", "a", None), ("all_of", "x", 0), ("any_of", "a", 1), ("any_of", "x", 0)],
)
def test_a_part_without_a_figure(name: str, output: str, expected: float | None) -> None:
    assert value({name: [{"contains": "a"}, {"latency": 1}]}, {}, output) == expected


def test_what_is_missing_is_named() -> None:
    _, batch = scored([{"all_of": PARTS}], [{}], ["b"])
    assert [tuple(row) for _, row in batch.diagnoses] == [("all_of", "contains: a; contains: c", "b")]


@pytest.mark.parametrize(
    "entry",
    [
        {"all_of": []},
        {"all_of": "equals"},
        {"any_of": [{"equals": "x", "weight": 2}]},
        {"any_of": [{"equals": "x"}, {"contians": "x"}]},
        {"all_of": [{"contains": "x"}], "at_least": 1},
    ],
)
def test_entries_that_cannot_be_used(entry: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        scorer(entry)
