"""Lines and tables that fit a screen: nothing is cut, and no number is torn from its unit."""

import os
import re
import sys
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, chop_cells

from eval_pipeline.reports.rows import Cell, Table

GAP = 2
"""Between two columns."""
NARROWEST = 20
"""No screen counts as narrower."""
LONGEST_NAME = 0.5
"""So much of a screen the first column takes at most."""

_BREAK = re.compile(
    r"(?<![\d<>≤≥=×±…→]) "  # what stands before is no number, nor a sign of the one that follows
    r"(?!(?:[%…]|pp|points?|ms|CI)(?!\w))"  # and what follows is no unit
)


def screen_width() -> int | None:
    """How many columns standard output has; None where nothing limits them, as in a file or a pipe."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return max(NARROWEST, int(given))
    try:
        return max(NARROWEST, os.get_terminal_size(sys.stdout.fileno()).columns) if _is_screen() else None
    except (OSError, ValueError):
        return None


def _is_screen() -> bool:
    return bool(sys.stdout.isatty())


def wrapped(text: str, width: int | None, indent: int = 0) -> list[str]:
    """A text as lines of at most that width, broken between words; lines after the first are indented."""
    if width is None:
        return [text]
    return [line for each in text.split("\n") for line in _wrapped(each, width, indent)]


def _wrapped(text: str, width: int, indent: int) -> Iterator[str]:
    line, room, margin = "", width, ""
    for word in _words(text, width - indent):
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= room:
            line = joined
            continue
        if line:
            yield margin + line
            margin, room = " " * indent, width - indent
        *whole, line = chop_cells(word, room) if cell_len(word) > room else [word]
        for piece in whole:
            yield margin + piece
            margin, room = " " * indent, width - indent
    yield margin + line


def _words(text: str, width: int) -> Iterator[str]:
    """What stays on one line, as far as a line has room for it."""
    for word in _BREAK.split(text):
        yield from [word] if cell_len(word) <= width else word.split(" ")


def fitted(content: Table, width: int | None) -> list[Table]:
    """A table as it is where it fits; else in parts, one below the other, each with the first column.

    A cell that is wider than a screen is broken into lines. Title and note stay with the first and last.
    """
    if width is None or natural_width(content) <= width:
        return [content]
    name, *columns = _columns(content, width)
    parts = [_table([name, *part]) for part in _parts(name, _groups(content, columns), width)]
    parts[0] = parts[0]._replace(title=content.title)
    parts[-1] = parts[-1]._replace(note=content.note)
    return parts


def natural_width(content: Table) -> int:
    """How many columns of a screen a table takes."""
    columns = zip(content.header, *content.rows, strict=True)
    return _width([[_cell(each) for each in column] for column in columns])


Column = list[Cell]
"""From the header down."""


def _columns(content: Table, width: int) -> list[Column]:
    """The columns, none wider than it may be: the first one leaves room for others."""
    columns: list[Column] = []
    for column in zip(content.header, *content.rows, strict=True):
        most = int(width * LONGEST_NAME) if not columns else width - GAP - _width(columns[:1])
        cells = map(_cell, column)
        columns.append([Cell("\n".join(wrapped(each.text, most)), each.colour) for each in cells])
    return columns


def _groups(content: Table, columns: Sequence[Column]) -> list[list[Column]]:
    """The columns after the first, those together that stay together."""
    by_name = dict(zip(content.header[1:], columns, strict=True))
    return [[by_name[name] for name in group] for group in content.together] or [[each] for each in columns]


def _parts(name: Column, groups: Sequence[list[Column]], width: int) -> list[list[Column]]:
    """What stands side by side; a group that is too wide for a part of its own is taken apart."""
    parts: list[list[Column]] = []
    for group in groups:
        fits = _width([name, *group]) <= width
        for some in [group] if fits else [[each] for each in group]:
            if parts and _width([name, *parts[-1], *some]) <= width:
                parts[-1] += some
            else:
                parts.append(list(some))
    return parts


def _table(columns: Sequence[Column]) -> Table:
    header, *rows = zip(*columns, strict=True)
    return Table([each.text for each in header], rows)


def _width(columns: Sequence[Column]) -> int:
    return sum(map(_column_width, columns)) + GAP * (len(columns) - 1)


def _column_width(column: Column) -> int:
    return max(cell_len(line) for each in column for line in each.text.split("\n"))


def _cell(value: str | Cell) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)
