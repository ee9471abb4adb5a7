"""Outputs as values: what their strings are for, and the plainest value of a type."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import msgspec.inspect
import pytest

from eval_pipeline.golden.shapes import changed, filled, kinds, longest_lists, strings


class Part(msgspec.Struct):
    label: Literal["big", "small"]
    text: str
    start: Annotated[int, msgspec.Meta(ge=3)]
    note: str | None = None


class Whole(msgspec.Struct, rename="camel"):
    whole_text: str
    parts: Annotated[list[Part], msgspec.Meta(max_length=7)]
    sure: bool


@pytest.mark.parametrize(
    ("output", "length", "value"),
    [
        (str, 1, "x"),
        (list[str], 2, ["x", "x"]),
        (dict[str, int], 1, {}),
        (float, 1, 0),
        (str | None, 1, None),
        (Whole, 0, {"wholeText": "x", "parts": [], "sure": False}),
        (Whole, 1, {"wholeText": "x", "parts": [{"label": "big", "text": "x", "start": 3}], "sure": False}),
    ],
)
def test_the_plainest_value_of_a_type_is_one(output: Any, length: int, value: Any) -> None:
    made = filled(msgspec.inspect.type_info(output), "x", length)
    assert made == value
    msgspec.convert(made, output)


def test_lists_that_have_a_longest_length() -> None:
    assert dict(longest_lists(msgspec.inspect.type_info(Whole))) == {("parts",): 7}


def test_what_strings_are_for() -> None:
    answers = {
        str(case): {
            "label": "ab"[case % 2],
            "text": f"own words {case}",
            "quotes": [f"word {case}"],
            "ids": [{"id": f"Q{case}"}],
        }
        for case in range(4)
    }
    inputs = {case_id: [f"a word {case_id} of a text"] for case_id in answers}
    assert kinds(answers, inputs) == {
        ("quotes", "[]"): "given",
        ("label",): "label",
        ("text",): "text",
        ("ids", "[]", "id"): "name",
    }


def test_changing_every_part_visits_what_strings_lists() -> None:
    value = {"a": "x", "b": [{"c": "y"}, {"c": "z"}], "d": None}
    assert list(strings(value)) == [(("a",), "x"), (("b", "[]", "c"), "y"), (("b", "[]", "c"), "z")]
    marked = changed(value, lambda path, each: f"{path[-1]}{each}" if isinstance(each, str) else each)
    assert marked == {"a": "ax", "b": [{"c": "cy"}, {"c": "cz"}], "d": None}
