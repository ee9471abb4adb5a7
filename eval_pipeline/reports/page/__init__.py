"""Pages of one file each, for a browser: the shell, and what it is filled with."""

from eval_pipeline.reports.page.html import (
    Html,
    bullets,
    cell,
    chart,
    command,
    element,
    joined,
    section,
    table,
    unfolding,
)
from eval_pipeline.reports.page.shell import document, main, masthead

# fmt: off
__all__ = [
    "Html", "bullets", "cell", "chart", "command", "document", "element", "joined", "main", "masthead",
    "section", "table", "unfolding",
]
# fmt: on
