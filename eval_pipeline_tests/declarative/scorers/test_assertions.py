"""Assertions in cells: promptfoo's words, and nothing that would run."""

from __future__ import annotations

from typing import Any

import pytest

from eval_pipeline.answers import Answer
from eval_pipeline.declarative import Assertions, Task, Text
from eval_pipeline.declarative.cells import Unusable
from eval_pipeline.declarative.scorers.assertions import parsed
from eval_pipeline.suite import Case, Context, Items
from eval_pipeline_tests.declaring import kind_of


def holds(cell: str, output: str, **figures: Any) -> bool | None:
    task = Task(Text(), [Assertions(of=("__expected",))])
    case: Case[None, dict[str, str]] = Case("a", None, {"__expected": cell})
    items = Items([case], [output], 1, lambda _: Answer("a", text=output, **figures))
    counts = task.score(items, Context()).counts
    return bool(counts["assertions"][0]) if counts["assertions:defined"][0] else None


@pytest.mark.parametrize(
    ("cell", "output", "expected"),
    [
        ("Paris", "Paris", True),
        ("Paris", "paris", False),
        ("Note: this is text", "Note: this is text", True),
        ("equals: Paris", " Paris ", True),
        ("not-equals: Paris", "Rome", True),
        ("contains: is: Par", "It is: Paris", True),
        ("icontains:PARIS", "it is paris", True),
        ("not-contains: Paris", "It is Paris", False),
        ("contains-all: red, green", "green red", True),
        ("contains-all: red, green", "green", False),
        ("contains-any: red, green", "green", True),
        ("icontains-any: RED, GREEN", "green", True),
        ("icontains-all: RED, GREEN", "green", False),
        ("starts-with: It", "It is", True),
        ("regex: ^\\d{4}$", "2024", True),
        ("not-regex: \\d", "2024", False),
        ("is-json", '{"a": 1}', True),
        ("is-json", "{a: 1}", False),
        ('is-json: {"required": ["b"]}', '{"a": 1}', False),
        ("levenshtein(5): kitten", "sitting", True),
        ("levenshtein(2): kitten", "sitting", False),
        ("levenshtein: kitten", "a puppy", False),
        ("similar(0.9): The cat sleeps.", "The cat sleeps.", True),
        ("similar(0.8): The cat sleeps.", "Interest rates rose.", False),
        ("rouge-n(0.5): the cat sat", "the cat ran", True),
        ("rouge-n: the cat sat", "the cat ran", False),
        ("is-refusal", "I cannot answer that.", True),
        ("not-is-refusal", "Paris", True),
    ],
)
def test_assertions(cell: str, output: str, expected: bool) -> None:
    assert holds(cell, output) is expected


def test_figures() -> None:
    assert holds("latency(10)", "x", latency_ms=9.0) is True
    assert holds("latency(10)", "x", latency_ms=11.0) is False
    assert holds("latency(10)", "x") is None
    assert holds("cost(0.1)", "x", cost_usd=0.2) is False


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("python: print(1)", "would run or read"),
        ("javascript: output.length", "would run or read"),
        ("fn: output.length", "would run or read"),
        ("eval: 1", "would run or read"),
        ("file://check.py", "would run or read"),
        ("not-javascript: 1", "would run or read"),
        ("webhook: http://localhost", "would run or read"),
        ("llm-rubric: is polite", "needs a model"),
        ("grade: is polite", "needs a model"),
        ("contians: x", "Did you mean contains"),
        ("contains:", "says nothing"),
        ("regex: (", "is not a regular expression"),
        ("latency:", "says no limit"),
        ("is-json: {", "is not JSON"),
        ('is-json: {"$ref": "http://example.org"}', "refers to"),
    ],
)
def test_cells_that_cannot_be_used(cell: str, message: str) -> None:
    with pytest.raises(Unusable, match=message):
        parsed(cell, Text())


def test_a_label_is_meant_where_answers_are_labels() -> None:
    labels = kind_of({"kind": "label", "of": ["billing", "bug"]})
    assert parsed("BUG", labels).wanted == "bug"
    with pytest.raises(Unusable, match="none of the labels"):
        parsed("crash", labels)


def test_part_of_the_assertions_is_part_of_the_value() -> None:
    task = Task(Text(), [Assertions(of=("__expected1", "__expected2", "__expected3"))])
    row = {"__expected1": "contains: a", "__expected2": "contains: b", "__expected3": ""}
    case: Case[None, dict[str, str]] = Case("a", None, row)
    batch = task.score(Items([case], ["a"], 1, lambda _: Answer("a")), Context())
    assert batch.counts["assertions"][0] == 0.5
    assert [tuple(each) for _, each in batch.diagnoses] == [("assertions", "contains: b", "a")]
