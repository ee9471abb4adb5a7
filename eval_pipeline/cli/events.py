"""`eval-pipeline events`: files of production events in, and what became of them."""

import datetime
from pathlib import Path

import click

from eval_pipeline.cli import Group, completing
from eval_pipeline.cli.options import day_of
from eval_pipeline.files import readable_json
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import (
    EventStore,
    list_sources,
    open_ingest,
    plan_for,
    read_production,
    write_simulated,
)
from eval_pipeline.numbers import counted
from eval_pipeline.problems import bad_value
from eval_pipeline.project import Project
from eval_pipeline.terminal import say

MOST_LINES = 20


@click.group("events", cls=Group)
def command() -> None:
    """Take in events of production, and show what became of them."""


@command.command("ingest")
@click.option("--now", is_flag=True, help="Take files that have just changed, too.")
@click.option("--json", "as_json", is_flag=True, help="Print what became of each file as JSON.")
def ingest(now: bool, as_json: bool) -> None:
    """Take the files of the drop folder that are not known yet, each event once."""
    project = Project.find()
    outcomes = []
    with open_ingest(project) as taking:
        for outcome in taking.files(now=now):
            outcomes.append(outcome)
            if not as_json:
                say(outcome.text)
    if as_json:
        say(readable_json([outcome._asdict() for outcome in outcomes]))
    elif not outcomes:
        say(f"Nothing new in {read_production(project).drop}.")


@command.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def status(as_json: bool) -> None:
    """Show which files were taken, what waits, and which lines are in quarantine."""
    project = Project.find()
    production = read_production(project)
    with EventStore.of(project) as store:
        files, refused, seen = store.ledger.files(), store.ledger.quarantined(), store.ledger.seen()
        days = {suite: store.days(suite) for suite in store.suites()}
    waiting = [each for each in list_sources(production.folder(project)) if seen.get(each.name) != each.stamp]
    if as_json:
        names = [each.name for each in waiting]
        say(readable_json({"files": files, "waiting": names, "quarantine": refused, "days": days}))
        return
    for suite, of in days.items():
        say(f"{suite}: {counted(len(of), 'day')} with events, {of[0]} to {of[-1]}")
    events, feedback = (sum(getattr(each, name) for each in files) for name in ("events", "feedback"))
    delivered = f"{counted(events, 'event')} and {counted(feedback, 'piece', 'pieces')} of feedback delivered"
    say(f"{counted(len(files), 'file')} taken with {delivered}; {counted(len(waiting), 'file')} waiting.")
    for line in refused[:MOST_LINES]:
        say(f"{line.name}:{line.line}: {line.reason}")
    if refused:
        more = len(refused) - MOST_LINES
        say(
            f"{f'… and {more:,} more. ' if more > 0 else ''}{counted(len(refused), 'line')} in quarantine. "
            "When what they lack is there, run: eval-pipeline events retry"
        )


@command.command("retry")
def retry() -> None:
    """Feed the lines in quarantine again; those that can be read now leave it."""
    with open_ingest(Project.find()) as taking:
        kept = taking.retry()
    say(
        f"{counted(kept.events, 'event')} and {counted(kept.feedback, 'piece', 'pieces')} of feedback taken; "
        f"{counted(len(kept.refusals), 'line')} refused again."
    )


@command.command("simulate")
@click.argument("suite", shell_complete=completing.suites())
@click.option("--days", type=click.IntRange(1, 366), default=7, show_default=True, help="How many days.")
@click.option(
    "--per-day", type=click.IntRange(1, 10**6), default=2000, show_default=True, help="Requests a day."
)
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same events.")
@click.option("--until", metavar="YYYY-MM-DD", help="The last day; by default yesterday.")
def simulate(suite: str, days: int, per_day: int, seed: int, until: str | None) -> None:
    """Write events of SUITE that never happened into the drop folder, with one planted incident."""
    project = Project.find()
    chosen = find_suite(project, suite)
    folder = read_production(project).folder(project)
    if "://" in folder:
        raise bad_value(
            "drop", "is no folder of this machine", "Simulate into a project whose drop folder is."
        )
    plan = plan_for(
        project, chosen, _last_day(until) - datetime.timedelta(days=days - 1), days, per_day, seed
    )
    paths = write_simulated(plan, Path(folder))
    say(
        f"{counted(days * per_day, 'simulated event')} in {counted(len(paths), 'file')}; "
        f"the incident is on {plan.incident_day}. Next: eval-pipeline events ingest --now"
    )


def _last_day(text: str | None) -> datetime.date:
    yesterday = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=1)
    return day_of(text, "--until") or yesterday
