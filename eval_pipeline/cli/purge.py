"""`eval-pipeline purge`: delete texts of production that are older than people want to keep."""

import datetime

import click

from eval_pipeline.cli import completing
from eval_pipeline.loading import find_suite
from eval_pipeline.numbers import counted
from eval_pipeline.project import Project
from eval_pipeline.terminal import say

OLDEST_DAYS = 36_500


@click.command("purge")
@click.argument("suite", required=False, shell_complete=completing.suites())
@click.option(
    "--older-than",
    "days",
    metavar="DAYS",
    required=True,
    type=click.IntRange(0, OLDEST_DAYS),
    help="Delete what is older than this.",
)
@click.option("--dry-run", "dry", is_flag=True, help="Say what would be deleted; the journal is not counted.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(suite: str | None, days: int, dry: bool, yes: bool) -> None:
    """Delete texts of production: of events, samples, quarantine, reports, sheets, suggestions, the journal.

    Every figure stays as it is; what people ruled, and golden cases, stay as well. SUITE may be one that was
    renamed or removed.
    """
    from eval_pipeline.decisions import purge, purgeable

    project = Project.find()
    suites = purgeable(project)
    if suite is not None:
        suites = [suite if suite in suites else find_suite(project, suite).name]
    before = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=days)
    if not dry and not yes:
        click.confirm(f"Delete all texts from before {before:%Y-%m-%d}?", abort=True)
    purged = purge(project, before, suites, dry=dry)
    for each in purged:
        say(f"{counted(each.things, each.kind, _several(each.kind))}")
    say(("Would be deleted." if dry else "Deleted.") if purged else "Nothing to delete.")


def _several(kind: str) -> str:
    """Its plural: the first word counts things, but for sheets and reports of something."""
    first, _, rest = kind.partition(" ")
    if first in ("undecided",):
        return f"{kind}s"
    return f"{first}s {rest}".rstrip() if kind != "report or brief" else "reports and briefs"
