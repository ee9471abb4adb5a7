"""Charts as SVG: self-contained, with no script and no remote part."""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from eval_pipeline.numbers import number

LABEL, BAR, SHOWN, ROW = 230, 380, 150, 24
CELL, LONGEST_LABEL = 30, 28
SPARK_WIDTH, SPARK_HEIGHT = 90, 22

GREEN, LIGHT_GREEN, AMBER, RED, GREY = "#2e7d32", "#9ccc65", "#ef8f00", "#c62828", "#78909c"
BLUE, PURPLE, TEAL, RUST, PINK, OLIVE = "#1565c0", "#8e24aa", "#00838f", "#a1503c", "#c2185b", "#6b7a1f"
INK, PAPER = "#263238", "#ffffff"
BACKGROUND = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
_OF_A_PAGE = {
    GREEN: "green",
    LIGHT_GREEN: "light-green",
    AMBER: "amber",
    RED: "red",
    GREY: "grey",
    BLUE: "blue",
    PURPLE: "purple",
    TEAL: "teal",
    RUST: "rust",
    PINK: "pink",
    OLIVE: "olive",
    PAPER: "on-colour",
    INK: "ink",
    "#90a4ae": "line",
}
"""The colours of charts as variables of a page's style sheet."""
ZONE_COLOURS = {"excellent": GREEN, "pass": LIGHT_GREEN, "between": AMBER, "fail": RED}
"""From the best to the worst: the deepest green is the best."""


class Bar(NamedTuple):
    """One bar: a length between −1 and 1, its colour, and the number beside it."""

    label: str
    length: float
    colour: str
    shown: str
    marks: tuple[float, ...] = ()
    """Lengths at which a thin line marks a threshold."""
    interval: tuple[float, float] | None = None
    """Lengths between which a line shows the uncertainty."""


def bars(title: str, rows: Sequence[Bar], legend: Mapping[str, str] | None = None) -> str:
    """A horizontal bar chart. Bars with negative lengths grow to the left of a common zero line.

    A legend says below what colours mean.
    """
    both_ways = any(min((row.length, *(row.interval or ()))) < 0 for row in rows)
    zero = LABEL + (BAR / 2 if both_ways else 0)
    scale = BAR / 2 if both_ways else BAR
    end = ROW * len(rows) + 40
    height = end + (ROW if legend else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + BAR + SHOWN}" height="{height}" '
        f'font-family="sans-serif" font-size="13">',
        f'{BACKGROUND}<text x="8" y="20" font-weight="bold">{escape(title)}</text>',
    ]
    for index, row in enumerate(rows):
        top = 32 + index * ROW
        length = max(-1.0, min(1.0, row.length)) * scale
        parts.append(
            f'<text x="8" y="{top + 15}">{escape(row.label)}</text>'
            f'<rect x="{zero + min(length, 0):.1f}" y="{top + 3}" width="{abs(length):.1f}" '
            f'height="{ROW - 8}" fill="{row.colour}"/>'
            f'<text x="{LABEL + BAR + 8}" y="{top + 15}">{escape(row.shown)}</text>'
        )
        for mark in row.marks:
            x = zero + mark * scale
            parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{top + ROW - 2}" '
                'stroke="#263238" stroke-width="1.5"/>'
            )
        if row.interval:
            low, high = (zero + max(-1.0, min(1.0, end)) * scale for end in row.interval)
            middle = top + 3 + (ROW - 8) / 2
            parts.append(
                f'<path d="M{low:.1f} {middle - 4}v8m0 -4H{high:.1f}m0 -4v8" '
                'stroke="#263238" stroke-width="1.5" fill="none"/>'
            )
    parts.append(f'<line x1="{zero}" x2="{zero}" y1="30" y2="{end - 6}" stroke="#90a4ae"/>')
    for number_, (name, colour) in enumerate((legend or {}).items()):
        x = LABEL + number_ * (BAR / 4)
        parts.append(
            f'<rect x="{x}" y="{end}" width="12" height="12" fill="{colour}"/>'
            f'<text x="{x + 18}" y="{end + 11}">{escape(name)}</text>'
        )
    return "".join([*parts, "</svg>"])


def heatmap(
    title: str, row_labels: Sequence[str], column_labels: Sequence[str], cells: Sequence[Sequence[float]]
) -> str:
    """A matrix whose cells are the darker, the larger their share of their row; zeros stay blank.

    Cells on the diagonal, where row and column have the same label, are green, all others red.
    """
    slant = max((shortened(label) for label in column_labels), key=len, default="")
    top = 40 + 6 * len(slant)
    width = max(LABEL + CELL * len(column_labels) + 7 * len(slant), 9 * len(title))
    height = top + CELL * len(row_labels) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="12">',
        f'{BACKGROUND}<text x="8" y="20" font-size="13" font-weight="bold">{escape(title)}</text>',
    ]
    for index, label in enumerate(column_labels):
        x, y = LABEL + CELL * index + CELL / 2, top - 6
        text = escape(shortened(label))
        parts.append(f'<text x="{x}" y="{y}" transform="rotate(-50 {x} {y})">{text}</text>')
    for index, (label, row) in enumerate(zip(row_labels, cells, strict=True)):
        y = top + CELL * index
        parts.append(f'<text x="8" y="{y + 20}">{escape(shortened(label))}</text>')
        total = sum(row)
        parts += [
            _cell(LABEL + CELL * place, y, value, value / total, GREEN if column == label else RED)
            for place, (column, value) in enumerate(zip(column_labels, row, strict=True))
            if value > 0
        ]
    frame = f'width="{CELL * len(column_labels)}" height="{CELL * len(row_labels)}"'
    parts.append(f'<rect x="{LABEL}" y="{top}" {frame} fill="none" stroke="#90a4ae"/></svg>')
    return "".join(parts)


def _cell(x: float, y: float, value: float, share: float, colour: str) -> str:
    ink, shown = "#ffffff" if share > 0.5 else "#263238", number(value, "number")
    return (
        f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{colour}" '
        f'fill-opacity="{0.12 + 0.88 * share:.2f}"/>'
        f'<text x="{x + CELL / 2}" y="{y + 20}" text-anchor="middle" fill="{ink}">{shown}</text>'
    )


def shortened(label: str, longest: int = LONGEST_LABEL) -> str:
    """A label that is no longer than there is room for."""
    return label if len(label) <= longest else label[: longest - 1] + "…"


def image(svg: str, description: str) -> str:
    """An SVG inside Markdown, as part of the text itself."""
    data = base64.b64encode(svg.encode()).decode()
    return f"![{description}](data:image/svg+xml;base64,{data})"


def inline(svg: str, description: str) -> str:
    """An SVG inside an HTML page: its colours are those of the page, light or dark."""
    svg = svg.replace(BACKGROUND, "")
    for colour, name in _OF_A_PAGE.items():
        svg = svg.replace(f'="{colour}"', f'="var(--{name})"')
    named = f'<svg role="img" aria-label="{escape(description)}" fill="currentColor" '
    return svg.replace("<svg ", named, 1)


def spark(values: Sequence[float]) -> str:
    """Numbers in their order as a line that fits into a cell."""
    low, high = min(values), max(values)
    step = (SPARK_WIDTH - 6) / max(len(values) - 1, 1)
    heights = [(value - low) / (high - low) if high > low else 0.5 for value in values]
    points = [
        (3 + step * index, 3 + (SPARK_HEIGHT - 6) * (1 - height)) for index, height in enumerate(heights)
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    x, y = points[-1]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{SPARK_WIDTH}" height="{SPARK_HEIGHT}">'
        f'<polyline points="{path}" fill="none" stroke="{GREY}" stroke-width="1.5"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{GREY}"/></svg>'
    )
