"""The course of a metric: what is joined, what is not drawn, and that nothing is left out in silence."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.gates import Gate
from eval_pipeline.project import Project
from eval_pipeline.reports.trend_lines import Band, Line
from eval_pipeline.reports.trends import MOST_MARKS, Course, bands, course, line_names, trend_chart, undrawn
from eval_pipeline.scoring import Point
from eval_pipeline.suite import Suite
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.surveying import point

HIGHER = Gate(fail="< 0.5", passes=">= 0.8", excellent=">= 0.9")
LOWER = Gate(fail="> 0.05", passes="<= 0.02", excellent="<= 0.01")


@pytest.fixture
def suite(toy: Project) -> Suite:
    return find_suite(toy, "toy")


def of(suite: Suite, points: list[Point], **options: Any) -> Course:
    drawn = course(suite, "accuracy", HIGHER, points, **options)
    assert drawn is not None
    return drawn


def pieces(line: Line) -> list[list[tuple[int, float]]]:
    return [[(mark.place, mark.value) for mark in piece] for piece in line.pieces]


@pytest.mark.parametrize("other", ["engine", "model", "golden_hash", "scoring", "held_out", "version"])
def test_points_of_one_condition_are_joined_and_others_are_not(suite: Suite, other: str) -> None:
    changed: dict[str, Any] = {other: "guess-v2.0" if other == "version" else "another"}
    points = [point(0, 0.7), point(1, 0.6, **changed), point(2, 0.8), point(3, 0.65, **changed)]
    newest, older = of(suite, points).lines
    assert pieces(newest) == [[(1, 0.6), (3, 0.65)]]
    assert pieces(older) == [[(0, 0.7), (2, 0.8)]]


def test_a_line_ends_where_a_value_is_undefined(suite: Suite) -> None:
    drawn = of(suite, [point(0, 0.7), point(1, None), point(2, 0.8), point(3, 0.9)])
    assert pieces(drawn.lines[0]) == [[(0, 0.7)], [(2, 0.8), (3, 0.9)]]
    assert drawn.notes == ("undefined in 1 evaluation",)


def test_incomplete_evaluations_and_replays_are_not_drawn_and_said_to_be_so(suite: Suite) -> None:
    points = [point(0, 0.7), point(1, 0.1, incomplete=True), point(2, 0.7, replay=True), point(3, 0.8)]
    assert pieces(of(suite, points).lines[0]) == [[(0, 0.7), (1, 0.8)]]
    assert undrawn(points) == ["1 incomplete evaluation", "1 evaluation of answers that were known"]
    assert undrawn(points[:1]) == []


def test_lines_of_active_versions_come_first_and_are_filled(suite: Suite) -> None:
    points = [point(0, 0.7), point(1, 0.6, version="guess-v2.0")]
    lines = of(suite, points, active=["guess-v1.0"]).lines
    assert [(line.name, line.filled) for line in lines] == [
        ("v1.0 on embedded", True),
        ("v2.0 on embedded", False),
    ]


def test_intervals_and_the_baseline_are_within_the_scale(suite: Suite) -> None:
    drawn = of(suite, [point(0, 0.7, intervals={"accuracy": (0.3, 0.95)})], baseline=0.2)
    assert drawn.lines[0].marks[0].interval == (0.3, 0.95)
    assert drawn.baseline == 0.2
    assert 0.0 <= drawn.scale.low < 0.2
    assert 0.95 < drawn.scale.high <= 1.0


def test_nothing_is_drawn_of_a_metric_without_a_value(suite: Suite) -> None:
    assert course(suite, "accuracy", HIGHER, []) is None
    assert course(suite, "accuracy", HIGHER, [point(0, None)]) is None
    assert "undefined so far" in trend_chart(suite, {"accuracy": HIGHER}, [point(0, None)])


def test_thousands_of_points_are_thinned_and_it_is_said(suite: Suite) -> None:
    values = [0.7 + 0.001 * (number % 7) for number in range(5000)]
    values[3210] = 0.123
    points = [point(0, value, run=str(number), outputs=str(number)) for number, value in enumerate(values)]
    drawn = of(suite, points)
    kept = {mark.place: mark.value for mark in drawn.lines[0].marks}
    assert len(kept) <= MOST_MARKS
    assert {0, 4999} <= kept.keys()
    assert kept[3210] == 0.123
    (note,) = drawn.notes
    assert note.startswith(f"{len(kept):,} of 5,000 values are drawn")
    assert len(drawn.svg()) < 12_000


@pytest.mark.parametrize(
    ("gate", "low", "high", "expected"),
    [
        (
            HIGHER,
            0.4,
            1.0,
            [("fail", 0.4, 0.5), ("between", 0.5, 0.8), ("pass", 0.8, 0.9), ("excellent", 0.9, 1.0)],
        ),
        (HIGHER, 0.55, 0.6, [("between", 0.55, 0.6)]),
        (
            LOWER,
            0.0,
            0.1,
            [("excellent", 0.0, 0.01), ("pass", 0.01, 0.02), ("between", 0.02, 0.05), ("fail", 0.05, 0.1)],
        ),
        (Gate(fail="< 0.8", passes=">= 0.8"), 0.7, 0.9, [("fail", 0.7, 0.8), ("pass", 0.8, 0.9)]),
    ],
)
def test_zones_lie_between_the_bounds_of_a_gate(
    gate: Gate, low: float, high: float, expected: list[tuple[str, float, float]]
) -> None:
    assert bands(gate, low, high) == tuple(Band(*each) for each in expected)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.001, 0.999))
def test_every_value_lies_in_the_band_of_its_zone(one: float, other: float, share: float) -> None:
    low, high = min(one, other), max(one, other) + 0.01
    cut = bands(HIGHER, low, high)
    value = low + (high - low) * share
    assert (cut[0].low, cut[-1].high) == (low, high)
    if all(abs(value - band.low) > 1e-6 for band in cut):
        assert [band.zone for band in cut if band.low <= value < band.high] == [HIGHER.zone(value)]


def test_a_line_is_named_by_what_tells_it_from_the_others() -> None:
    points = [
        point(3, 0.8),
        point(2, 0.8, engine="gpt", model="m-2"),
        point(1, 0.8, engine="gpt", model="m-1"),
        point(0, 0.8, golden_hash="0123456789"),
    ]
    assert line_names(points) == [
        "v1.0 on embedded",
        "v1.0 on gpt, m-2",
        "v1.0 on gpt, m-1",
        "v1.0 on embedded, other golden set 012345",
    ]
    assert line_names([point(0, 0.8), point(1, 0.8, version="tell-v1.0")])[0] == "guess-v1.0 on embedded"


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>", "\u202egnp.exe", "a\x1b[31mb", "x" * 9999])
def test_names_of_engines_and_models_are_inert(suite: Suite, name: str) -> None:
    svg = trend_chart(suite, {"accuracy": HIGHER}, [point(0, 0.7, engine=name, model=name)])
    shown = [each.text or "" for each in Xml.fromstring(svg).iter() if each.tag.endswith("text")]
    assert all(len(text) < 100 and text.isprintable() for text in shown)
