"""A brief as a page of one file."""

from collections.abc import Iterator, Sequence

from eval_pipeline.reports.blocks import Block, Bullets, Heading, Line
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.page.html import Html, bullets, element, joined, table
from eval_pipeline.reports.page.shell import document, main, masthead

LONGEST_LINE = 1000


def review_page(blocks: Sequence[Block]) -> str:
    """The whole page: its first block is its title."""
    first = blocks[0]
    title = flat(first.text, LONGEST_LINE) if isinstance(first, Heading) else "Brief"
    return document(title, joined([masthead(title), main(*_content(blocks[1:]))]))


def _content(blocks: Sequence[Block]) -> Iterator[Html]:
    for block in blocks:
        match block:
            case Heading():
                yield element("h2", flat(block.text, LONGEST_LINE))
            case Line():
                name = element("strong", f"{flat(block.name)} ") if block.name else ""
                yield element("p", name, flat(block.text, LONGEST_LINE))
            case Bullets():
                yield bullets(flat(line, LONGEST_LINE) for line in block.lines)
            case _:
                yield table(block)
