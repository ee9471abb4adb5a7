"""`eval-pipeline demo`: every version of every suite, a line each, with the UI beside it."""

from contextlib import ExitStack, suppress

import click

from eval_pipeline.cli import run
from eval_pipeline.cli.ui import end_by_signals, port_options, serving
from eval_pipeline.project import Project
from eval_pipeline.terminal import say


@click.command("demo")
@click.argument("suite", default=run.ALL)
@port_options
@click.option("--ui/--no-ui", default=True, show_default=True, help="Whether the UI is served on loopback.")
@click.pass_context
def command(context: click.Context, suite: str, port: int, reports_port: int, ui: bool) -> None:
    """Evaluate every version of SUITE (or of all), a line each, and serve the UI meanwhile and afterwards.

    Exits as `run SUITE --prompt all` does; with the UI, when Ctrl-C is pressed.
    """
    project = Project.find()
    end_by_signals()
    with ExitStack() as stack:
        servers = stack.enter_context(serving(project, port, reports_port)) if ui else None
        if servers:
            say(f"Starting the UI: {servers.ui} (log: {servers.log})")
        say("Evaluating every version: a line each, and a table at the end")
        code = _evaluate_all(context, suite)
        if servers:
            # Its sensors would have evaluated the same versions at the same time.
            servers.start_daemon()
            say(f"All of it is there to look at:\n{servers.links}\nCtrl-C ends it.")
            with suppress(KeyboardInterrupt):
                end_by_signals()  # Dagster puts back what it found, for one signal as for the other
                servers.wait()
    context.exit(code)


def _evaluate_all(context: click.Context, suite: str) -> int:
    try:
        context.invoke(run.command, suite=suite, version=run.ALL, brief=True)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0
