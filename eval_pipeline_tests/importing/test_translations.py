"""Types of assertions, one by one; that they measure the same is shown on what promptfoo ran."""

from __future__ import annotations

from typing import Any

import pytest

from eval_pipeline.importing.places import NotTaken
from eval_pipeline.importing.translations import TYPES, Given, comma_separated


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("a, b", ["a", "b"]),
        ("a", ["a"]),
        (",a,, b ,", ["a", "b"]),
        ('"a, b",c', ["a, b", "c"]),
        ('"say ""x""", y', ['say "x"', "y"]),
        (r'"a\"b"', ['a"b']),
        (r'"a\\"', ["a\\"]),
        ('a "b"', ['a "b"']),
        ("", []),
    ],
)
def test_texts_between_commas(text: str, fields: list[str]) -> None:
    assert comma_separated(text) == fields


@pytest.mark.parametrize("text", ['"a', '"a" b', '"a"" , b'])
def test_quotes_that_cannot_be_read(text: str) -> None:
    with pytest.raises(NotTaken):
        comma_separated(text)


@pytest.mark.parametrize(
    ("kind", "value", "threshold"),
    [
        ("equals", {"a": 1}, None),
        ("equals", "", None),
        ("equals", "{{ blank }}", None),
        ("contains", ["a"], None),
        ("contains", None, None),
        ("contains-any", [], None),
        ("contains-any", [["a"]], None),
        ("contains-any", '"a', None),
        ("regex", 3, None),
        ("regex", "(?i)a", None),
        ("levenshtein", "a", -1),
        ("rouge-n", "a", 2),
        ("rouge-n", "a", "0.5"),
        ("similar", ["a", "b"], 0.5),
        ("latency", None, None),
        ("latency", None, 0),
        ("cost", None, True),
        ("word-count", "many", None),
        ("word-count", {"min": "x"}, None),
        ("word-count", 0, None),
        ("is-json", {"type": "strin"}, None),
        ("is-json", {"$ref": "http://example.com/schema.json"}, None),
        ("is-json", {"type": "string", "format": "email"}, None),
        ("is-json", {"properties": {"a": {"nullable": True}}}, None),
        ("is-json", {"items": [{"type": "string"}]}, None),
        ("is-json", "{{ schema }}", None),
        ("is-json", "just a text", None),
        ("is-json", "a: [", None),
    ],
)
def test_values_that_cannot_be_used(kind: str, value: Any, threshold: Any) -> None:
    with pytest.raises(NotTaken):
        TYPES[kind](Given(kind, value, threshold, {"blank": " "}))


def test_a_property_is_no_keyword() -> None:
    schema = {"type": "object", "properties": {"format": {"type": "string"}, "nullable": {"type": "boolean"}}}
    assert TYPES["is-json"](Given("is-json", schema, None, {})).own == {"is_json": schema}
