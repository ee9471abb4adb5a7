"""Writing the briefs of section 8: as Markdown and as a page, in the state folder."""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from eval_pipeline.files import write_text
from eval_pipeline.improvement import last_day, month_of, quarter_of, week_of
from eval_pipeline.monitoring import read_production
from eval_pipeline.problems import bad_value
from eval_pipeline.project import Project
from eval_pipeline.reports.blocks import Block, blocks_markdown
from eval_pipeline.reports.reviews import monthly_blocks, quarterly_blocks, weekly_blocks
from eval_pipeline.stages import Workbench
from eval_pipeline.suite import Suite

Rhythm = Literal["weekly", "monthly", "quarterly"]
RHYTHMS: tuple[Rhythm, ...] = get_args(Rhythm)
FOLDER = "briefs"


class Written(NamedTuple):
    """A brief: what it says, and where it lies."""

    blocks: Sequence[Block]
    markdown: Path
    page: Path


def review_blocks(project: Project, suite: Suite, rhythm: Rhythm, end: datetime.datetime) -> list[Block]:
    """What a stretch of time up to a moment brought."""
    production = read_production(project)
    if rhythm == "weekly":
        return weekly_blocks(week_of(project, suite, production, end))
    if rhythm == "monthly":
        return monthly_blocks(month_of(project, suite, production, end))
    return quarterly_blocks(quarter_of(project, suite, Workbench(project, suite).gates, end))


def write_review(
    project: Project, suite: Suite, rhythm: Rhythm, end: datetime.datetime, out: Path | None = None
) -> Written:
    """Write a brief, to the state folder or to a file of that name."""
    from eval_pipeline.reports.page.reviews import review_page

    if out is not None and out.name in ("", ".."):
        remedy = "Name what the files are to be called: --out week writes week.md and week.html."
        raise bad_value("--out", f"{str(out)!r} names no file", remedy)
    blocks = review_blocks(project, suite, rhythm, end)
    path = out or project.state / FOLDER / suite.name / f"{rhythm}-{last_day(end)}"
    markdown, page = (path.with_name(f"{path.name}{suffix}") for suffix in (".md", ".html"))
    write_text(markdown, blocks_markdown(blocks))
    write_text(page, review_page(blocks))
    return Written(blocks, markdown, page)
