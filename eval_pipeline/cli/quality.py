"""`eval-pipeline quality`: how good the answers are that users get, as samples tell."""

import datetime

import click

from eval_pipeline.cli import BLOCKED, completing
from eval_pipeline.cli.options import day_of
from eval_pipeline.files import readable_json
from eval_pipeline.improvement import ratings_of
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import EventStore, contrast_versions, measure_day, quality_of, read_production
from eval_pipeline.project import Project
from eval_pipeline.terminal import say

DAY = datetime.timedelta(days=1)


@click.command("quality")
@click.argument("suite", shell_complete=completing.suites())
@click.option("--day", metavar="YYYY-MM-DD", help="The last day in UTC; by default the last one with events.")
@click.option("--days", type=click.IntRange(1, 366), help="So many days up to it; by default a week.")
@click.option("--version", help="Only answers of this prompt version.", shell_complete=completing.versions())
@click.option(
    "--compare",
    nargs=2,
    metavar="BEFORE AFTER",
    help="Compare two versions; exits with 1 where chance assigned them and the second is worse.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the estimates as JSON.")
@click.pass_context
def command(
    context: click.Context,
    suite: str,
    day: str | None,
    days: int | None,
    version: str | None,
    compare: tuple[str, str] | None,
    as_json: bool,
) -> None:
    """Draw requests of SUITE, measure their answers without golden ones, and estimate for all answers.

    What is drawn follows from a hash of each request and the rates of its week; until a day closes, feedback
    may still add to it, and the day is provisional.
    """
    from eval_pipeline.reports import contrast_table, quality_table
    from eval_pipeline.reports.console import print_table

    project = Project.find()
    chosen = find_suite(project, suite)
    production = read_production(project)
    with EventStore.of(project) as store:
        last = day_of(day) or max(store.days(chosen.name), default=None)
        if last is None:
            say("null" if as_json else f"{chosen.name} has no events yet. Run: eval-pipeline events ingest")
            return
        first = last - DAY * ((days or production.sampling.window_days) - 1)
        stretch = [each for each in store.days(chosen.name) if first <= each <= last]
        measured = [measure_day(project, store, chosen, each, production) for each in stretch]
    if compare:
        found = contrast_versions(chosen, measured, *compare)
        if as_json:
            say(readable_json({"design": found.design, "blocks": found.blocks, "contrast": found}))
        else:
            print_table(contrast_table(found))
        context.exit(BLOCKED if found.blocks else 0)
    ratings = ratings_of(project, chosen.name).acceptable
    quality = quality_of(chosen, measured, version, ratings)
    if as_json:
        say(readable_json(quality))
    elif quality is None:
        say(f"{chosen.name} has no events between {first} and {last}.")
    else:
        print_table(quality_table(chosen, quality, production.of(chosen.name).quality))
