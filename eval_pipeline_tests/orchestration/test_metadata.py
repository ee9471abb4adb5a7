"""What a materialization shows, and how much of it fits on a screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.orchestration.metadata import (
    LINES_OF_A_SCREEN,
    MORE,
    WIDTH_OF_A_SCREEN,
    in_screens,
    on_a_screen,
)


def test_what_fits_stays_as_it_is() -> None:
    assert on_a_screen("# Title\n\ntext\n").value == "# Title\n\ntext"
    assert {name: each.value for name, each in in_screens("it", "text").items()} == {"it": "text"}


def test_what_is_longer_says_so() -> None:
    lines = [f"- line {number}" for number in range(100)]
    shown = str(on_a_screen("\n".join(lines)).value).splitlines()
    assert shown == [*lines[:LINES_OF_A_SCREEN], "", MORE]


def test_long_lines_take_several() -> None:
    line = "x" * (WIDTH_OF_A_SCREEN * LINES_OF_A_SCREEN)
    assert len(in_screens("it", f"{line}\n{line}\nshort")) == 3


def test_a_table_that_goes_on_has_its_header_again() -> None:
    rows = [f"| {number} |" for number in range(2 * LINES_OF_A_SCREEN)]
    screens = in_screens("it", "\n".join(["| number |", "|---|", *rows]))
    texts = [str(each.value).splitlines() for each in screens.values()]
    assert list(screens) == ["it", "it_2", "it_3"]
    assert [text[:2] for text in texts] == [["| number |", "|---|"]] * 3
    assert [row for text in texts for row in text[2:]] == rows


LINES = st.sampled_from(["", "| a |", "|---|", "text", "word " * 60, "![x](data:y)", "# h"])


@given(st.lists(LINES, max_size=80))
def test_nothing_is_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    shown = [line for each in in_screens("it", text).values() for line in str(each.value).splitlines()]
    outside = [line for line in shown if line and not line.startswith("|")]
    assert outside == [line for line in text.strip().splitlines() if line and not line.startswith("|")]
    assert shown.count("| a |") >= lines.count("| a |")


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_nothing_is_nothing(text: str) -> None:
    assert on_a_screen(text).value == ""
