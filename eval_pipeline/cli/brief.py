"""`eval-pipeline brief`: what a week, a month or a quarter in production brought."""

import datetime
from pathlib import Path

import click

from eval_pipeline.cli import completing
from eval_pipeline.cli.options import day_of
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import EventStore
from eval_pipeline.problems import shown_path
from eval_pipeline.project import Project
from eval_pipeline.terminal import say

DAY = datetime.timedelta(days=1)


@click.command("brief")
@click.argument("suite", shell_complete=completing.suites())
@click.option(
    "--weekly", "rhythm", flag_value="weekly", default=True, help="Figures, feedback, errors. [default]"
)
@click.option("--monthly", "rhythm", flag_value="monthly", help="New cases; what goes with content users.")
@click.option("--quarterly", "rhythm", flag_value="quarterly", help="Whether thresholds still fit.")
@click.option("--day", metavar="YYYY-MM-DD", help="The last day in UTC; by default the last one with events.")
@click.option("--out", type=click.Path(path_type=Path), help="Write to OUT.md and OUT.html instead.")
def command(suite: str, rhythm: str, day: str | None, out: Path | None) -> None:
    """Say what a week, a month or a quarter of SUITE brought, on one page. It decides and changes nothing."""
    from eval_pipeline.reports.console import print_blocks
    from eval_pipeline.reports.reviewing import RHYTHMS, write_review

    project = Project.find()
    chosen = find_suite(project, suite)
    kind = next(each for each in RHYTHMS if each == rhythm)
    written = write_review(project, chosen, kind, _end(project, chosen.name, day), out)
    print_blocks(written.blocks)
    say()
    say(f"Written to {shown_path(written.markdown)} and {shown_path(written.page)}.")


def _end(project: Project, suite: str, day: str | None) -> datetime.datetime:
    """The end of the last day."""
    last = day_of(day)
    if last is None:
        with EventStore.of(project) as store:
            last = max(store.days(suite), default=datetime.datetime.now(datetime.UTC).date())
    return datetime.datetime.combine(last, datetime.time(), datetime.UTC) + DAY
