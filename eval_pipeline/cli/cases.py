"""`eval-pipeline cases`: golden cases that production suggests, from failure to golden file."""

from pathlib import Path

import click

from eval_pipeline.cli import Group, completing
from eval_pipeline.files import readable_json
from eval_pipeline.improvement import (
    MOST,
    Outcome,
    accept,
    drop,
    failing_measures,
    ratings_of,
    suggest,
    undecided,
    window,
    write,
)
from eval_pipeline.loading import all_suites, find_suite
from eval_pipeline.monitoring import read_production
from eval_pipeline.numbers import counted
from eval_pipeline.problems import bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.revisions import person
from eval_pipeline.terminal import say

LONGEST_LINE = 160


@click.group("cases", cls=Group)
def command() -> None:
    """Make golden cases of what failed in production."""


@command.command("suggest")
@click.argument("suite", shell_complete=completing.suites())
@click.option(
    "--days", type=click.IntRange(1, 3660), default=30, show_default=True, help="How far to look back."
)
@click.option(
    "--most", type=click.IntRange(1, 500), default=MOST, show_default=True, help="How many to suggest."
)
@click.option("--dry-run", is_flag=True, help="Say what would be suggested; write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the suggestions as JSON.")
def suggest_cases(suite: str, days: int, most: int, dry_run: bool, as_json: bool) -> None:
    """Suggest golden cases for SUITE: what failed, asks something new, and was not dropped before.

    Each is a file under production/suggested/SUITE with the answer that was given and why it was chosen.
    Fill in what is expected, then: eval-pipeline cases accept FILE.
    """
    project = Project.find()
    chosen = find_suite(project, suite)
    start, end = window(days)
    production = read_production(project)
    outcome = suggest(
        project,
        chosen,
        start,
        end,
        production.closes_after_days,
        most=most,
        rulings=ratings_of(project, chosen.name).rulings,
        measures=failing_measures(project, chosen, production),
    )
    paths = [] if dry_run else write(project, outcome)
    if as_json:
        say(readable_json([each for _, each in (*outcome.cases, *outcome.canaries)]))
        return
    for name, each in (*outcome.cases, *outcome.canaries):
        say(f"{name}: {_short(each.about)}: {_short(each.why[0] if each.why else '')}")
    _say_rest(outcome, chosen.name, days)
    if paths:
        say(
            f"Written to {shown_path(paths[0].parent)}. "
            "Fill in what is blank, then: eval-pipeline cases accept FILE…"
        )


def _say_rest(outcome: Outcome, suite: str, days: int) -> None:
    failures = outcome.failures
    looked = f"{counted(failures.looked_at, 'request')} of {counted(days, 'day')}, {failures.failed:,} failed"
    found = (
        f"{counted(len(outcome.cases), 'case')} and {counted(len(outcome.canaries), 'canary', 'canaries')}"
    )
    say(f"{suite}: {looked}; {found} suggested.")
    for case, failing in sorted(outcome.golden.items()):
        times = counted(sum(each.times for each in failing), "failure asks", "failures ask")
        say(f"  {times} what the golden case {case} asks.")
    for count, one, several, what in (
        (outcome.waiting, "input is", "inputs are", "suggested already: eval-pipeline cases list"),
        (outcome.dropped, "input was", "inputs were", "dropped before"),
        (outcome.beyond, "more", "more", "could be suggested: --most"),
        (failures.without_text, "failure has", "failures have", "no input text that was kept"),
        (failures.left_out, "input was", "inputs were", "not compared, with weaker signs"),
    ):
        if count:
            say(f"  {counted(count, one, several)} {what}.")


@command.command("list")
@click.argument("suite", required=False, shell_complete=completing.suites())
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def list_cases(suite: str | None, as_json: bool) -> None:
    """List the suggestions that nobody has accepted or dropped."""
    project = Project.find()
    names = [find_suite(project, suite).name] if suite else all_suites(project)
    found = [(path, each) for name in names for path, each in undecided(project, name)]
    if as_json:
        say(readable_json([{"file": shown_path(path), "suggestion": each} for path, each in found]))
        return
    for path, each in found:
        say(f"{shown_path(path)}: {_short(each.about)}: {_short(each.why[0] if each.why else '')}")
    say(f"{counted(len(found), 'suggestion')} undecided.")


@command.command("accept")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def accept_cases(files: tuple[Path, ...]) -> None:
    """Add completed suggestions to their golden sets: all FILES, or none where one is not right yet."""
    project = Project.find()
    accepted = accept(project, files)
    for each in accepted:
        names, where = ", ".join(each.names), ", ".join(map(shown_path, each.files))
        done = f"forbids {each.canary}" if each.canary else "is a golden case"
        say(f"{each.suite}: {names} {done} ({where})")
    for suite in dict.fromkeys(each.suite for each in accepted):
        say(
            f"The golden set of {suite} is another one now. Next: eval-pipeline golden check {suite}; "
            f"eval-pipeline golden freeze {suite} --reason …; then run and promote it."
        )


@command.command("drop")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--reason", required=True, help="Why it should not be a case.")
@click.option("--by", default=None, help="Who says so; by default the user that Git knows.")
def drop_cases(files: tuple[Path, ...], reason: str, by: str | None) -> None:
    """Forget suggestions for good: the same input is not suggested again."""
    if not reason.strip():
        raise bad_value("--reason", "is blank", "Say why it should not be a case.")
    project = Project.find()
    for path, dropped in drop(project, files, person(by), reason):
        say(f"{dropped.suite}: {path.stem} is dropped.")


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_LINE else f"{flat[: LONGEST_LINE - 1]}…"
