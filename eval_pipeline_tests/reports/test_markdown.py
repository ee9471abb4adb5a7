"""Markdown: whatever others wrote stays text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from eval_pipeline.reports import bullets, plain, readable, table
from eval_pipeline.reports.markdown import LONGEST_CELL

PRINTABLE = st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=120)


def rendered(markdown: str) -> tuple[set[str], str]:
    """The kinds of inline elements that a Markdown text has, and the text that a reader sees."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    return {token.type for token in children}, "".join(token.content for token in children)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("<script>alert(1)</script>", r"&lt;script&gt;alert\(1\)&lt;/script&gt;"),
        ("![x](http://x/y)", "\\!\\[x\\]\\(http\\:\u2060//x/y\\)"),
        ("www.evil.com a@b.c", "www\u2060.evil.com a\\@\u2060b.c"),
        ("[a](javascript:b)", r"\[a\]\(javascript\:b\)"),
        ("a | b", r"a \| b"),
        ("`code`", r"\`code\`"),
        ("**b** _i_ ~s~", r"\*\*b\*\* \_i\_ \~s\~"),
        ("one\n\n# two\r\n\tthree", r"one \# two three"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("\\", "\\\\"),
        ("a\u202eb\u2066c\u200bd\ufeff", "a b c d"),
        ("\x00\x1b[31m", r"\[31m"),
        ("line\u2028and\u2029paragraph\x85next", "line and paragraph next"),
        ("", ""),
        (None, "None"),
        (1.5, "1.5"),
    ],
)
def test_plain(text: object, shown: str) -> None:
    assert plain(text) == shown


@given(PRINTABLE)
@example("<img src=x onerror=alert(1)>")
@example("[a]: http://x")
@example("<http://x> &#106; **a** `b` ![c](d) \\")
def test_a_reader_sees_the_text_and_nothing_else(text: str) -> None:
    kinds, seen = rendered("x " + plain(text))
    assert kinds <= {"text", "text_special"}
    assert seen.replace("\u2060", "") == " ".join(f"x {text}".split())
    assert readable("x " + plain(text)).split() == f"x {text}".split()


@given(st.text(), st.integers(1, 20))
def test_plain_text_is_one_line_and_bounded(text: str, longest: int) -> None:
    shown = plain(text, longest)
    assert len(shown.splitlines()) <= 1
    assert not set("<>") & set(shown)
    assert len(rendered("x" + shown)[1].replace("\u2060", "")) <= longest + 1


@pytest.mark.parametrize(
    ("length", "shown"),
    [
        (LONGEST_CELL, "x" * LONGEST_CELL),
        (LONGEST_CELL + 1, "x" * (LONGEST_CELL - 1) + "…"),
        (10**6, "x" * (LONGEST_CELL - 1) + "…"),
    ],
)
def test_long_text_is_cut(length: int, shown: str) -> None:
    assert plain("x" * length) == shown


def test_an_escape_is_never_cut_in_half() -> None:
    assert plain("<<<<", 3) == "&lt;&lt;…"
    assert plain("||||", 3) == r"\|\|…"


def test_a_cell_cannot_leave_its_table() -> None:
    markdown = table(["metric", "value"], [[plain("a|b\n|c|"), "1"], ["d", plain("`|`")]])
    assert len(markdown.splitlines()) == 4
    html = MarkdownIt("commonmark").enable("table").render(markdown)
    assert html.count("<td>") == 4
    assert "<td>a|b |c|</td>" in html
    assert "<td>`|`</td>" in html


def test_bullets() -> None:
    assert bullets(["a", "b"]) == "- a\n- b"
    assert bullets([]) == ""
