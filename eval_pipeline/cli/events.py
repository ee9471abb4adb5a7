"""`eval-pipeline events`: files of production events in, and what became of them."""

import click

from eval_pipeline.cli import Group
from eval_pipeline.files import readable_json
from eval_pipeline.monitoring import EventStore, list_sources, open_ingest, read_production
from eval_pipeline.numbers import counted
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
