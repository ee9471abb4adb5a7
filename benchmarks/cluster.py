"""`make cluster`: the parts of a deployment as plain processes on loopback, until Ctrl-C.

PostgreSQL of the system, a storage that speaks S3, Dagster's webserver and daemon, and two code servers that
share nothing but these: each has a project and a state folder of its own, as two machines would.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml
from _pytest.outcomes import Skipped

from eval_pipeline_tests.conftest import REPOSITORY, TEXT_TOY, TOY
from eval_pipeline_tests.object_storage import s3_server
from eval_pipeline_tests.postgres import postgres_server

PATIENCE = 240
SECONDS_TO_END = 15


class Cluster:
    """Programs of a deployment, and what each of them is told."""

    def __init__(self, folder: Path, shared: Mapping[str, str]) -> None:
        self._folder = folder
        self._shared = shared
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.port = free_port()
        self.ports: dict[str, int] = {}

    @property
    def ui(self) -> str:
        """The address of Dagster's UI."""
        return f"http://127.0.0.1:{self.port}"

    def state(self, machine: str) -> Path:
        """The state folder of a machine."""
        return self._folder / "state" / machine

    def environment(self, machine: str, project: Path) -> dict[str, str]:
        """What a program on a machine is started with."""
        return {
            **os.environ,
            **self._shared,
            "EVAL_PIPELINE_ROOT": str(project),
            "DAGSTER_HOME": str(self.state(machine)),
            "DAGSTER_DISABLE_TELEMETRY": "yes",
            "PYTHONPATH": str(REPOSITORY),
        }

    def start(self, name: str, machine: str, project: Path, *command: str) -> None:
        """Start a program on a machine."""
        state = self.state(machine)
        state.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / "deploy" / "dagster.yaml", state)
        with (self._folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=project,
                env=self.environment(machine, project),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start_code(self, machine: str, project: Path) -> None:
        """Start the code server of a project, with an empty state folder where there is none."""
        port = self.ports.setdefault(machine, free_port())
        place = ("--host", "127.0.0.1", "--port", str(port), "--module-name", "eval_pipeline.definitions")
        self.start(machine, machine, project, "dagster", "api", "grpc", *place)
        self.wait(lambda: _listens(port), machine)

    def start_dagster(self, project: Path) -> None:
        """Start webserver and daemon, which know nothing but the code servers."""
        places = [
            {"grpc_server": {"host": "127.0.0.1", "port": port, "location_name": name}}
            for name, port in self.ports.items()
        ]
        workspace = self._folder / "workspace.yaml"
        workspace.write_text(yaml.safe_dump({"load_from": places}))
        common = ("--workspace", str(workspace))
        self.start("daemon", "host", project, "dagster._daemon", "run", *common)
        web = ("--host", "127.0.0.1", "--port", str(self.port), *common)
        self.start("webserver", "host", project, "dagster_webserver", *web)
        self.wait(lambda: _listens(self.port), "webserver")

    def start_workers(self, project: Path) -> str:
        """Start Dask's scheduler and two workers, where the package is there; the scheduler's address."""
        if find_spec("distributed") is None:
            return ""
        address = f"tcp://127.0.0.1:{free_port()}"
        place = ("--host", address.rpartition(":")[0], "--port", address.rpartition(":")[2], "--no-dashboard")
        self.start("scheduler", "host", project, "distributed.cli.dask_scheduler", *place)
        for number in (1, 2):
            one = ("--nworkers", "1", "--nthreads", "1", "--no-dashboard")
            worker = f"worker-{number}"
            self.start(worker, worker, project, "distributed.cli.dask_worker", address, *one)
        return address

    def kill(self, name: str) -> None:
        """Let a program, and what it started, end at once."""
        process = self._running.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def end(self) -> None:
        """End everything."""
        for process in self._running.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for name in [*self._running]:
            with suppress(subprocess.TimeoutExpired):
                self._running[name].wait(SECONDS_TO_END)
            self.kill(name)

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """Ask Dagster's webserver, as its UI does."""
        request = urllib.request.Request(
            f"{self.ui}/graphql",
            json.dumps({"query": query, "variables": variables}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            answer: dict[str, Any] = json.load(response)
        assert "errors" not in answer, answer
        found: dict[str, Any] = answer["data"]
        return found

    def wait(self, reached: Any, what: str) -> None:
        """Wait until something has come true; nothing that was started may end meanwhile."""
        deadline = time.monotonic() + PATIENCE
        while not reached():
            ended = [name for name, process in self._running.items() if process.poll() is not None]
            logs = "\n".join((self._folder / f"{name}.log").read_text()[-3000:] for name in ended)
            assert not ended, f"{ended} ended:\n{logs}"
            assert time.monotonic() < deadline, f"{what}: not within {PATIENCE} s"
            time.sleep(1)  # every question to the webserver is several connections to PostgreSQL


@contextmanager
def cluster(folder: Path, projects: Mapping[str, Path], **more: str) -> Iterator[Cluster]:
    """A running cluster with a code server for each project."""
    with ExitStack() as stack:
        postgres, storage = stack.enter_context(postgres_server()), stack.enter_context(s3_server())
        shared = {
            "EVAL_PIPELINE_DATABASE": postgres.new_schema(driver="postgresql+psycopg2"),
            "EVAL_PIPELINE_STORE": storage.new_folder(),
            **storage.environment,
            **more,
        }
        running = Cluster(folder, shared)
        stack.callback(running.end)
        for machine, project in projects.items():
            running.start_code(machine, project)
        running.start_dagster(next(iter(projects.values())))
        yield running


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def main() -> None:
    """Start everything, and say where it is."""
    with tempfile.TemporaryDirectory(prefix="eval-cluster-") as name:
        folder, projects = Path(name), {}
        for machine, project in (("one", TOY), ("two", TEXT_TOY)):
            projects[machine] = Path(shutil.copytree(project, folder / "projects" / machine))
        try:
            with cluster(folder, projects) as running:
                workers = running.start_workers(projects["one"])
                print(
                    f"UI:     {running.ui}\nShards: {workers or 'the package distributed is not installed'}"
                )
                print(f"Logs:   {folder}\nCtrl-C ends it.", flush=True)
                signal.pause()
        except Skipped as missing:
            sys.exit(f"Skipped: {missing}")
        except KeyboardInterrupt:
            print("Ended.")


if __name__ == "__main__":
    main()
