"""The course of metrics over evaluations: which points are joined, and in words what is not drawn."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from eval_pipeline.comparison import series
from eval_pipeline.gates import Gate
from eval_pipeline.numbers import Unit, counted, limit, number
from eval_pipeline.prompts import prompt_name
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.tables import units
from eval_pipeline.reports.trend_lines import Band, Line, Mark, Scale, trend_lines
from eval_pipeline.scoring import Point
from eval_pipeline.suite import Suite

MOST_MARKS = 120
"""So many values of a metric are drawn at most."""
ROOM = 0.08
"""How much of the scale stays free above and below."""
SHORT_HASH = 6


class Course(NamedTuple):
    """How one metric went, ready to be drawn."""

    metric: str
    unit: Unit
    lines: tuple[Line, ...]
    """Those of active versions first, then the one with the latest value."""
    bands: tuple[Band, ...]
    scale: Scale
    baseline: float | None
    dates: tuple[str, str]
    notes: tuple[str, ...]
    """What is not drawn."""

    def svg(self, title: str = "") -> str:
        """The chart; with a title it has a legend, too."""
        return trend_lines(
            self.lines,
            self.bands,
            self.scale,
            lambda value: limit(value, self.unit) if self._is_limit(value) else number(value, self.unit),
            baseline=self.baseline,
            dates=self.dates,
            title=title,
        )

    def _is_limit(self, value: float) -> bool:
        return any(value == band.low for band in self.bands[1:])


def course(
    suite: Suite,
    metric: str,
    gate: Gate | None,
    points: Sequence[Point],
    *,
    baseline: float | None = None,
    active: Sequence[str] = (),
) -> Course | None:
    """How a metric went over evaluations, oldest first; None where no value of it is to be drawn.

    Values of one version, engine, model, golden set and scoring are joined. Those of active versions are
    filled; so are all where none is named.
    """
    drawn = [point for point in points if not point.replay and not point.incomplete]
    places = {id(point): place for place, point in enumerate(drawn)}
    marks = {
        places[id(point)]: Mark(places[id(point)], value, point.intervals.get(metric))
        for point in drawn
        if (value := point.metrics.get(metric)) is not None
    }
    if not marks:
        return None
    kept, thinned = _thinned(list(marks.values()))
    groups = sorted(series(points), key=lambda line: (line[0].version not in active, -places[id(line[-1])]))
    names = line_names([group[-1] for group in groups])
    lines = (
        Line(name, _pieces(group, places, marks, kept), not active or group[0].version in active)
        for name, group in zip(names, groups, strict=True)
    )
    unit = units(suite)[metric]
    scale = _scale(len(drawn), [marks[place] for place in sorted(kept)], gate, baseline, unit)
    undefined = len(drawn) - len(marks)
    return Course(
        metric,
        unit,
        tuple(line for line in lines if line.pieces),
        bands(gate, scale.low, scale.high) if gate else (),
        scale,
        baseline,
        (drawn[0].evaluated_at[:10], drawn[-1].evaluated_at[:10] if len(drawn) > 1 else ""),
        (*thinned, *([f"undefined in {counted(undefined, 'evaluation')}"] if undefined else ())),
    )


def _thinned(marks: Sequence[Mark]) -> tuple[set[int], tuple[str, ...]]:
    """Those of many values that are drawn, by place, and what is said of the others."""
    if len(marks) <= MOST_MARKS:
        return {mark.place for mark in marks}, ()
    size = math.ceil(2 * len(marks) / (MOST_MARKS - 2))
    kept = {marks[0].place, marks[-1].place}
    for start in range(0, len(marks), size):
        some = marks[start : start + size]
        kept |= {choose(some, key=lambda mark: mark.value).place for choose in (min, max)}
    note = (
        f"{len(kept):,} of {len(marks):,} values are drawn: the first, the last, and of every {size:,} "
        "neighbours the lowest and the highest"
    )
    return kept, (note,)


def _pieces(
    group: Sequence[Point], places: Mapping[int, int], marks: Mapping[int, Mark], kept: set[int]
) -> list[list[Mark]]:
    """A line as pieces: where a value is undefined, it ends and begins anew."""
    pieces: list[list[Mark]] = [[]]
    for point in group:
        place = places[id(point)]
        if place not in marks:
            pieces.append([])
        elif place in kept:
            pieces[-1].append(marks[place])
    return [piece for piece in pieces if piece]


def _scale(
    places: int, marks: Sequence[Mark], gate: Gate | None, baseline: float | None, unit: Unit
) -> Scale:
    """A scale that holds every value, interval and the baseline, and the value from which a metric passes."""
    values = [end for mark in marks for end in (mark.value, *(mark.interval or ()))]
    values += [baseline] if baseline is not None else []
    values += [gate.bounds["pass"].limit] if gate else []
    low, high = min(values), max(values)
    room = (high - low) * ROOM or max(abs(high), 0.1) * ROOM
    low, high = low - room, high + room
    if unit == "fraction":
        low, high = max(low, min(0.0, *values)), min(high, max(1.0, *values))
    return Scale(places, low, high)


def bands(gate: Gate, low: float, high: float) -> tuple[Band, ...]:
    """The zones between two values, from below."""
    limits = sorted({bound.limit for name, bound in gate.bounds.items() if name != "warn"})
    ends = [low, *(each for each in limits if low < each < high), high]
    cut = [Band(gate.zone((start + end) / 2), start, end) for start, end in pairwise(ends) if end > start]
    results = cut[:1]
    for band in cut[1:]:
        if band.zone == results[-1].zone:
            results[-1] = results[-1]._replace(high=band.high)
        else:
            results.append(band)
    return tuple(results)


def line_names(points: Sequence[Point]) -> list[str]:
    """What each line is of: the version and the engine, and whatever else tells it from the others.

    What the latest of the points rests on is not said of any.
    """
    latest = max(points, key=lambda point: point.evaluated_at, default=None)
    prompts = {prompt_name(point.version) for point in points}
    models: dict[str, set[str]] = {}
    for point in points:
        models.setdefault(point.engine, set()).add(point.model)

    def other(point: Point, field: str, what: str) -> str:
        value = getattr(point, field)
        return "" if value == getattr(latest, field) else f"{what} {value[:SHORT_HASH]}".rstrip()

    def name(point: Point) -> str:
        short = point.version if len(prompts) > 1 else point.version[len(prompt_name(point.version)) + 1 :]
        held_out = point.held_out or "all cases"
        parts = [
            f"{short} on {point.engine}",
            point.model if len(models[point.engine]) > 1 else "",
            held_out if latest and point.held_out != latest.held_out else "",
            other(point, "golden_hash", "other golden set"),
            other(point, "scoring", "other scoring"),
        ]
        return flat(", ".join(filter(None, parts)))

    return [name(point) for point in points]


def undrawn(points: Sequence[Point]) -> list[str]:
    """What of a history no chart shows."""
    incomplete = sum(point.incomplete for point in points)
    replays = sum(point.replay and not point.incomplete for point in points)
    return [
        *([f"{counted(incomplete, 'incomplete evaluation')}"] if incomplete else ()),
        *([f"{counted(replays, 'evaluation')} of answers that were known"] if replays else ()),
    ]


def trend_chart(suite: Suite, gates: Mapping[str, Gate], points: Sequence[Point]) -> str:
    """The headline over the evaluations of a version that can be compared with each other."""
    headline = suite.headline
    drawn = course(suite, headline, gates.get(headline), points)
    if drawn is None:
        return trend_lines((), (), Scale(0, 0.0, 1.0), str, title=f"{headline}: undefined so far")
    count = counted(len({mark.place for line in drawn.lines for mark in line.marks}), "evaluation")
    return drawn.svg(f"{headline}: {count} that asked anew")
