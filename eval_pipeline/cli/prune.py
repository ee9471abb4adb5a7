"""`eval-pipeline prune`: delete what nobody needs any more."""

import datetime

import click

from eval_pipeline.decisions import KEPT_DAYS, KEPT_LAST, Keeping
from eval_pipeline.project import Project
from eval_pipeline.terminal import say

OLDEST_DAYS = 36_500


@click.command("prune")
@click.option(
    "--keep-last",
    "last",
    metavar="N",
    type=click.IntRange(1),
    default=None,
    help=f"Keep so many of each version, however old they are. [default: {KEPT_LAST}]",
)
@click.option(
    "--older-than",
    "days",
    metavar="DAYS",
    type=click.IntRange(0, OLDEST_DAYS),
    default=None,
    help=f"Keep what is younger, however many there are. [default: {KEPT_DAYS}]",
)
@click.option("--dry-run", "dry", is_flag=True, help="Say what would be deleted, and delete nothing.")
def command(last: int | None, days: int | None, dry: bool) -> None:
    """Delete old evaluations and answers, their runs with event logs, and what killed processes left.

    An evaluation stays when it is one of the last N of its version, or younger than DAYS; with only one of
    the two options, that one decides. The latest of every version stays, and so does whatever a baseline, an
    approval or a proposal needs. History and the journal stay; `journal purge` forgets answers there.
    """
    from eval_pipeline.numbers import megabytes
    from eval_pipeline.orchestration.launching import open_instance
    from eval_pipeline.orchestration.pruning import prune

    if last is None and days is None:
        last, days = KEPT_LAST, KEPT_DAYS
    keeping = Keeping(last, None if days is None else datetime.timedelta(days=days))
    project = Project.find()
    if not project.state.is_dir():
        say("Nothing to delete.")
        return
    with open_instance(project) as instance:
        pruned = prune(project, instance, keeping, dry=dry)
    for each in pruned:
        say(each)
    total = megabytes(sum(each.size for each in pruned))
    done = f"{total} would be deleted." if dry else f"{total} deleted."
    say(done if pruned else "Nothing to delete.")
