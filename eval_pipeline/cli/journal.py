"""`eval-pipeline journal`: what metered calls have cost, and how to forget their answers."""

from datetime import UTC, datetime, timedelta

import click

from eval_pipeline.cli import Group, completing
from eval_pipeline.engines import Journal, Usage
from eval_pipeline.files import readable_json
from eval_pipeline.problems import bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.store import database_file, database_url
from eval_pipeline.terminal import say

OLDEST_DAYS = 36_500
UNKNOWN = "unknown"


@click.group("journal", cls=Group)
def command() -> None:
    """Show what metered calls have cost, and forget their answers."""


@command.command("stats")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
def stats(as_json: bool) -> None:
    """Show calls, tokens, dollars and reused answers by suite, version, day (UTC) and engine."""
    journal = _existing_journal(quiet=as_json)
    rows: list[Usage] = []
    if journal is not None:
        with journal:
            rows = journal.stats()
    if as_json:
        say(readable_json(rows))
    elif rows:
        _print(rows)
    elif journal is not None:
        say("The journal is empty: no metered call has been answered.")


@command.command("purge")
@click.option(
    "--suite",
    metavar="NAME",
    default=None,
    help="Forget the answers of this suite.",
    shell_complete=completing.suites(),
)
@click.option(
    "--older-than",
    "days",
    metavar="DAYS",
    type=click.IntRange(0, OLDEST_DAYS),
    default=None,
    help="Forget the answers that are older than this.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(suite: str | None, days: int | None, yes: bool) -> None:
    """Forget answers, by suite, by age, or by both. What is forgotten has to be paid for again."""
    from eval_pipeline.numbers import counted

    if suite is None and days is None:
        raise bad_value("purge", "says nothing about what to forget", "Give --suite, --older-than or both.")
    journal = _existing_journal()
    if journal is None:
        return
    which = f"of {suite}" if suite else "of every suite"
    if days is not None:
        which += f" that are older than {counted(days, 'day')}"
    with journal:
        if not yes and not _wanted(f"Forget the answers {which}? Asking again has to be paid for"):
            say("Nothing was forgotten.")
            return
        before = None if days is None else (datetime.now(UTC) - timedelta(days=days)).isoformat()
        say(f"{counted(journal.purge(suite=suite, before=before), 'answer')} forgotten.")


def _wanted(question: str) -> bool:
    """What somebody says to a question, where there is somebody."""
    try:
        return click.confirm(question)
    except click.Abort as abort:
        if isinstance(abort.__context__, EOFError):
            raise bad_value("--yes", "nobody is there to be asked", "Give --yes where none can be.") from None
        raise


@command.command("reset-limits")
def reset_limits() -> None:
    """Forget how much was asked lately, and every pause that an endpoint asked for. Answers stay."""
    journal = _existing_journal()
    if journal is not None:
        with journal:
            journal.buckets.reset()
        say("Limits and pauses begin anew with the next run.")


def _existing_journal(*, quiet: bool = False) -> Journal | None:
    """The journal, unless it is a file that no run has written yet."""
    url = database_url(Project.find())
    file = database_file(url)
    if file is None or file.exists():
        return Journal.open(url)
    if not quiet:
        say(f"There is no journal yet: {shown_path(file)} is written by the first metered call.")
    return None


def _print(rows: list[Usage]) -> None:
    from eval_pipeline.numbers import counted, number
    from eval_pipeline.reports import Table, spent
    from eval_pipeline.reports.console import print_table

    header = ("suite", "version", "day", "engine", "calls", "prompt tokens", "completion tokens", "cost")
    content = Table(
        (*header, "reused"),
        [
            (
                row.suite,
                row.version,
                row.day,
                row.engine,
                f"{row.calls:,}",
                f"{row.prompt_tokens:,}",
                f"{row.completion_tokens:,}",
                UNKNOWN if row.dollars is None else number(row.dollars, "dollars"),
                f"{row.hits:,}",
            )
            for row in rows
        ],
    )
    print_table(content)
    calls, hits = (sum(getattr(row, name) for row in rows) for name in ("calls", "hits"))
    say(f"{counted(calls, 'call')} for {spent(rows)}; {counted(hits, 'answer')} reused.")
