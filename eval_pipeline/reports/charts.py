"""Charts as SVG: self-contained, with no script and no remote part."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

LABEL, BAR, SHOWN, ROW = 230, 380, 150, 24

GREEN, GOLD, AMBER, RED, GREY = "#2e7d32", "#b8860b", "#ef8f00", "#c62828", "#78909c"


class Bar(NamedTuple):
    """One bar: a length between −1 and 1, its colour, and the number beside it."""

    label: str
    length: float
    colour: str
    shown: str
    marks: tuple[float, ...] = ()
    """Lengths at which a thin line marks a threshold."""


def bars(title: str, rows: Sequence[Bar]) -> str:
    """A horizontal bar chart. Bars with negative lengths grow to the left of a common zero line."""
    both_ways = any(row.length < 0 for row in rows)
    zero = LABEL + (BAR / 2 if both_ways else 0)
    scale = BAR / 2 if both_ways else BAR
    height = ROW * len(rows) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + BAR + SHOWN}" height="{height}" '
        f'font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#ffffff"/>'
        f'<text x="8" y="20" font-weight="bold">{escape(title)}</text>',
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
    parts.append(f'<line x1="{zero}" x2="{zero}" y1="30" y2="{height - 6}" stroke="#90a4ae"/></svg>')
    return "".join(parts)


def image(svg: str, description: str) -> str:
    """An SVG inside Markdown, as part of the text itself."""
    data = base64.b64encode(svg.encode()).decode()
    return f"![{description}](data:image/svg+xml;base64,{data})"


def line(title: str, values: Sequence[float], labels: tuple[str, str]) -> str:
    """Numbers in their order, from left to right, between the least (below) and the greatest (above)."""
    low, high = min(values), max(values)
    width, height, top = LABEL + BAR + SHOWN, 150, 40
    step = (width - LABEL) / max(len(values) - 1, 1)
    heights = [(value - low) / (high - low) if high > low else 0.5 for value in values]
    points = [
        (LABEL / 2 + step * index, top + (height - top - 20) * (1 - h)) for index, h in enumerate(heights)
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{GREEN}"/>' for x, y in points)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="#ffffff"/>'
        f'<text x="8" y="20" font-weight="bold">{escape(title)}</text>'
        f'<text x="8" y="{top + 5}">{escape(labels[1])}</text>'
        f'<text x="8" y="{height - 15}">{escape(labels[0])}</text>'
        f'<polyline points="{path}" fill="none" stroke="{GREEN}" stroke-width="2"/>{dots}</svg>'
    )
