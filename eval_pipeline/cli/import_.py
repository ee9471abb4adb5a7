"""`eval-pipeline import`: what another program evaluates, as a suite of this one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eval_pipeline.cli import Group
from eval_pipeline.loading import shipped_names
from eval_pipeline.numbers import counted
from eval_pipeline.problems import Problem, bad_value, shown_path
from eval_pipeline.project import MARKER
from eval_pipeline.terminal import say

if TYPE_CHECKING:
    from eval_pipeline.importing import Imported

USUAL = "promptfooconfig"


@click.group("import", cls=Group)
def command() -> None:
    """Bring a configuration of another program, as a suite."""


@command.command("promptfoo")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--name", help="What the suite is called; by default like the folder of the file.")
@click.option(
    "--into",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    help="The project's folder; by default this one. A project is begun where there is none.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be taken over, and write nothing.")
def promptfoo(file: Path, name: str | None, folder: Path, dry_run: bool) -> None:
    """Make a suite of a promptfooconfig.yaml: prompts become versions, tests cases, assertions scores.

    What has no counterpart is listed with its place and what to do instead. Nothing that the file names is
    run, imported or fetched; files are read from its folder alone. A file that is there is never
    overwritten.
    """
    from eval_pipeline.importing import project_files, read_promptfoo, stop_if_there, suite_files
    from eval_pipeline.starting import begin_state, write_files

    called = _called(file, name)
    stop_if_there(folder, called)
    contents, imported = suite_files(called, read_promptfoo(file))
    is_new = not (folder / MARKER).is_file()
    if not dry_run:
        write_files(folder, {**contents, **(project_files(folder, imported.engines) if is_new else {})})
        if is_new:
            begin_state(folder)
    _tell(folder, called, imported, is_new, dry_run)


def _called(file: Path, name: str | None) -> str:
    """The suite's name."""
    from eval_pipeline.starting import suite_name

    taken = shipped_names()
    stem = file.stem if file.stem != USUAL else file.resolve().parent.name
    called = suite_name(name or stem, taken if name is None else ())
    if called in taken or (name is not None and called != name):
        raise bad_value("--name", f"{name!r} cannot be the name of a suite", f"For example: own_{called}.")
    return called


def _tell(folder: Path, name: str, imported: Imported, is_new: bool, dry_run: bool) -> None:
    """What was taken over, what was not, and what comes next."""
    versions = counted(len(imported.prompts), "prompt")
    scores = counted(len(imported.scores), "score")
    say(f"{name}: {versions}, {counted(len(imported.rows), 'case')}, {scores}")
    _list("Taken over, and not quite the same", imported.leftovers.changed)
    _list("Not taken over", imported.leftovers.dropped)
    if imported.engines and not is_new:
        say("For engines.yaml, from its providers:")
        for line in (line for engine in imported.engines for line in engine.lines()):
            say(f"  {line.strip().removeprefix('# ')}")
    if dry_run:
        say("Nothing was written.")
        return
    place = shown_path(folder)
    say(f"Written to {place if place != '.' else 'this folder'}; golden/{name}/suite.yaml says it all.")
    say("Next:")
    if place != ".":
        say(f"  cd {shlex.quote(place)}")
    say(f"  eval-pipeline run {name}")
    if is_new:
        say("Answers come from a stand-in, not from a model, until engines.yaml names yours.")


def _list(title: str, left: Sequence[Problem]) -> None:
    """Everything that was left behind; what is said of several places is said once."""
    groups: dict[tuple[str, str, str], list[Problem]] = {}
    for each in left:
        groups.setdefault((each.file, each.message, each.remedy), []).append(each)
    if left:
        say(f"{title} ({len(left)}):")
    for first, *others in groups.values():
        say(f"  {first}")
        if others:
            places = ", ".join(f"{each.field} (line {each.line})" for each in others)
            say(f"    Likewise: {places}")
