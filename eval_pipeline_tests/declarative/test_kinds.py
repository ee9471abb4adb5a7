"""How a reply of each kind is read."""

from __future__ import annotations

from typing import Any

import pytest

from eval_pipeline.declarative.cells import Unusable
from eval_pipeline.declarative.kinds import UNREADABLE
from eval_pipeline_tests.declaring import kind_of

LABEL = {"kind": "label", "of": ["billing", "bug", "bug report"]}
LABELS = {"kind": "labels", "of": ["red", "green", "blue"]}


@pytest.mark.parametrize(
    ("kind", "reply", "expected"),
    [
        ("text", " as it stands ", " as it stands "),
        (LABEL, "billing", "billing"),
        (LABEL, "**Billing.**\n", "billing"),
        (LABEL, '"BUG"', "bug"),
        (LABEL, '{"label": "bug"}', "bug"),
        (LABEL, '```json\n{"category": "Bug report"}\n```', "bug report"),
        (LABEL, "I would say that this is a bug.", "bug"),
        (LABEL, "This is a bug report.", "bug report"),
        (LABEL, "This is not billing.", UNREADABLE),
        (LABEL, "It is not billing, it is a bug.", "bug"),
        (LABEL, "billing or bug", UNREADABLE),
        (LABEL, "billing, bug, bug report", UNREADABLE),
        (LABEL, "rebilling", UNREADABLE),
        (LABEL, "no idea", UNREADABLE),
        (LABEL, '{"label": "bug", "other": "billing"}', UNREADABLE),
        ({**LABEL, "strict": True}, "It is a bug", UNREADABLE),
        ({**LABEL, "strict": True}, "Bug.", "bug"),
        (LABELS, "blue, red", ["red", "blue"]),
        (LABELS, '["Red", "red"]', ["red"]),
        (LABELS, '{"colours": ["green"]}', ["green"]),
        (LABELS, "[]", []),
        (LABELS, "- green\n- red", ["red", "green"]),
        (LABELS, "It is red and green, not blue.", ["red", "green"]),
        (LABELS, "none of them", UNREADABLE),
        ({**LABELS, "strict": True}, "red and green", UNREADABLE),
        ({**LABELS, "strict": True}, "red, pink", UNREADABLE),
        ("number", "1,234.5", 1234.5),
        ("number", "**42**", 42),
        ("number", "It is 42 metres.", 42),
        ("number", "Either 41 or 42", UNREADABLE),
        ("number", "no number", UNREADABLE),
        ({"kind": "number", "strict": True}, "It is 42", UNREADABLE),
        ({"kind": "number", "decimal": ","}, "1.234,5 Euro", 1234.5),
        ("list", '["a", "b, c"]', ["a", "b, c"]),
        ("list", "1. a\n2) b\n", ["a", "b"]),
        ("list", "a, b", ["a", "b"]),
        ("list", "[]", []),
        ("json", {"a": 1}, {"a": 1}),
        ({"kind": "json", "schema": {"required": ["a"]}}, {"b": 1}, UNREADABLE),
        ({"kind": "json", "schema": {"required": ["a"]}}, {"a": 1}, {"a": 1}),
    ],
)
def test_replies(kind: Any, reply: Any, expected: Any) -> None:
    read = kind_of(kind).read(reply)
    assert read is expected if expected is UNREADABLE else read == expected


@pytest.mark.parametrize(
    ("kind", "cell", "expected"),
    [
        (LABEL, " BUG ", "bug"),
        (LABELS, "blue; red", None),
        (LABELS, "blue, red", ["red", "blue"]),
        (LABELS, ["blue"], ["blue"]),
        ("number", 7, 7.0),
        ("number", "1,000", 1000.0),
        ("number", True, None),
        ("list", "a, b", ["a", "b"]),
        ("json", '{"a": 1}', {"a": 1}),
        ("json", "{a", None),
    ],
)
def test_golden_cells(kind: Any, cell: Any, expected: Any) -> None:
    if expected is None:
        with pytest.raises(Unusable):
            kind_of(kind).expected(cell)
    else:
        assert kind_of(kind).expected(cell) == expected


@pytest.mark.parametrize(
    ("kind", "value"),
    [("text", "x"), (LABEL, "bug"), (LABELS, ["red", "blue"]), ("number", 1234.5), ("list", ["a, b", "c"])],
)
def test_what_is_written_is_read_back(kind: Any, value: Any) -> None:
    made = kind_of(kind)
    assert made.read(made.written(value)) == value


@pytest.mark.parametrize("kind", [LABEL, LABELS, "number", "list"])
@pytest.mark.parametrize(
    "reply",
    [
        "a" + "." * 10**6 + "b",
        "bug " * 10**5,
        "red " * 10**5,
        "1," * 10**5 + "a",
        "1" * 10**6 + "a",
        "- " * 10**6,
    ],
    ids=["points", "labels", "words", "numbers", "digits", "bullets"],
)
def test_replies_that_would_take_for_ever(kind: Any, reply: str) -> None:
    kind_of(kind).read(reply)


def test_json_that_is_nested_deeply() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    recursive = {"kind": "json", "schema": {"items": {"$ref": "#"}}}
    assert kind_of(recursive).read(deep) is UNREADABLE


def test_labels_that_are_the_same() -> None:
    with pytest.raises(ValueError, match="differ by more than case"):
        kind_of({"kind": "label", "of": ["Bug", "bug"]})
