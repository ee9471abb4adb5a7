"""Markup: whatever is not markup by its type comes out as text."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.reports.page import (
    Html,
    bullets,
    cell,
    command,
    element,
    joined,
    section,
    table,
    unfolding,
)
from eval_pipeline.reports.rows import Cell, Table

READABLE = st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]))


class Seen(HTMLParser):
    """The elements, attributes and text that a browser would see."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(READABLE, READABLE)
def test_text_and_attributes_come_out_as_they_went_in(text: str, value: str) -> None:
    seen = Seen(element("p", text, title=value))
    assert seen.elements == [("p", {"title": value})]
    assert seen.text == text


@pytest.mark.parametrize(
    "hostile", ["</p><script>alert(1)</script>", "<img src=x onerror=alert(1)>", '" onclick="x']
)
def test_nothing_becomes_an_element_that_is_not_one(hostile: str) -> None:
    parts = [
        element("p", hostile, title=hostile),
        joined([hostile]),
        cell(hostile),
        cell(Cell(hostile, "red")),
        bullets([hostile]),
        command(hostile),
        unfolding(hostile, hostile),
        section(hostile, hostile, anchor=hostile),
        table(Table((hostile,), [(hostile,), (Cell(hostile),)], hostile, hostile)),
    ]
    for part in parts:
        seen = Seen(part)
        assert {tag for tag, _ in seen.elements} <= {
            *("p", "span", "ul", "li", "div", "code", "button", "details", "summary", "section", "h2"),
            *("table", "caption", "thead", "tbody", "tr", "th", "td"),
        }
        assert not any(name.startswith("on") for _, attributes in seen.elements for name in attributes)
        assert hostile in seen.text or any(hostile in each.values() for _, each in seen.elements)


def test_markup_stays_markup_and_attributes_have_their_names() -> None:
    inner = element("b", "x & y")
    assert inner == "<b>x &amp; y</b>"
    assert element("p", inner, class_="a", data_case="1", hidden=True, open=False, id=None) == (
        '<p class="a" data-case="1" hidden><b>x &amp; y</b></p>'
    )
    assert element("meta", charset="utf-8") == '<meta charset="utf-8">'


def test_numbers_stand_at_the_right_and_what_cannot_be_seen_is_gone() -> None:
    rows = [("recall", "80.0 %", "\u202eabc"), ("precision", "–", "+1")]
    html = table(Table(("metric", "value", "word"), rows))
    assert html.count('<td class="number">') == 2
    assert '<th scope="col" class="number">value</th>' in html
    assert "\u202e" not in html


def test_what_has_no_content_is_not_there() -> None:
    assert section("Title") == unfolding("More") == bullets([]) == ""
    assert isinstance(section("Title"), Html)
