"""`eval-pipeline production`: what users really get, in figures."""

import datetime
from typing import get_args

import click

from eval_pipeline.cli import completing
from eval_pipeline.cli.options import day_of
from eval_pipeline.files import readable_json
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import Aim, EventStore, Figures, Group, aims_of, figures_of, read_production
from eval_pipeline.project import Project
from eval_pipeline.terminal import say

DAY = datetime.timedelta(days=1)


@click.command("production")
@click.argument("suite", shell_complete=completing.suites())
@click.option("--day", metavar="YYYY-MM-DD", help="The day in UTC; by default the last one with events.")
@click.option("--days", type=click.IntRange(1, 366), default=None, help="So many days up to it, together.")
@click.option(
    "--by", type=click.Choice(get_args(Group)), multiple=True, help="A row for each; can be repeated."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(suite: str, day: str | None, days: int | None, by: tuple[Group, ...], as_json: bool) -> None:
    """Show the figures of SUITE in production: requests, latency, errors, tokens, cost, feedback.

    They are brought up to date with all events that were taken in.
    """
    project = Project.find()
    chosen = find_suite(project, suite)
    production = read_production(project)
    with EventStore.of(project) as store:
        last = day_of(day) or max(store.days(chosen.name), default=None)
        if last is None:
            say("[]" if as_json else f"{chosen.name} has no events yet. Run: eval-pipeline events ingest")
            return
        end = datetime.datetime.combine(last, datetime.time(), datetime.UTC) + DAY
        start = end - DAY * (days or production.window_days)
        rows = figures_of(store, chosen.name, start, end, production.closes_after_days, by)
    aims = [aims_of(each, production.of(chosen.name).targets) for each in rows]
    if as_json:
        say(readable_json([_data(row, of) for row, of in zip(rows, aims, strict=True)]))
        return
    from eval_pipeline.reports import figure_table, one_table
    from eval_pipeline.reports.console import print_table

    if not rows:
        say(f"{chosen.name} has no events between {start:%Y-%m-%d} and {last}.")
        return
    stretch = f"{last}" if start.date() == last else f"{start:%Y-%m-%d} to {last}"
    say(f"{chosen.name} in production, {stretch} (UTC)\n")
    if by:
        print_table(figure_table(rows))
    else:
        print_table(one_table(rows[0], aims[0]))


def _data(figures: Figures, aims: list[Aim]) -> dict[str, object]:
    return {
        "suite": figures.suite,
        "start": figures.start,
        "end": figures.end,
        "version": figures.version,
        "model": figures.model,
        "figures": figures.values,
        "errors": figures.errors,
        "cost_estimated": figures.cost_estimated,
        "simulated": figures.simulated,
        "targets": {aim.figure: {"wanted": aim.wanted, "met": aim.met} for aim in aims},
    }
