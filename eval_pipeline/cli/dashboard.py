"""`eval-pipeline dashboard`: all suites on one page."""

import webbrowser
from pathlib import Path

import click

from eval_pipeline.loading import suite_names
from eval_pipeline.problems import shown_path
from eval_pipeline.project import Project
from eval_pipeline.reports.publishing import publish
from eval_pipeline.terminal import say


@click.command("dashboard")
@click.option("--open", "open_", is_flag=True, help="Open it in a browser.")
@click.option(
    "--out",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write it; by default into the state folder.",
)
@click.option("--weekly", is_flag=True, help="Write the weekly page of every suite, too.")
def command(open_: bool, file: Path | None, weekly: bool) -> None:
    """Write the page over all suites: where every version in use stands, trends, incidents, costs.

    Nothing is asked or scored for it; what was never evaluated is shown as such.
    """
    project = Project.find()
    published = publish(project, weekly=suite_names(project) if weekly else (), out=file)
    for path in published.weekly.values():
        say(f"Weekly page: {shown_path(path)}")
    say(f"Dashboard: {shown_path(published.dashboard)}")
    if open_ and not webbrowser.open(published.dashboard.resolve().as_uri()):
        say("No browser could be started: open the file yourself.", err=True)
