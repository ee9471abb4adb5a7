"""Trend lines as SVG: zones as bands, a baseline, intervals; a line joins only what can be compared."""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from eval_pipeline.reports.charts import (
    BACKGROUND,
    BLUE,
    GREY,
    INK,
    OLIVE,
    PAPER,
    PINK,
    PURPLE,
    RUST,
    TEAL,
    ZONE_COLOURS,
    shortened,
)

WIDTH, HEIGHT = 460, 190
LEFT, RIGHT, TOP, BOTTOM = 58, 62, 12, 24
HEAD, LEGEND_ROW = 30, 17
EDGE = 16
"""Pixels at the right of a chart whose zones have no names."""
LONGEST_NAME = 60
LEAST_APART = 13
"""Pixels between two labels of the scale."""
LINE_COLOURS = (BLUE, PURPLE, TEAL, RUST, PINK, OLIVE)
SPAN_ROWS = 3
"""So many spans at once are told apart by the height of their bars."""
OPACITY = {"excellent": 0.36, "pass": 0.26, "between": 0.22, "fail": 0.2}
"""Of the bands: the best is the fullest."""


class Mark(NamedTuple):
    """One value: which of the evaluations it is of, counted from the left, and where it may lie."""

    place: int
    value: float
    interval: tuple[float, float] | None = None


class Line(NamedTuple):
    """Values that can be compared with each other, in pieces: those of a piece are joined."""

    name: str
    pieces: Sequence[Sequence[Mark]]
    filled: bool = True
    """Whether its marks are, or only rings."""
    dotted: bool = True
    """Whether each value is a mark, or only one that has no neighbours."""

    @property
    def marks(self) -> list[Mark]:
        """All values, from the left."""
        return [mark for piece in self.pieces for mark in piece]


class Band(NamedTuple):
    """A zone between two values."""

    zone: str
    low: float
    high: float


class Span(NamedTuple):
    """A stretch of places that something is known of."""

    start: float
    end: float
    colour: str


class Axes(NamedTuple):
    """What stands behind lines over time: thin lines at values and moments, and spans."""

    values: Sequence[float]
    moments: Sequence[tuple[float, str]]
    spans: Sequence[Span] = ()


class Scale(NamedTuple):
    """Where places and values lie on a chart."""

    places: int
    low: float
    high: float

    def x(self, place: float) -> float:
        """From the left, in pixels."""
        room = WIDTH - LEFT - RIGHT
        return LEFT + (room / 2 if self.places < 2 else 8 + (room - 16) * place / (self.places - 1))

    def y(self, value: float) -> float:
        """From the top, in pixels."""
        share = (value - self.low) / (self.high - self.low)
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(1.0, max(0.0, share)))


def trend_lines(
    lines: Sequence[Line],
    bands: Sequence[Band],
    scale: Scale,
    shown: Callable[[float], str],
    *,
    baseline: float | None = None,
    dates: tuple[str, str] = ("", ""),
    title: str = "",
    axes: Axes | None = None,
) -> str:
    """Lines over zones or axes. With a title it explains itself: what each line is stands below."""
    legend = list(legend_of(lines, baseline=baseline is not None)) if title else []
    head = HEAD if title else 0
    width = WIDTH - RIGHT + EDGE if axes else WIDTH
    height = head + HEIGHT + LEGEND_ROW * len(legend)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">{BACKGROUND}',
        f'<text x="8" y="20" font-size="13" font-weight="bold">{escape(title)}</text>' if title else "",
        f'<g transform="translate(0 {head})">',
        *(_band(band, scale) for band in bands),
        *(_axes(axes, scale, shown) if axes else _ticks(bands, scale, shown)),
        _baseline(baseline, scale) if baseline is not None else "",
        *(_line(line, colour, scale) for line, colour in coloured(lines)),
        f'<text x="{LEFT}" y="{HEIGHT - 6}">{escape(dates[0])}</text>',
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{escape(dates[1])}</text>',
        *(
            f'<g transform="translate({LEFT} {HEIGHT + LEGEND_ROW * row})">{key.sample}'
            f'<text x="30" y="13">{escape(key.name)}</text></g>'
            for row, key in enumerate(legend)
        ),
        "</g></svg>",
    ]
    return "".join(parts)


def coloured(lines: Sequence[Line]) -> list[tuple[Line, str]]:
    """Each line with its colour; what comes after those that can be told apart is grey, and drawn first."""
    pairs = [
        (line, LINE_COLOURS[number] if number < len(LINE_COLOURS) else GREY)
        for number, line in enumerate(lines)
    ]
    return pairs[::-1]


class Key(NamedTuple):
    """What a line, or what is drawn like one, means."""

    sample: str
    """The beginning of such a line, as part of an SVG."""
    name: str

    @property
    def svg(self) -> str:
        """The sample as a picture of its own."""
        size = f'width="22" height="{LEGEND_ROW}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{BACKGROUND}{self.sample}</svg>'


def legend_of(lines: Sequence[Line], *, baseline: bool) -> Iterator[Key]:
    """What each line is; those that cannot be told apart are counted."""
    for line, colour in coloured(lines[: len(LINE_COLOURS)])[::-1]:
        stroke = f'<path d="M0 9h22" stroke="{colour}" stroke-width="2"/>'
        yield Key(stroke + _dots("M11 9h0", colour, line.filled), shortened(line.name, LONGEST_NAME))
    more = len(lines) - len(LINE_COLOURS)
    if more > 0:
        yield Key(f'<path d="M0 9h22" stroke="{GREY}" stroke-width="2"/>', f"{more:,} others, each by itself")
    if baseline:
        yield Key(f'<path d="M0 9h22" stroke="{INK}" stroke-dasharray="5 4"/>', "the baseline")


def _band(band: Band, scale: Scale) -> str:
    top, bottom = scale.y(band.high), scale.y(band.low)
    colour, named = ZONE_COLOURS[band.zone], ""
    if bottom - top >= LEAST_APART:
        named = f'<text x="{WIDTH - RIGHT + 6}" y="{(top + bottom) / 2 + 4:.1f}">{band.zone}</text>'
    return (
        f'<rect x="{LEFT}" y="{top:.1f}" width="{WIDTH - LEFT - RIGHT}" height="{bottom - top:.1f}" '
        f'fill="{colour}" fill-opacity="{OPACITY[band.zone]}"/>{named}'
    )


def _ticks(bands: Sequence[Band], scale: Scale, shown: Callable[[float], str]) -> Iterator[str]:
    """Numbers beside the scale: where zones begin, and the ends as far as there is room."""
    taken: list[float] = []
    for value in dict.fromkeys([*(band.low for band in bands[1:]), scale.low, scale.high]):
        y = scale.y(value)
        if all(abs(y - other) >= LEAST_APART for other in taken):
            taken.append(y)
            yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{escape(shown(value))}</text>'


def _axes(axes: Axes, scale: Scale, shown: Callable[[float], str]) -> Iterator[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for row, span in enumerate(axes.spans):
        x, width = scale.x(span.start), max(scale.x(span.end) - scale.x(span.start), 1.5)
        drawn = f'x="{x:.1f}" width="{width:.1f}" fill="{span.colour}"'
        yield f'<rect y="{TOP}" height="{bottom - TOP}" {drawn} fill-opacity="0.12"/>'
        yield f'<rect y="{TOP + 4 * (row % SPAN_ROWS)}" height="3" {drawn}/>'
    lines = [f"M{LEFT} {scale.y(value):.1f}H{right}" for value in axes.values]
    lines += [f"M{scale.x(place):.1f} {TOP}V{bottom}" for place, _ in axes.moments]
    yield f'<path d="{"".join(lines)}" stroke="#90a4ae" stroke-opacity="0.6" stroke-width="0.7" fill="none"/>'
    for value in axes.values:
        y = scale.y(value) + 4
        yield f'<text x="{LEFT - 6}" y="{y:.1f}" text-anchor="end">{escape(shown(value))}</text>'
    for moment, text in axes.moments:
        yield f'<text x="{scale.x(moment):.1f}" y="{HEIGHT - 6}" text-anchor="middle">{escape(text)}</text>'


def _baseline(value: float, scale: Scale) -> str:
    y = f"{scale.y(value):.1f}"
    return f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="{INK}" stroke-dasharray="5 4" fill="none"/>'


def _line(line: Line, colour: str, scale: Scale) -> str:
    path = "".join(
        "M" + "L".join(f"{scale.x(mark.place):.1f} {scale.y(mark.value):.1f}" for mark in piece)
        for piece in line.pieces
        if len(piece) > 1
    )
    marks = [mark for piece in line.pieces if line.dotted or len(piece) == 1 for mark in piece]
    dots = "".join(f"M{scale.x(mark.place):.1f} {scale.y(mark.value):.1f}h0" for mark in marks)
    ends = "".join(
        f"M{scale.x(mark.place):.1f} {scale.y(mark.interval[0]):.1f}V{scale.y(mark.interval[1]):.1f}"
        for mark in line.marks
        if mark.interval
    )
    whiskers = f'<path d="{ends}" stroke="{colour}" stroke-opacity="0.5" fill="none"/>' if ends else ""
    thickness = 2.4 if line.filled and line.dotted else 1.4
    joined = f'<path d="{path}" stroke="{colour}" stroke-width="{thickness}" fill="none"/>' if path else ""
    return whiskers + joined + (_dots(dots, colour, line.filled) if dots else "")


def _dots(path: str, colour: str, filled: bool) -> str:
    dot = f'<path d="{path}" stroke="{colour}" stroke-width="6.5" stroke-linecap="round"/>'
    hole = f'<path d="{path}" stroke="{PAPER}" stroke-width="3" stroke-linecap="round"/>'
    return dot if filled else dot + hole
