"""Rows for people: a table is made once, and rendered as Markdown or for the console."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeVar

T = TypeVar("T")
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

    def led_by(self, column: str) -> "Table":
        """The same with one column first: in a narrow place it is seen all the same."""
        place = self.header.index(column)

        def moved(row: Sequence[T]) -> list[T]:
            return [row[place], *row[:place], *row[place + 1 :]]

        return self._replace(header=moved(self.header), rows=[moved(row) for row in self.rows])
