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
    assert value({"none_of": PARTS}, {}, output) == (not letters)
    weighted = 0.5 * ("a" in letters) + 0.3 * ("b" in letters) + 0.2 * ("c" in letters)
    assert value({"mean_of": PARTS, "weights": [5, 3, 2]}, {}, output) == pytest.approx(weighted)
    assert value({"mean_of": PARTS}, {}, output) == pytest.approx(len(letters) / 3)
    nested = {"any_of": [PARTS[0], {"all_of": PARTS[1:]}]}
    assert value(nested, {}, output) == ("a" in letters or "bc" in letters)


@pytest.mark.parametrize(
    ("name", "output", "expected"),
    [
        ("all_of", "a", None),
        ("all_of", "x", 0),
        ("any_of", "a", 1),
        ("any_of", "x", 0),
        ("none_of", "a", 0),
        ("none_of", "x", None),
        ("mean_of", "a", None),
    ],
)
def test_a_part_without_a_figure(name: str, output: str, expected: float | None) -> None:
    assert value({name: [{"contains": "a"}, {"latency": 1}]}, {}, output) == expected


def test_what_is_missing_is_named() -> None:
    _, batch = scored([{"all_of": PARTS}], [{}], ["b"])
    assert [tuple(row) for _, row in batch.diagnoses] == [("all_of", "contains: a; contains: c", "b")]
    _, batch = scored([{"none_of": PARTS}], [{}], ["b"])
    assert [tuple(row) for _, row in batch.diagnoses] == [("none_of", "not contains: b", "b")]


@pytest.mark.parametrize(("output", "passes"), [("a", 1), ("b", 0), ("ab", 1)])
def test_a_mean_passes_from_its_bound_on(output: str, passes: int) -> None:
    entry = {"mean_of": [{"contains": "a"}, {"contains": "b"}], "weights": [3, 2], "at_least": 0.6}
    _, batch = scored([entry], [{}], [output])
    assert list(batch.counts["all_passed"]) == [passes]


def test_what_none_may_be_is_no_answer() -> None:
    assert not scorer({"none_of": [{"equals": "{{ want }}"}]}).holds_answer
    assert scorer({"mean_of": [{"equals": "{{ want }}"}]}).holds_answer


@pytest.mark.parametrize(
    "entry",
    [
        {"all_of": []},
        {"all_of": "equals"},
        {"any_of": [{"equals": "x", "weight": 2}]},
        {"any_of": [{"equals": "x"}, {"contians": "x"}]},
        {"all_of": [{"contains": "x"}], "at_least": 1},
        {"mean_of": [{"contains": "x"}], "weights": [1, 2]},
        {"mean_of": [{"contains": "x"}], "weights": [0]},
        {"mean_of": [{"contains": "x"}], "weights": [-1]},
        {"mean_of": [{"contains": "x"}], "at_least": 2},
    ],
)
def test_entries_that_cannot_be_used(entry: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        scorer(entry)
