"""`eval-pipeline demo`: every version of every suite, a line each, with the UI beside it."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import click

from eval_pipeline.cli import run
from eval_pipeline.problems import bad_value, shown_path
from eval_pipeline.project import ROOT_VARIABLE, Project
from eval_pipeline.terminal import say

HOST = "127.0.0.1"
LOG = "ui.log"
SECONDS_TO_END = 15
SECONDS_BETWEEN_LOOKS = 0.5


@click.command("demo")
@click.argument("suite", default=run.ALL)
@click.option(
    "--port", type=click.IntRange(1, 65535), default=3000, show_default=True, help="Where the UI is served."
)
@click.option("--ui/--no-ui", default=True, show_default=True, help="Whether the UI is served on loopback.")
@click.pass_context
def command(context: click.Context, suite: str, port: int, ui: bool) -> None:
    """Evaluate every version of SUITE (or of all), a line each, and serve the UI meanwhile and afterwards.

    Exits as `run SUITE --prompt all` does; with the UI, when Ctrl-C is pressed.
    """
    from eval_pipeline.orchestration.launching import open_instance

    project = Project.find()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack:
        if ui:
            _stop_if_it_cannot_be_served(port)
            open_instance(project).dispose()  # whoever comes first creates its tables
            server = stack.enter_context(
                _service(project, "dagster-webserver", "--host", HOST, "--port", str(port))
            )
            say(f"Starting the UI: http://{HOST}:{port} (log: {shown_path(project.state / LOG)})")
        say("Evaluating every version: a line each, and a table at the end")
        code = _evaluate_all(context, suite)
        if ui:
            # Its sensors would have evaluated the same versions at the same time.
            stack.enter_context(_service(project, "dagster-daemon", "run"))
            say(f"All of it is in the UI: http://{HOST}:{port}. Ctrl-C ends it.")
            with suppress(KeyboardInterrupt):
                _wait_for(server, project)
    context.exit(code)


def _stop_if_it_cannot_be_served(port: int) -> None:
    if importlib.util.find_spec("dagster_webserver") is None:
        remedy = "Run: pip install 'eval-pipeline[ui]'; or leave the UI out: --no-ui."
        raise bad_value("--ui", "needs the package dagster-webserver", remedy)
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, port))
        except OSError as error:
            raise bad_value(
                "--port", f"{port} cannot be used: {error.strerror}", "Give another one."
            ) from None


def _evaluate_all(context: click.Context, suite: str) -> int:
    try:
        context.invoke(run.command, suite=suite, version=run.ALL, brief=True)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


@contextmanager
def _service(project: Project, program: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program of Dagster's that goes on until it is no longer needed, with everything that it starts."""
    with (project.state / LOG).open("ab") as log:
        process = subprocess.Popen(
            [Path(sys.executable).with_name(program), *arguments],
            cwd=project.root,
            env={**os.environ, ROOT_VARIABLE: str(project.root)},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_TO_END)
            return


def _wait_for(server: subprocess.Popen[bytes], project: Project) -> None:
    while server.poll() is None:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    raise bad_value("--ui", f"the UI ended with {server.returncode}", f"See {project.state / LOG}.")
