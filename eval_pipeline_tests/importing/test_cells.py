"""Cells of a table of tests, by promptfoo's rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.importing.cells import as_test, assertion_of
from eval_pipeline.importing.documents import Fields
from eval_pipeline.importing.places import Leftovers, Place

HERE = Place(Path("t.csv"), 2)


@pytest.mark.parametrize(
    ("cell", "assertion"),
    [
        ("Paris", {"type": "equals", "value": "Paris"}),
        ("equals: Paris", {"type": "equals", "value": "Paris"}),
        ("Note: this", {"type": "equals", "value": "Note: this"}),
        ("contains: a: b", {"type": "contains", "value": "a: b"}),
        ("not-contains:x", {"type": "not-contains", "value": "x"}),
        ("icontains-any: a, b", {"type": "icontains-any", "value": " a, b"}),
        ("is-json", {"type": "is-json"}),
        ("levenshtein(3): x", {"type": "levenshtein", "value": "x", "threshold": 3}),
        ("levenshtein: x", {"type": "levenshtein", "value": "x", "threshold": 0.75}),
        ("latency(2000)", {"type": "latency", "threshold": 2000}),
        ("similar(0.8): x", {"type": "similar", "value": "x", "threshold": 0.8}),
        ("javascript: x", {"type": "javascript", "value": "x"}),
        ("fn:x", {"type": "javascript", "value": "x"}),
        ("python: x", {"type": "python", "value": "x"}),
        ("grade: nice", {"type": "llm-rubric", "value": "nice"}),
        ("file://x.py", {"type": "python", "value": "file://x.py"}),
        ("file://x.js:f", {"type": "javascript", "value": "file://x.js:f"}),
    ],
)
def test_an_assertion_in_a_cell(cell: str, assertion: dict[str, Any]) -> None:
    assert assertion_of(cell, HERE) == assertion


def test_a_row() -> None:
    row, leftovers = Fields(HERE), Leftovers()
    cells = {
        "q": "x", "__expected": "a", "__expected1": "", "__expected2": "contains: b", "__threshold": "0.5",
        "__metric": "m", "__metadata:topic": "t", "__prefix": "p", "__description": "d", "__odd": "o",
        "__config:__expected2:threshold": "0.7",
    }  # fmt: skip
    for name, cell in cells.items():
        row.put(name, cell, HERE.below(name))
    assert as_test(row, leftovers) == {
        "threshold": 0.5,
        "description": "d",
        "assert": [
            {"type": "equals", "value": "a", "metric": "m"},
            {"type": "contains", "value": "b", "metric": "m", "threshold": 0.7},
        ],
        "vars": {"q": "x"},
        "options": {"prefix": "p"},
        "metadata": {"topic": "t"},
    }
    assert [each.field for each in leftovers.dropped] == ["__odd"]
