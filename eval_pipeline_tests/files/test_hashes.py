"""Hashes of content: what they depend on, and what not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.files import canonical_json, content_hash, files_hash

KEYS = st.text(max_size=4)


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [{"d": None, "c": "é"}]}, '{"a":[{"c":"é","d":null}],"b":1}'),
        ([], "[]"),
        ("\n", r'"\n"'),
    ],
)
def test_canonical_json(value: Any, text: str) -> None:
    assert canonical_json(value).decode() == text


@given(JSON_VALUES)
def test_the_order_of_keys_does_not_matter(value: Any) -> None:
    assert canonical_json(reversed_keys(value)) == canonical_json(value)
    assert msgspec.json.decode(canonical_json(value)) == value


@given(JSON_VALUES, JSON_VALUES)
def test_hashes_differ_exactly_where_canonical_json_differs(first: Any, second: Any) -> None:
    same = canonical_json(first) == canonical_json(second)
    assert (content_hash(first) == content_hash(second)) is same


def test_content_hash_is_the_beginning_of_sha256() -> None:
    assert content_hash("") == "12ae32cb1ec02d01eda3581b127c1fee"  # printf '""' | sha256sum
    assert content_hash({"b": 1, "a": 2}) == content_hash({"a": 2, "b": 1})


def test_files_hash_depends_on_names_and_contents_but_not_on_order(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("one")
    second.write_text("two")
    before = files_hash([first, second])
    assert files_hash([second, first]) == before
    assert files_hash([first]) != before
    first.write_text("onet")
    second.write_text("wo")
    assert files_hash([first, second]) != before
