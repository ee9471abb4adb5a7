"""HTML that is safe to show: what is not markup by its type is escaped, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from eval_pipeline.reports.charts import inline
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.rows import Cell, Table

LONGEST_CELL = 500
VOID = {"br", "hr", "input", "meta", "link"}
Attribute = str | int | bool | None


class Html(str):
    """Markup. Any other text becomes part of a page only through `element`, which escapes it."""

    __slots__ = ()


def joined(parts: Iterable[str]) -> Html:
    """One piece of markup of several; what is plain text is escaped."""
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def element(name: str, /, *content: str, **attributes: Attribute) -> Html:
    """An element; plain text in it is escaped.

    Attributes: `class_` is written `class`, `data_case` `data-case`; None and False are left out.
    """
    opening = "".join([f"<{name}", *(_attribute(key, value) for key, value in attributes.items()), ">"])
    return Html(opening if name in VOID else f"{opening}{joined(content)}</{name}>")


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    written = key.rstrip("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{escape(str(value))}"'


def cell(content: str | Cell) -> Html:
    """A cell's text in its colour: on one line, bounded, with nothing that cannot be seen."""
    if isinstance(content, Html):
        return content
    if isinstance(content, Cell):
        shown = flat(content.text, LONGEST_CELL)
        return element("span", shown, class_=content.colour) if content.colour else joined([shown])
    return joined([flat(content, LONGEST_CELL)])


def table(content: Table, class_: str = "") -> Html:
    """A table with its title and its note; where it is wider than the screen, it scrolls by itself.

    Cells may be markup: a link, a button, a chart. Columns of numbers stand at the right.
    """
    right = [_is_numbers([row[index] for row in content.rows]) for index in range(len(content.header))]
    ends = ["number" if each else None for each in right]
    head = element("tr", *(_head(name, end) for name, end in zip(content.header, ends, strict=True)))
    rows = (
        element("tr", *(element("td", cell(each), class_=end) for each, end in zip(row, ends, strict=True)))
        for row in content.rows
    )
    title = element("caption", flat(content.title, LONGEST_CELL)) if content.title else ""
    grid = element("table", title, element("thead", head), element("tbody", *rows), class_=class_ or None)
    label = flat(content.title) or "Table"
    scrolling = element("div", grid, class_="scroll", tabindex="0", role="region", aria_label=label)
    note = element("p", flat(content.note, LONGEST_CELL), class_="note") if content.note else ""
    return joined([scrolling, note])


def _head(name: str, end: str | None) -> Html:
    if not name:
        return element("td", class_=end)
    return element("th", flat(name), scope="col", class_=end)


def _is_numbers(cells: Iterable[str | Cell]) -> bool:
    texts = [each.text if isinstance(each, Cell) else each for each in cells]
    written = [each for each in texts if each not in ("", "–")]
    return bool(written) and all(not isinstance(each, Html) and _is_number(each) for each in written)


def _is_number(text: str) -> bool:
    return text[0] in "0123456789+−±$<" and len(text) <= 40


def section(title: str, *content: str, anchor: str = "", level: int = 2) -> Html:
    """A part of a page under its heading; nothing where there is no content."""
    if not any(content):
        return Html("")
    return element("section", element(f"h{level}", title, id=anchor or None), *content)


def unfolding(summary: str, *content: str, open_: bool = False) -> Html:
    """What a reader unfolds."""
    return element("details", element("summary", summary), *content, open=open_) if any(content) else Html("")


def bullets(lines: Iterable[str], class_: str = "") -> Html:
    """A list; nothing where there are no lines."""
    items = [element("li", line) for line in lines]
    return element("ul", *items, class_=class_ or None) if items else Html("")


def chart(svg: str, description: str) -> Html:
    """A chart of `reports.charts` in the colours of the page; where the screen is narrow, it scrolls."""
    picture = Html(inline(svg, description))
    return element("figure", picture, class_="chart", tabindex="0", role="group", aria_label=description)


def command(text: str) -> Html:
    """A command, with a button that copies it."""
    button = element(
        "button", "copy", type="button", class_="copy", data_copy=text, aria_label=f"copy {text}"
    )
    return element("div", element("code", text), button, class_="command")


def card(what: str, value: str, more: str) -> Html:
    """A number with its name above it, and what is to be said about it below."""
    shown = value if isinstance(value, Html) else flat(value)
    parts = (("what", flat(what)), ("value", shown), ("more", flat(more)))
    return element("div", *(element("span", text, class_=name) for name, text in parts), class_="card")
