"""Markdown that is safe to show: whatever a model wrote lands in it as plain, bounded text."""

import re
from collections.abc import Iterable
from html import escape, unescape

from eval_pipeline.reports.rows import Cell, Table

LONGEST_CELL = 300
WORD_JOINER = "\u2060"
_ADDRESS = re.compile(
    r"""(?<=:)(?=//)                          # https://
    | (?<=www)(?=\.)                          # www.
    | (?<=[\w.+-]@)(?=[\w-]+\.[\w-])          # name@host.org
    | (?<![A-Za-z0-9_]@)(?<=@)(?=[A-Za-z0-9]) # @name
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Where a word joiner, which nobody sees, keeps an address or a mention from becoming a link."""
_ACTING = re.compile(
    r"""[\\`\[\]|]                            # escapes, code, links, cells
    | &(?=[\#A-Za-z]|$)                       # entities
    | <(?=[A-Za-z/!?]|$)                      # tags
    | (?!^~$)(?:(?<!\s)[*~]|[*~](?!\s))       # emphasis, strikethrough, lists
    | (?<!\w)_+|_+(?!\w)                      # emphasis: inside of words it does not act
    | \$(?!\d)                                # formulas
    | ^>|^\#(?=\#{0,5}(?:\s|$))|^[-+](?=\s|$)|^-(?=[\s-]*$)  # quotes, headings, lists, rules
    """,
    re.VERBOSE,
)
"""What acts where it stands; the same characters elsewhere stay as they are."""
_LIST_NUMBER = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\u061c\ufeff]")


def flat(text: object, longest: int = LONGEST_CELL) -> str:
    """Text on one line, bounded, without characters that cannot be seen."""
    line = " ".join(_UNSEEN.sub(" ", str(text)).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def plain(text: object, longest: int = LONGEST_CELL) -> str:
    """Text as it is, with everything that Markdown or HTML would act on as character references.

    Names, commands and numbers come out as they went in, so that people can copy them.
    """
    escaped = _ACTING.sub(lambda match: _references(match[0]), flat(text, longest))
    numbered = _LIST_NUMBER.sub(lambda match: match[1] + _references(match[2]), escaped)
    return _ADDRESS.sub(WORD_JOINER, numbered)


def _references(characters: str) -> str:
    return "".join(escape(each) if each in "<>&" else f"&#{ord(each)};" for each in characters)


def readable(markdown: str) -> str:
    """What `plain` made safe for Markdown, as plain text again."""
    return unescape(markdown).replace(WORD_JOINER, "")


def table(content: Table, longest: int = LONGEST_CELL) -> str:
    """A table with its title and its note."""
    lines = [_row(content.header, longest), "|" + "---|" * len(content.header)]
    lines += [_row(row, longest) for row in content.rows]
    title = f"**{plain(content.title)}**" if content.title else ""
    return "\n\n".join(filter(None, (title, "\n".join(lines), plain(content.note, longest))))


def _row(cells: Iterable[str | Cell], longest: int) -> str:
    texts = (cell.text if isinstance(cell, Cell) else cell for cell in cells)
    return f"| {' | '.join(plain(text, longest) for text in texts)} |"


def tables(contents: Iterable[Table]) -> str:
    """Several tables, one below the other."""
    return "\n\n".join(map(table, contents))


def bullets(lines: Iterable[str]) -> str:
    """A Markdown list of lines that are Markdown themselves."""
    return "\n".join(f"- {line}" for line in lines)
