from __future__ import annotations

import pyarrow as pa
import pytest

from eval_pipeline.monitoring import (
    EVENT_FIELDS,
    FEEDBACK_FIELDS,
    FIGURES,
    event_schema,
    event_table,
    feedback_schema,
)
from eval_pipeline.monitoring.attributes import NAMES
from eval_pipeline.monitoring.events import (
    COMMENTS,
    FEEDBACK_TIES,
    TEXTS,
    TIES,
    Field,
    completeness_of,
    distinct,
)
from eval_pipeline_tests.conftest import REPOSITORY

DOCUMENT = (REPOSITORY / "docs" / "production.md").read_text()


@pytest.mark.parametrize("field", [*EVENT_FIELDS, *FEEDBACK_FIELDS], ids=lambda field: field.name)
def test_every_field_is_documented_in_the_same_words(field: Field) -> None:
    assert field.name in event_schema().names + feedback_schema().names
    assert any(f"| `{field.name}` |" in line and field.about in line for line in DOCUMENT.splitlines())


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_documented_in_the_same_words(name: str) -> None:
    assert any(f"| `{name}` |" in line and FIGURES[name].about in line for line in DOCUMENT.splitlines())


@pytest.mark.parametrize("field", NAMES)
def test_every_attribute_is_documented(field: str) -> None:
    assert all(f"`{name}`" in DOCUMENT for name in NAMES[field])


def test_absent_fields_are_null_and_more_of_them_is_less() -> None:
    bare = {"request_id": "r", "suite": "toy"}
    assert completeness_of(bare) < completeness_of({**bare, "model": "x"})
    assert completeness_of(bare) == completeness_of({**bare, "output": "x"})
    assert event_table([]).num_rows == 0


def test_everything_that_a_row_has_decides_which_one_counts() -> None:
    """Two that differ in anything are never told apart by chance."""
    assert {"request_id", "suite", *TIES, *TEXTS} == {field.name for field in EVENT_FIELDS}
    assert {"feedback_id", *FEEDBACK_TIES, *COMMENTS} == {field.name for field in FEEDBACK_FIELDS}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        (["a", "a"], ["a"]),
        (["a", "b", "a"], ["a", "b"]),
        (["a", None, "a"], ["a", None]),
        ([None, "a"], [None, "a"]),
        ([None, None], [None]),
    ],
)
def test_distinct_values_are_those_that_are_there(
    values: list[str | None], expected: list[str | None]
) -> None:
    assert distinct(pa.chunked_array([values[:1], values[1:]], pa.string())) == expected
