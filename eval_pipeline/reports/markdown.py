"""Markdown that is safe to show: whatever a model wrote lands in it as plain, bounded text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

LONGEST_CELL = 300
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$:@-])")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\u061c\ufeff]")


def flat(text: object, longest: int = LONGEST_CELL) -> str:
    """Text on one line, bounded, without characters that cannot be seen."""
    line = " ".join(_UNSEEN.sub(" ", str(text)).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def plain(text: object, longest: int = LONGEST_CELL) -> str:
    """Text as it is, with everything that Markdown or HTML would act on taken out of action."""
    escaped = flat(text, longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", escaped).replace("www.", "www\\.")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table. Cells are taken as they are: pass what others wrote through `plain`."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def bullets(lines: Iterable[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"- {line}" for line in lines)
