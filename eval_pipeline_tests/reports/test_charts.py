"""Charts: well-formed SVG whatever the labels say."""

from __future__ import annotations

import base64
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.reports import image
from eval_pipeline.reports.charts import BAR, CELL, GREEN, LABEL, LONGEST_LABEL, RED, Bar, bars, heatmap

SVG = "{http://www.w3.org/2000/svg}"
READABLE = st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Cn"]))


def parsed(svg: str) -> Xml.Element:
    return Xml.fromstring(svg)


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in parsed(svg).iter(f"{SVG}text")]


def drawn(svg: str) -> list[tuple[float, float]]:
    """Where the bars start, and how long they are; the first rectangle is the background."""
    rectangles = list(parsed(svg).iter(f"{SVG}rect"))[1:]
    return [(float(each.attrib["x"]), float(each.attrib["width"])) for each in rectangles]


@pytest.mark.parametrize(
    "label", ["<script>alert(1)</script>", "a & b", "\"'", "</text></svg>", "]]>", "<!--", "é🌊", ""]
)
def test_labels_are_escaped(label: str) -> None:
    svg = bars(label, [Bar(label, 0.5, GREEN, label)])
    assert texts(svg) == [label, label, label]
    assert {each.tag for each in parsed(svg).iter()} == {
        f"{SVG}{tag}" for tag in ("svg", "rect", "text", "line")
    }


@given(READABLE, st.lists(st.builds(Bar, READABLE, st.floats(-2, 2), st.just(RED), READABLE), max_size=4))
def test_charts_are_well_formed(title: str, rows: list[Bar]) -> None:
    svg = bars(title, rows)
    assert texts(svg) == [title, *(text for row in rows for text in (row.label, row.shown))]
    assert all(LABEL <= x <= x + width <= LABEL + BAR + 0.1 for x, width in drawn(svg))


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([], []),
        ([0.0, 0.5, 1.0], [(LABEL, 0), (LABEL, BAR / 2), (LABEL, BAR)]),
        ([7.0], [(LABEL, BAR)]),
        ([-0.5, 1.0], [(LABEL + BAR / 4, BAR / 4), (LABEL + BAR / 2, BAR / 2)]),
        ([-9.0], [(LABEL, BAR / 2)]),
    ],
)
def test_bars_are_as_long_as_their_values(lengths: list[float], expected: list[tuple[float, float]]) -> None:
    assert drawn(bars("t", [Bar("x", length, RED, "") for length in lengths])) == expected


def test_marks_are_drawn_at_their_lengths() -> None:
    lines = list(parsed(bars("t", [Bar("x", 0.5, RED, "", (0.25, 1.0))])).iter(f"{SVG}line"))
    assert [float(each.attrib["x1"]) for each in lines] == [LABEL + BAR / 4, LABEL + BAR, LABEL]


def test_a_heatmap_shades_by_share_of_the_row_and_leaves_zeros_blank() -> None:
    svg = heatmap("t", ["cat", "dog"], ["cat", "dog", "missed"], [[3, 0, 1], [0, 2, 0]])
    assert texts(svg) == ["t", "cat", "dog", "missed", "cat", "3", "1", "dog", "2"]
    filled = [each for each in parsed(svg).iter(f"{SVG}rect") if "fill-opacity" in each.attrib]
    shades = [(each.attrib["fill"], float(each.attrib["fill-opacity"])) for each in filled]
    assert shades == [(GREEN, 0.78), (RED, 0.34), (GREEN, 1.0)]
    assert [float(each.attrib["x"]) for each in filled] == [LABEL, LABEL + 2 * CELL, LABEL + CELL]


@given(READABLE, st.lists(READABLE, max_size=3), st.lists(READABLE, max_size=3), st.integers(0, 9))
def test_heatmaps_are_well_formed(title: str, rows: list[str], columns: list[str], value: int) -> None:
    svg = heatmap(title, rows, columns, [[value] * len(columns)] * len(rows))
    assert texts(svg)[0] == title
    assert all(len(text) <= LONGEST_LABEL for text in texts(svg)[1:])
    assert {each.tag for each in parsed(svg).iter()} == {f"{SVG}{tag}" for tag in ("svg", "rect", "text")}


def test_an_image_holds_the_whole_chart() -> None:
    svg = bars("é", [])
    shown = image(svg, "A chart")
    assert shown.startswith("![A chart](data:image/svg+xml;base64,")
    assert base64.b64decode(shown.partition("base64,")[2].removesuffix(")")).decode() == svg
