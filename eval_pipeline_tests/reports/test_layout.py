"""Lines and tables on a screen: they fit, and say all that they said before."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from eval_pipeline.reports import Cell, Table
from eval_pipeline.reports.layout import fitted, natural_width, screen_width, wrapped

WORDS = st.text(st.characters(exclude_categories=["C", "Z", "M"]), min_size=1, max_size=30)
LINES = st.lists(WORDS).map(" ".join)


def test_a_line_breaks_between_words_and_never_within_a_number() -> None:
    text = "overall_index fell 7.0 points (95 % CI 5.7 to 8.3 points) over 15 cases × 1 trial, p < 0.001."
    assert wrapped(text, 40, indent=2) == [
        "overall_index fell 7.0 points (95 % CI",
        "  5.7 to 8.3 points) over 15 cases",
        "  × 1 trial, p < 0.001.",
    ]
    for width in range(30, 100):
        joined = "\n".join(wrapped(text, width))
        for whole in ("7.0 points", "95 % CI", "8.3 points", "15 cases", "× 1 trial", "< 0.001"):
            assert whole in joined, width
    assert wrapped(text, None) == [text]
    assert wrapped("a −12.3 pp … +4.5 pp", 12) == ["a −12.3 pp …", "+4.5 pp"]  # no room for all of it


@given(LINES, st.integers(20, 120), st.integers(0, 8))
def test_no_line_is_wider_than_the_screen_and_nothing_is_lost(text: str, width: int, indent: int) -> None:
    lines = wrapped(text, width, indent)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def cells(table: Table) -> set[str]:
    rows = [table.header, *table.rows]
    return {re.sub(r"\s", "", cell.text if isinstance(cell, Cell) else cell) for row in rows for cell in row}


@given(st.integers(20, 120), st.data())
def test_every_part_of_a_table_fits_and_together_they_hold_every_cell(
    width: int, data: st.DataObject
) -> None:
    names = data.draw(st.lists(WORDS, min_size=2, max_size=8, unique=True))
    row = st.tuples(*[LINES] * len(names))
    table = Table(names, data.draw(st.lists(row, max_size=4)), "title", "note")
    parts = fitted(table, width)
    assert all(natural_width(part) <= width for part in parts)
    assert set().union(*map(cells, parts)) == cells(table)
    assert [part.title for part in parts] == ["title", *[""] * (len(parts) - 1)]
    assert [part.note for part in parts] == [*[""] * (len(parts) - 1), "note"]
    assert len({tuple(row[0] for row in part.rows) for part in parts}) == 1


def test_columns_that_belong_together_stay_together() -> None:
    table = Table(("metric", "a", "b", "c", "d"), [("recall", "1" * 9, "2" * 9, "3" * 9, "4" * 9)])
    assert [list(part.header) for part in fitted(table, 30)] == [["metric", "a", "b"], ["metric", "c", "d"]]
    grouped = table._replace(together=(("a",), ("b", "d"), ("c",)))
    assert [list(part.header) for part in fitted(grouped, 30)] == [
        ["metric", "a"],
        ["metric", "b", "d"],
        ["metric", "c"],
    ]
    assert fitted(grouped, 60) == fitted(grouped, None) == [grouped]


def test_a_screen_is_as_wide_as_it_says_and_a_pipe_has_no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert screen_width() == 80
    monkeypatch.setenv("COLUMNS", "3")
    assert screen_width() == 20
    monkeypatch.setenv("COLUMNS", "wide")
    assert screen_width() is None
    monkeypatch.delenv("COLUMNS")
    assert screen_width() is None
