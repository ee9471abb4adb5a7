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
    interval: tuple[float, float] | None = None
    """Lengths between which a line shows the uncertainty."""


def bars(title: str, rows: Sequence[Bar]) -> str:
    """A horizontal bar chart. Bars with negative lengths grow to the left of a common zero line."""
    both_ways = any(min((row.length, *(row.interval or ()))) < 0 for row in rows)
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
        if row.interval:
            low, high = (zero + max(-1.0, min(1.0, end)) * scale for end in row.interval)
            middle = top + 3 + (ROW - 8) / 2
            parts.append(
                f'<path d="M{low:.1f} {middle - 4}v8m0 -4H{high:.1f}m0 -4v8" '
                'stroke="#263238" stroke-width="1.5" fill="none"/>'
            )
    parts.append(f'<line x1="{zero}" x2="{zero}" y1="30" y2="{height - 6}" stroke="#90a4ae"/></svg>')
    return "".join(parts)


def image(svg: str, description: str) -> str:
    """An SVG inside Markdown, as part of the text itself."""
    data = base64.b64encode(svg.encode()).decode()
    return f"![{description}](data:image/svg+xml;base64,{data})"
