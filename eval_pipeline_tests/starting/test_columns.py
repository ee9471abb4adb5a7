"""What columns are for: tables worked by hand, and the property that every column has one role at most."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.starting.columns import Column, columns_in, guess_roles, guess_task

LONG = "This is a rather long sentence about an order that never arrived"


def columns(**cells: list[Any]) -> list[Column]:
    return [Column(name, values) for name, values in cells.items()]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            {
                "ticket_id": ["1", "2", "3", "4"],
                "text": [LONG] * 4,
                "label": ["a", "b"] * 2,
                "language": ["en"] * 4,
            },
            ("ticket_id", ("text",), "label", (), "classify"),
        ),
        (
            {
                "text": ["one", "two", "three", "four"],
                "category": ["a", "b"] * 2,
                "channel": ["web", "mail"] * 2,
            },
            ("", ("text",), "category", ("channel",), "classify"),
        ),
        (  # nothing has a name that tells: free text is the input, few values the label
            {
                "nr": ["1", "2", "3", "4"],
                "what": [f"{LONG} {each}" for each in "wxyz"],
                "team": ["a", "b"] * 2,
            },
            ("nr", ("what",), "team", (), "classify"),
        ),
        (
            {"question": ["Who?", "Why?"], "context": [LONG, LONG], "answer": ["He did.", "Because of it."]},
            ("", ("question", "context"), "answer", (), "rag"),
        ),
        (
            {"message": ["a b c", "d e f"], "expected": ['{"x": 1}', '{"x": 2}']},
            ("", ("message",), "expected", (), "extract"),
        ),
        (
            {"id": ["q1", "q2"], "query": ["a b", "c d"], "relevant": ["a, b", "c"]},
            ("id", ("query",), "relevant", (), "rank"),
        ),
        (
            {"text": [LONG * 10, LONG * 12], "summary": ["An order.", "Another order."]},
            ("", ("text",), "summary", (), "summarise"),
        ),
        (
            {"question": ["Who?", "Why?"], "ideal": ["He did it.", "Because of it."]},
            ("", ("question",), "ideal", (), "answer"),
        ),
    ],
)
def test_roles_and_task_are_guessed(table: dict[str, list[Any]], expected: tuple[Any, ...]) -> None:
    given_columns = columns(**table)
    roles = guess_roles(given_columns, {})
    assert (roles.id, roles.inputs, roles.expected, roles.attributes) == expected[:4]
    assert guess_task(given_columns, roles)[0] == expected[4]


def test_what_a_person_says_counts_and_is_not_called_a_guess() -> None:
    table = columns(a=["x", "y"], label=["p", "q"], gold=["1", "2"])
    roles = guess_roles(table, {"expected": ["gold"], "inputs": ["label"]})
    assert (roles.expected, roles.inputs) == ("gold", ("label",))
    assert not {"expected", "inputs"} & (roles.why.keys() | roles.unsure)


def test_what_is_not_clear_is_marked() -> None:
    doubtful = guess_roles(columns(what=["one two three", "four five six"], other=["a", "b"]), {})
    assert "expected" in doubtful.unsure
    assert not doubtful.expected
    certain = guess_roles(columns(text=["one", "two"], label=["a", "b"]), {})
    assert not certain.unsure


def test_a_language_is_expected_only_where_nothing_else_can_be() -> None:
    texts = ["one two three", "four five six", "seven eight nine", "ten eleven twelve"]
    table = {"Frage": texts, "Klasse": ["a", "b", "a", "b"], "Sprache": ["de", "en", "en", "de"]}
    roles = guess_roles(columns(**table), {})
    assert (roles.expected, roles.attributes) == ("Klasse", ("Sprache",))
    del table["Klasse"]
    assert guess_roles(columns(**table), {}).expected == "Sprache"


def test_columns_of_assertions_are_no_input_and_make_an_expectation_needless() -> None:
    roles = guess_roles(columns(text=["one", "two"], __expected=["contains:a", "contains:b"]), {})
    assert (roles.inputs, roles.expected, roles.unsure) == (("text",), "", frozenset())


CELLS = st.lists(
    st.sampled_from(["", "a", "b", "some more words than that", "1", "{}"]), min_size=4, max_size=4
)
NAMES = st.sampled_from(["id", "text", "label", "answer", "__expected", "language", "x", "y", "sources"])


@given(st.dictionaries(NAMES, CELLS, min_size=1))
def test_no_column_has_two_roles(table: dict[str, list[str]]) -> None:
    roles = guess_roles(columns(**table), {})
    named = [roles.id, roles.expected, roles.cited, *roles.inputs, *roles.attributes]
    used = [name for name in named if name]
    assert len(used) == len(set(used))
    assert set(used) <= set(table) - {"__expected"}


def test_columns_keep_their_order_and_rows_without_one_are_blank() -> None:
    found = columns_in(iter([{"b": "1", "a": 2}, {"a": None, "c": "x"}]))
    assert {column.name: column.cells for column in found} == {"b": ["1", ""], "a": ["2", ""], "c": ["", "x"]}
    assert [column.name for column in found] == ["b", "a", "c"]
