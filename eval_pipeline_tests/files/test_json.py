"""JSON files: every problem at once, with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.files import FieldPath, may_repeat_keys, read_json, repeated_key
from eval_pipeline.files.json import json_line
from eval_pipeline.problems import Problems
from eval_pipeline_tests.files.test_lines import Record, read

BROKEN_JSON = """{
  "count": "many",
  "parts": [
    {"label": "a"},
    {
      "label": 1,
      "aliases": ["b",
        3]
    }
  ],
  "verson": "2",
  "main": {},
  "sizes": {"x": 1, "y": "big"}
}
"""


@pytest.mark.parametrize(
    "text",
    [
        BROKEN_JSON,
        BROKEN_JSON.replace("  ", "\t"),
        BROKEN_JSON.replace("\n", "\r\n"),
        "\ufeff" + BROKEN_JSON,
    ],
    ids=["spaces", "tabs", "CRLF", "byte-order mark"],
)
def test_every_problem_of_a_json_object_is_named_at_once(tmp_path: Path, text: str) -> None:
    assert read(tmp_path / "x.json", text) == (
        [],
        [
            (1, "id", "is missing"),
            (2, "count", "Expected 'int', got 'str'"),
            (6, "parts[1].label", "Expected 'str', got 'int'"),
            (8, "parts[1].aliases[1]", "Expected 'str', got 'int'"),
            (11, "verson", "is not a known field"),
            (12, "main.label", "is missing"),
            (13, "sizes.y", "Expected 'float', got 'str'"),
        ],
    )


def test_a_json_list_gives_its_good_records_and_names_the_others(tmp_path: Path) -> None:
    records, found = read(tmp_path / "x.json", '[\n{"id": "a"},\n\n{"id":\n1}, {"id": "c"},\n7, {}]')
    assert records == [(2, Record("a")), (5, Record("c"))]
    assert found == [
        (5, "[1].id", "Expected 'str', got 'int'"),
        (6, "[3]", "Expected 'object', got 'int'"),
        (6, "[4].id", "is missing"),
    ]


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=15,
)


MARK = "the value that is looked for"


def paths_in(value: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from paths_in(inner, (*path, key))


@given(JSON_VALUES, st.data(), st.sampled_from(["\n", "\r\n"]))
def test_json_line_is_where_the_value_starts(value: Any, data: st.DataObject, end: str) -> None:
    path = data.draw(st.sampled_from(list(paths_in(value))))
    marked = [deepcopy(value)]
    place: Any = marked
    for outer in (0, *path)[:-1]:
        place = place[outer]
    place[(0, *path)[-1]] = MARK
    before, _, _ = json.dumps(marked[0], indent=2).partition(json.dumps(MARK))
    text = json.dumps(value, indent=2).replace("\n", end)
    assert json_line(text, path) == before.count("\n") + 1


@pytest.mark.parametrize(
    ("path", "line"), [((), 2), (("a",), 3), (("a", 5), 3), (("b",), 2), (("a", 1, "x"), 4), ((0,), 2)]
)
def test_json_line_of_a_missing_value_is_that_of_the_nearest_around_it(path: FieldPath, line: int) -> None:
    assert json_line('\n{"z": 0,\n"a": [1,\n{}]}', path) == line


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('{"a": 1, "b": {"a": 2}}', None),
        ('{"a": 1, "a": 1}', "a"),
        ('[{"b": 1}, {"x": [{"b": 1, "c": 2, "b" : 3}]}]', "b"),
        ('{"a": "\\"b\\": \\"b\\":"}', None),
        ('{"a": "x", "\\u0061": "y"}', "a"),
        ('{"a": "\\u003a", "a": 1}', "a"),
        ('{"a": "\\u003A:", "a": "\\u0022:"}', "a"),
    ],
)
def test_a_key_that_stands_twice_is_found(tmp_path: Path, text: str, key: str | None) -> None:
    assert repeated_key(text) == key
    assert may_repeat_keys(text.encode() + b"\n" + b'{"z": 1}\n') or key is None
    problems = Problems()
    (tmp_path / "x.json").write_text(text)
    list(read_json(tmp_path / "x.json", dict[str, Any], problems))
    assert [each.field for each in problems if "twice" in each.message] == ([key] if key else [])


@given(
    st.recursive(
        st.text() | st.integers(-9, 9), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_a_quick_look_suspects_nobody_who_is_usual(value: Any) -> None:
    assert not may_repeat_keys(msgspec.json.encode({"value": value}) + b"\n")
