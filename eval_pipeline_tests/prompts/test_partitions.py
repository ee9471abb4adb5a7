"""What partitions of rows are called as versions: names for files, from which keys can be had back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.problems import BadInput
from eval_pipeline.prompts import holds_rows, partition_key, rows_version


@pytest.mark.parametrize(
    ("key", "version"),
    [
        (None, "model_answers@latest"),
        ("2026-01-31", "model_answers@2026-01-31"),
        ("a/b c_ü", "model_answers@a_2Fb_20c__C3_BC"),
        ("_5F", "model_answers@_5F5F"),
        ("2026-01-31|en", "model_answers@2026-01-31_7Cen"),
    ],
)
def test_a_key_is_readable_where_it_can_be(key: str | None, version: str) -> None:
    assert rows_version("model_answers", key) == version
    assert holds_rows(version)


ANYTHING = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(ANYTHING | st.text("_5FaA2@", max_size=20))
def test_a_key_can_be_had_back_and_names_a_file(key: str) -> None:
    version = rows_version("answers", key)
    assert partition_key(version) == key
    assert re.fullmatch(r"[\w.@-]+", version, re.ASCII)


def test_what_cannot_name_a_file_is_refused() -> None:
    with pytest.raises(BadInput, match="too long"):
        rows_version("answers", "ü" * 51)
