"""Markdown: whatever others wrote stays text, and what people copy stays as it is."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from eval_pipeline.reports import Cell, Table, bullets, flat, plain, readable, table, tables
from eval_pipeline.reports.markdown import LONGEST_CELL

PRINTABLE = st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=120)
ACTING = st.text(alphabet="ab1 *_~`[]()<>|\\\\&#;:/@.-+=!$", max_size=30)
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
LINK = re.compile(
    r"https?://|ftp://|www\.|[\w.+-]@[\w-]+\.[\w-]|(?:^|[^A-Za-z0-9_])@[A-Za-z0-9]", re.IGNORECASE
)
"""What GitHub and Dagster make a link or a mention of, without any markup."""


def rendered(markdown: str, around: tuple[str, ...] = ("paragraph",)) -> tuple[set[str], str]:
    """The kinds of inline elements that a Markdown text has, and the text that a reader sees."""
    tokens = PARSER.parse(markdown)
    opened, closed = [f"{name}_open" for name in around], [f"{name}_close" for name in reversed(around)]
    assert [token.type for token in tokens] == [*opened, "inline", *closed]
    children = tokens[len(around)].children or []
    return {token.type for token in children}, "".join(token.content for token in children)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("decompose-concepts-v1.1: 74.8 % (>= 75 %)", "decompose-concepts-v1.1: 74.8 % (>= 75 %)"),
        ("eval-pipeline approve qa v1.0 --reason …", "eval-pipeline approve qa v1.0 --reason …"),
        ("hits@1, ndcg@10 < 0.5", "hits@1, ndcg@10 < 0.5"),
        ("detection_rate_critical", "detection_rate_critical"),
        ("$0.0000 <= $0.05", "$0.0000 <= $0.05"),
        ("A & B, 2 * 3, ~", "A & B, 2 * 3, &#126;"),
        ("~", "~"),
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ("![x](http://x/y)", "!&#91;x&#93;(http:\u2060//x/y)"),
        ("www.evil.com a@b.c @joe", "www\u2060.evil.com a@\u2060b.c @\u2060joe"),
        ("[a](javascript:b)", "&#91;a&#93;(javascript:b)"),
        ("a | b", "a &#124; b"),
        ("`code`", "&#96;code&#96;"),
        ("**b** _i_ ~s~", "&#42;&#42;b&#42;&#42; &#95;i&#95; &#126;s&#126;"),
        ("one\n\n# two\r\n\tthree", "one # two three"),
        ("# heading", "&#35; heading"),
        ("> quote", "&gt; quote"),
        ("- item", "&#45; item"),
        ("---", "&#45;--"),
        ("+ item", "&#43; item"),
        ("12. item", "12&#46; item"),
        ("1986", "1986"),
        ("−3.0 pp", "−3.0 pp"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("\\", "&#92;"),
        ("a\u202eb\u2066c\u200bd\ufeff", "a b c d"),
        ("\x00\x1b[31m", "&#91;31m"),
        ("line\u2028and\u2029paragraph\x85next", "line and paragraph next"),
        ("", ""),
        (None, "None"),
        (1.5, "1.5"),
    ],
)
def test_plain(text: object, shown: str) -> None:
    assert plain(text) == shown


@given(PRINTABLE | ACTING | st.text())
@example("<img src=x onerror=alert(1)>")
@example("[a]: http://x")
@example("<http://x> &#106; **a** `b` ![c](d) \\")
@example("- [ ] task")
@example("1) a")
@example("a_ _b")
@example("![a][b]")
@example("http://a@b.c")
def test_a_reader_sees_the_text_and_nothing_else(text: str) -> None:
    expected = flat(text)
    escaped = plain(text)
    assert "\\" not in escaped
    assert readable(escaped) == expected
    places: list[tuple[str, tuple[str, ...], str]] = [(f"x {escaped} x", ("paragraph",), f"x {expected} x")]
    if expected:
        places.append((escaped, ("paragraph",), expected))
        places.append((bullets([escaped]), ("bullet_list", "list_item", "paragraph"), expected))
    for markdown, around, shown in places:
        kinds, seen = rendered(markdown, around)
        assert kinds <= {"text", "text_special"}
        assert seen.replace("\u2060", "") == shown
        assert not LINK.search(seen)


@given(st.from_regex(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*(@[0-9]+)?", fullmatch=True))
def test_names_come_out_as_they_went_in(name: str) -> None:
    assert plain(name, 10**6) == name or LINK.search(name)


@given(st.text(), st.integers(1, 20))
def test_plain_text_is_one_line_and_bounded(text: str, longest: int) -> None:
    shown = plain(text, longest)
    assert len(shown.splitlines()) <= 1
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


def test_a_reference_is_never_cut_in_half() -> None:
    assert plain("||||", 3) == "&#124;&#124;…"


@given(ACTING)
@example("a|b\n|c|")
@example("`|`")
def test_a_cell_cannot_leave_its_table(text: str) -> None:
    markdown = table(Table(("metric", text), [(text, "1"), ("d", Cell(text, "red"))]))
    assert len(markdown.splitlines()) == 4
    html = PARSER.render(markdown)
    assert html.count("<td>") == 4
    assert not re.search(r"<(?!/?(?:table|thead|tbody|tr|th|td)>)", html)


def test_a_table_has_a_title_and_a_note() -> None:
    content = Table(("case", "value"), [("a", Cell("✗ fail", "red"))], "By kind", "and 2 more")
    shown = "**By kind**\n\n| case | value |\n|---|---|\n| a | ✗ fail |\n\nand 2 more"
    assert table(content) == shown
    assert tables([content, content]) == f"{shown}\n\n{shown}"
    assert tables([]) == ""


def test_bullets() -> None:
    assert bullets(["a", "b"]) == "- a\n- b"
    assert bullets([]) == ""
