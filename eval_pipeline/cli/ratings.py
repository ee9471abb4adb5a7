"""`eval-pipeline ratings`: what people say of sampled answers."""

import datetime
from functools import partial
from pathlib import Path

import click

from eval_pipeline.cli import Group, completing
from eval_pipeline.files import readable_json, remove, write_text
from eval_pipeline.improvement import (
    Sheet,
    answers_to_rate,
    make_queue,
    plain_lines,
    queues_of,
    rated_accuracy,
    ratings_folder,
    ratings_of,
    take,
)
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import EventStore, read_production
from eval_pipeline.numbers import counted, number
from eval_pipeline.problems import BadInput, Problem, shown_path
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite
from eval_pipeline.terminal import say


@click.group("ratings", cls=Group)
def command() -> None:
    """Let people rate sampled answers, and show what they say."""


@command.command("queue")
@click.argument("suite", shell_complete=completing.suites())
@click.option("--raters", type=click.IntRange(1, 20), default=1, show_default=True, help="A sheet for each.")
@click.option(
    "--days", type=click.IntRange(1, 366), default=7, show_default=True, help="How far to look back."
)
@click.option(
    "--most", type=click.IntRange(1, 1000), default=50, show_default=True, help="Answers on a sheet."
)
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; by default production/ratings.")
def queue(suite: str, raters: int, days: int, most: int, out: Path | None) -> None:
    """Write sheets with sampled answers of SUITE: a page for a browser, and a plain file for an editor.

    Nobody sees which version answered. What was rated before is left out.
    """
    project = Project.find()
    chosen = find_suite(project, suite)
    production = read_production(project)
    known = {
        request for each in queues_of(project, chosen.name) for request in each.requests.values()
    } | ratings_of(project, chosen.name).said.keys()
    with EventStore.of(project) as store:
        last = datetime.datetime.now(datetime.UTC).date()
        recent = [day for day in store.days(chosen.name) if (last - day).days < days]
        rows = list(answers_to_rate(project, store, chosen.name, production, recent, known))
    written: list[Path] = []
    folder = out or ratings_folder(project, chosen.name)
    hand_out = partial(_write_sheet, chosen, folder, written)
    try:
        sheets = make_queue(project, chosen.name, rows, raters, most, hand_out)
    except OSError as error:
        for path in written:
            remove(path)
        remedy = "Name a folder that can be written to: --out."
        raise BadInput(
            [Problem(shown_path(folder), 0, "", f"sheets cannot be written: {error.strerror}", remedy)]
        ) from None
    for sheet, page, plain in zip(sheets, written[::2], written[1::2], strict=True):
        say(f"{counted(len(sheet.items), 'answer')} to rate: {shown_path(page)}, or {shown_path(plain)}")
    say("When a file comes back: eval-pipeline ratings take FILE")


def _write_sheet(suite: Suite, folder: Path, written: list[Path], sheet: Sheet) -> None:
    """Write a sheet as a page and as a plain file, and note both."""
    from eval_pipeline.reports.page.rating import rating_page

    page = folder / f"rate-{sheet.queue.queue}-{sheet.number}.html"
    plain = page.with_suffix(".jsonl")
    for path, text in ((page, rating_page(suite, sheet)), (plain, plain_lines(sheet).decode())):
        write_text(path, text)
        written.append(path)


@command.command("take")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--by", default=None, help="Who rated; by default the name in the file.")
def take_files(files: tuple[Path, ...], by: str | None) -> None:
    """Take the FILES that raters hand back. Their rulings are sealed: nobody changes them any more."""
    project = Project.find()
    for taken in take(project, *files, by=by):
        blank = f"; {counted(taken.blank, 'has', 'have')} none" if taken.blank else ""
        say(f"{taken.suite}: {counted(taken.rulings, 'ruling')} of {taken.rater} sealed{blank}.")


@command.command("show")
@click.argument("suite", shell_complete=completing.suites())
@click.option(
    "--days", type=click.IntRange(1, 3660), default=30, show_default=True, help="How far to look back."
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(suite: str, days: int, as_json: bool) -> None:
    """Show what raters and users say of SUITE: accuracy, agreement, feedback."""
    from eval_pipeline.reports import rating_table
    from eval_pipeline.reports.console import print_table

    project = Project.find()
    chosen = find_suite(project, suite)
    result = rated_accuracy(project, chosen, read_production(project), days)
    if as_json:
        say(readable_json(result))
        return
    print_table(rating_table(result))
    if result.kappa is not None:
        say(f"κ = {number(result.kappa, 'number')} over {counted(result.pairs, 'pair')} of rulings.")
    waiting = [each for each in queues_of(project, chosen.name) if each.queue not in result.queues]
    for each in waiting:
        say(f"Nobody has rated the queue {each.queue} of {each.created[:10]} yet.")
