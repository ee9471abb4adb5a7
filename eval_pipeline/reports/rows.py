"""Rows for people: a table is made once, and rendered as Markdown or for the console."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

Colour = Literal["", "green", "yellow", "red", "dim"]


class Cell(NamedTuple):
    """Text with a colour, for renderers that have colours."""

    text: str
    colour: Colour = ""


class Table(NamedTuple):
    """A table of plain text. Its renderers see to it that no cell acts as markup."""

    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    title: str = ""
    note: str = ""
    """A sentence below the rows."""
    together: Sequence[Sequence[str]] = ()
    """The columns that stay together, in order, where a screen is too narrow for all of them."""
