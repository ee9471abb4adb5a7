"""Trend lines: everything stands where its value says, whatever names say, and only neighbours are joined."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

import pytest

from eval_pipeline.reports.charts import GREEN, GREY, INK, LIGHT_GREEN, RED, inline
from eval_pipeline.reports.trend_lines import (
    BOTTOM,
    HEIGHT,
    LEFT,
    LINE_COLOURS,
    RIGHT,
    TOP,
    WIDTH,
    Band,
    Line,
    Mark,
    Scale,
    legend_of,
    trend_lines,
)

SVG = "{http://www.w3.org/2000/svg}"
BANDS = (Band("fail", 0.0, 0.5), Band("pass", 0.5, 0.75), Band("excellent", 0.75, 1.0))
SCALE = Scale(3, 0.0, 1.0)
FLOOR, ROOM = HEIGHT - BOTTOM, HEIGHT - TOP - BOTTOM


def drawn(*lines: Line, **options: object) -> Xml.Element:
    return Xml.fromstring(trend_lines(lines, BANDS, SCALE, str, **options))  # type: ignore[arg-type]


def paths(svg: Xml.Element, colour: str) -> list[str]:
    return [each.attrib["d"] for each in svg.iter(f"{SVG}path") if each.attrib["stroke"] == colour]


def texts(svg: Xml.Element) -> list[str]:
    return [each.text or "" for each in svg.iter(f"{SVG}text")]


def test_zones_are_bands_and_the_best_is_the_fullest_green() -> None:
    bands = [each.attrib for each in drawn().iter(f"{SVG}rect")][1:]
    assert [each["fill"] for each in bands] == [RED, LIGHT_GREEN, GREEN]
    heights = [float(each["height"]) for each in bands]
    assert heights == [ROOM / 2, ROOM / 4, ROOM / 4]
    assert float(bands[0]["y"]) == TOP + ROOM / 2
    opacity = [float(each["fill-opacity"]) for each in bands]
    assert opacity == sorted(opacity)


def test_marks_stand_at_their_values_and_neighbours_are_joined() -> None:
    line = Line("a", [[Mark(0, 0.0), Mark(1, 0.5)], [Mark(2, 1.0)]])
    joined, dots = paths(drawn(line), LINE_COLOURS[0])
    left, right, middle = LEFT + 8, WIDTH - RIGHT - 8, (LEFT + WIDTH - RIGHT) / 2
    assert joined == f"M{left:.1f} {FLOOR:.1f}L{middle:.1f} {TOP + ROOM / 2:.1f}"
    assert dots.count("h0") == 3
    assert f"M{right:.1f} {TOP:.1f}h0" in dots


def test_two_lines_are_never_one() -> None:
    svg = drawn(Line("a", [[Mark(0, 0.2)]]), Line("b", [[Mark(1, 0.4)]]))
    assert [len(paths(svg, colour)) for colour in LINE_COLOURS[:2]] == [1, 1]
    assert "L" not in "".join(each.attrib["d"] for each in svg.iter(f"{SVG}path"))


def test_an_interval_is_a_vertical_line_from_end_to_end() -> None:
    whisker, _ = paths(drawn(Line("a", [[Mark(0, 0.5, (0.25, 0.75))]])), LINE_COLOURS[0])
    assert re.fullmatch(rf"M\S+ {TOP + ROOM * 0.75:.1f}V{TOP + ROOM * 0.25:.1f}", whisker)


def test_the_baseline_is_a_dashed_line() -> None:
    (line,) = paths(drawn(baseline=0.5), INK)
    assert line == f"M{LEFT} {TOP + ROOM / 2:.1f}H{WIDTH - RIGHT}"
    assert paths(drawn(), INK) == []


def test_the_scale_names_where_zones_begin_and_its_ends() -> None:
    shown = texts(drawn(dates=("2026-01-01", "2026-02-01")))
    assert shown == ["fail", "pass", "excellent", "0.5", "0.75", "0.0", "1.0", "2026-01-01", "2026-02-01"]


def test_lines_that_cannot_be_told_apart_are_grey_and_counted() -> None:
    lines = [Line(f"line {number}", [[Mark(0, 0.5)]]) for number in range(len(LINE_COLOURS) + 2)]
    assert len(paths(drawn(*lines), GREY)) == 2
    keys = [key.name for key in legend_of(lines, baseline=True)]
    assert keys[-2:] == ["2 others, each by itself", "the baseline"]
    assert len(keys) == len(LINE_COLOURS) + 2


def test_with_a_title_it_has_a_legend() -> None:
    line = Line("v1 on embedded", [[Mark(0, 0.5)]])
    assert texts(drawn(line, title="accuracy"))[0] == "accuracy"
    assert texts(drawn(line, title="accuracy"))[-1] == "v1 on embedded"
    assert "v1 on embedded" not in texts(drawn(line))


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a & b", "\"'", "</text></svg>", "é🌊"])
def test_names_are_escaped(name: str) -> None:
    svg = drawn(Line(name, [[Mark(0, 0.5)]]), title=name, dates=(name, ""))
    assert texts(svg).count(name) == 3
    assert {each.tag for each in svg.iter()} == {
        f"{SVG}{tag}" for tag in ("svg", "rect", "text", "g", "path")
    }


def test_in_a_page_it_has_the_colours_of_the_page() -> None:
    svg = inline(trend_lines([Line("a", [[Mark(0, 0.5)]])], BANDS, SCALE, str, title="t"), "described")
    assert "#" not in svg
    assert 'aria-label="described"' in svg
