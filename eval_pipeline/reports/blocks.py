"""A page as blocks: made once, rendered as Markdown or for the console."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from eval_pipeline.reports.markdown import bullets, plain, table
from eval_pipeline.reports.rows import Table

LONGEST_LINE = 1000


class Heading(NamedTuple):
    """The title of what follows; 1 is the page's own."""

    text: str
    level: int = 2


class Line(NamedTuple):
    """A sentence, or a few; `name` stands before it and is stressed."""

    text: str
    name: str = ""


class Bullets(NamedTuple):
    """A list of sentences."""

    lines: Sequence[str]


Block = Heading | Line | Bullets | Table


def blocks_markdown(blocks: Iterable[Block]) -> str:
    """A page as Markdown; all text in it is plain."""
    return "\n\n".join(map(_markdown, blocks)) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {plain(block.text)}"
        case Line():
            name = f"**{plain(block.name)}** " if block.name else ""
            return name + plain(block.text, LONGEST_LINE)
        case Bullets():
            return bullets(plain(line, LONGEST_LINE) for line in block.lines)
    return table(block, LONGEST_LINE)
