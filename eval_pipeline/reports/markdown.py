"""Markdown that is safe to show: whatever a model wrote lands in it as plain, bounded text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import unescape

LONGEST_CELL = 300
WORD_JOINER = "\u2060"
_ADDRESS = re.compile(r"(:|www|@)(//|\.|(?<=@))", re.IGNORECASE)
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$:@-])")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\u061c\ufeff]")


def flat(text: object, longest: int = LONGEST_CELL) -> str:
    """Text on one line, bounded, without characters that cannot be seen."""
    line = " ".join(_UNSEEN.sub(" ", str(text)).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def plain(text: object, longest: int = LONGEST_CELL) -> str:
    """Text as it is, with everything that Markdown or HTML would act on taken out of action."""
    # A word joiner inside an address cannot be seen, and keeps it from becoming a link.
    unlinked = _ADDRESS.sub(rf"\1{WORD_JOINER}\2", flat(text, longest))
    escaped = unlinked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", escaped)


def readable(markdown: str) -> str:
    """What `plain` made safe for Markdown, as plain text again."""
    return unescape(re.sub(r"\\(.)", r"\1", markdown)).replace(WORD_JOINER, "")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table. Cells are taken as they are: pass what others wrote through `plain`."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def bullets(lines: Iterable[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"- {line}" for line in lines)
