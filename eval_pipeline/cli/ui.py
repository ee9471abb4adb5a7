"""`eval-pipeline ui`: Dagster, and reports beside it, on loopback."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from eval_pipeline.files import write_text
from eval_pipeline.problems import bad_value, shown_path
from eval_pipeline.project import ROOT_VARIABLE, Project
from eval_pipeline.store import DASHBOARD, note_address
from eval_pipeline.terminal import say
from eval_pipeline.timetable import UI_VARIABLE

HOST = "127.0.0.1"
UI_PORT, REPORTS_PORT = 3000, 3001
LOG = "ui.log"
WORKSPACE = "workspace.yaml"
SECONDS_TO_END = 15
SECONDS_BETWEEN_LOOKS = 0.5


def port_options(function: Any) -> Any:
    """Where things are served; links in earlier results stay true where it is the same every time."""
    number = click.IntRange(1, 65535)
    for name, default, help_ in (
        ("--reports-port", REPORTS_PORT, "Where reports are served."),
        ("--port", UI_PORT, "Where the UI is served."),
    ):
        function = click.option(name, type=number, default=default, show_default=True, help=help_)(function)
    return function


@click.command("ui")
@port_options
def command(port: int, reports_port: int) -> None:
    """Serve Dagster's UI with what starts by itself, and reports beside it, on loopback, until Ctrl-C."""
    project = Project.find()
    end_by_signals()
    with serving(project, port, reports_port) as servers:
        servers.start_daemon()
        say(f"{servers.links}\nCtrl-C ends it.")
        with suppress(KeyboardInterrupt):
            servers.wait()


@contextmanager
def serving(project: Project, port: int, reports_port: int) -> Iterator[Servers]:
    """Serve Dagster's UI and reports for as long as the block lasts; the daemon is started on request."""
    servers = Servers(project, port, reports_port)
    try:
        servers.start()
        yield servers
    finally:
        servers.end()


def end_by_signals() -> None:
    """Let Ctrl-C and `kill` end this process, also one that was started to ignore them."""
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, signal.default_int_handler)


class Servers:
    """The programs behind the UI, by name, and where they are reached."""

    def __init__(self, project: Project, port: int, reports_port: int) -> None:
        self._project = project
        self._ports = {"--port": port, "--reports-port": reports_port}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start what serves; what cannot be served is bad input."""
        from eval_pipeline.orchestration.launching import open_instance

        _stop_if_they_cannot_be_served(self._ports)
        state = self._project.state
        open_instance(self._project).dispose()  # whoever comes first creates its tables
        note_address(state, self.reports)
        port, reports_port = self._ports.values()
        modules = [sys.executable, "-m", "eval_pipeline.serving"]
        self._start("reports", *modules, str(state), str(reports_port))
        self._start_dagster("UI", "dagster-webserver", "--host", HOST, "--port", str(port))

    def end(self) -> None:
        """End all that was started, at the same time."""
        running = list(self._running.values())
        for sign in (signal.SIGTERM, signal.SIGKILL):
            for process in running:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, sign)
            deadline = time.monotonic() + SECONDS_TO_END
            running = [process for process in running if not _ended(process, deadline)]

    @property
    def ui(self) -> str:
        """The address of Dagster's UI."""
        return f"http://{HOST}:{self._ports['--port']}"

    @property
    def reports(self) -> str:
        """The address of the reports."""
        return f"http://{HOST}:{self._ports['--reports-port']}"

    @property
    def links(self) -> str:
        """What there is to open."""
        dashboard = self._project.state / DASHBOARD
        lines = [f"UI:        {self.ui}", f"Reports:   {self.reports}"]
        lines += [f"Dashboard: {self.reports}/{DASHBOARD}"] if dashboard.is_file() else []
        return "\n".join(lines)

    @property
    def log(self) -> str:
        """Where the servers write what they have to say."""
        return shown_path(self._project.state / LOG)

    def start_daemon(self) -> None:
        """Start what starts runs by itself: schedules, sensors, the queue."""
        self._start_dagster("daemon", "dagster-daemon", "run")

    def wait(self) -> None:
        """Go on until one of them ends, which it should not."""
        while True:
            for name, process in self._running.items():
                if process.poll() is not None:
                    message = f"the {name} ended with {process.returncode}"
                    raise bad_value("ui", message, f"See {self.log}.")
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _start_dagster(self, name: str, program: str, *arguments: str) -> None:
        workspace = self._project.root / WORKSPACE
        if not workspace.is_file():
            workspace = self._project.state / WORKSPACE
            write_text(workspace, _workspace())
        found = str(Path(sys.executable).with_name(program))
        self._start(name, found, *arguments, "--workspace", str(workspace))

    def _start(self, name: str, *command: str) -> None:
        """Start a program that goes on until it is no longer needed, with everything that it starts."""
        with (self._project.state / LOG).open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=self._project.root,
                env={
                    **os.environ,
                    ROOT_VARIABLE: str(self._project.root),
                    UI_VARIABLE: self.ui,
                    "DAGSTER_DISABLE_TELEMETRY": "yes",
                },
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._running[name] = process


def _workspace() -> str:
    """What Dagster loads in a project that does not say."""
    from eval_pipeline.orchestration.launching import LOCATION, MODULE

    module = f"{{module_name: {MODULE}, location_name: {LOCATION}}}"
    return f"load_from:\n  - python_module: {module}\n"


def _stop_if_they_cannot_be_served(ports: dict[str, int]) -> None:
    if importlib.util.find_spec("dagster_webserver") is None:
        remedy = "Run: pip install 'eval-pipeline[ui]'. A demo goes without it: --no-ui."
        raise bad_value("ui", "needs the package dagster-webserver", remedy)
    if len(set(ports.values())) < len(ports):
        raise bad_value("--reports-port", "is that of the UI", "Give another one.")
    for option, port in ports.items():
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((HOST, port))
            except OSError as error:
                reason = f"{port} cannot be used: {error.strerror}"
                raise bad_value(option, reason, "Give another one.") from None


def _ended(process: subprocess.Popen[bytes], deadline: float) -> bool:
    with suppress(subprocess.TimeoutExpired):
        process.wait(max(0.0, deadline - time.monotonic()))
    return process.returncode is not None
