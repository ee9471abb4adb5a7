"""`eval-pipeline suite`: what a suite.yaml becomes when it needs more than a file can say."""

from __future__ import annotations

import click

from eval_pipeline.cli import Group, completing
from eval_pipeline.declarative import SUITE_FILE, module_in
from eval_pipeline.files import is_there, write_text
from eval_pipeline.loading import declaration, find_suite, suite_names
from eval_pipeline.problems import bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.terminal import say

EJECTED = f"{SUITE_FILE}.ejected"


@click.group("suite", cls=Group)
def command() -> None:
    """Turn a suite that a file declares into Python."""


@command.command("eject")
@click.argument("suite", shell_complete=completing.suites())
@click.option("--print", "only_print", is_flag=True, help="Print the module, and write nothing.")
def eject(suite: str, only_print: bool) -> None:
    """Write the Python module that says what a suite.yaml says, with the same numbers.

    It goes to `suites/SUITE/__init__.py` of the project; the file is kept as `suite.yaml.ejected`.
    """
    project = Project.find()
    file = declaration(project, suite)
    if not file.is_file():
        names = [name for name in suite_names(project) if declaration(project, name).is_file()]
        remedy = f"Suites of a file: {', '.join(names) or 'none'}."
        raise bad_value("suite", f"{suite!r} is declared by no {SUITE_FILE}", remedy)
    find_suite(project, suite)
    source = module_in(file.parent)
    if only_print:
        say(source.rstrip("\n"))
        return
    module = project.own_suites / suite / "__init__.py"
    if is_there(module):
        raise bad_value("suite", f"there is already {shown_path(module)}", "Remove one of them.")
    write_text(module, source)
    kept = file.rename(file.with_name(EJECTED))
    say(f"{suite}: {shown_path(module)} is the suite now; the file is kept as {shown_path(kept)}.")
