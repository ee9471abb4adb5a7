"""A deployment of plain processes: what one machine evaluates, every other one has, and none keeps alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.cluster import Cluster, cluster
from eval_pipeline_tests.conftest import REPOSITORY, TEXT_TOY, TOY

VERSION = "guess-v1.0"
LAUNCH = """mutation ($parameters: ExecutionParams!) { launchRun(executionParams: $parameters) {
    __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
RUNS = """{ runsOrError { ... on Runs { results { runId status jobName tags { key value }
    repositoryOrigin { repositoryLocationName } } } } }"""


@pytest.fixture
def told() -> Iterator[tuple[str, list[Any]]]:
    """The address of somebody who wants to know of incidents, and what was told."""
    messages: list[Any] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            messages.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"json://127.0.0.1:{server.server_port}/", messages
        server.shutdown()


def runs(running: Cluster, status: str, **tags: str) -> list[str]:
    """The runs that ended so and have such tags."""
    return [
        each["runId"]
        for each in running.ask(RUNS)["runsOrError"]["results"]
        if each["status"] == status
        and tags.items() <= {tag["key"]: tag["value"] for tag in each["tags"]}.items()
    ]


def evaluate(running: Cluster, machine: str, job: str) -> str:
    """Start a run as the UI does, once it knows the job: it takes a moment to notice a new code server."""
    selector = {"jobName": job, "repositoryLocationName": machine, "repositoryName": "__repository__"}
    tags = [{"key": "dagster/partition", "value": VERSION}, {"key": "asked_by", "value": "a person"}]
    parameters = {"selector": selector, "executionMetadata": {"tags": tags}, "mode": "default"}
    launched: dict[str, Any] = {}

    def is_known() -> bool:
        launched.update(running.ask(LAUNCH, parameters=parameters)["launchRun"])
        return bool(launched["__typename"] != "PipelineNotFoundError")

    running.wait(is_known, f"the UI knows {job}")
    assert launched["__typename"] == "LaunchRunSuccess", launched
    return str(launched["run"]["runId"])


def command(running: Cluster, machine: str, project: Path, *arguments: str) -> str:
    """What a command says on a machine."""
    done = subprocess.run(
        [sys.executable, "-m", "eval_pipeline", *arguments],
        cwd=project,
        env=running.environment(machine, project),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def test_what_one_machine_evaluates_all_have(tmp_path: Path, told: tuple[str, list[Any]]) -> None:
    address, messages = told
    projects = {
        "one": Path(shutil.copytree(TOY, tmp_path / "projects" / "one")),
        "two": Path(shutil.copytree(TEXT_TOY, tmp_path / "projects" / "two")),
    }
    one = projects["one"]
    (one / "automation.yaml").write_text('nightly: "* * * * *"\n')
    gates = one / "golden" / "toy" / "gates.yaml"
    gates.write_text(gates.read_text().replace('"< 0.5"', '"< 0.999"').replace('">= 0.8"', '">= 0.9995"'))
    with cluster(tmp_path, projects, EVAL_PIPELINE_ALERTS_CRITICAL=address) as running:
        sensor, schedule = {"dagster/sensor_name": "prompt_files"}, {"dagster/schedule_name": "toy_nightly"}
        running.wait(lambda: runs(running, "SUCCESS", **sensor), "a saved prompt is evaluated")
        asked = evaluate(running, "one", "toy_evaluation")
        running.wait(lambda: asked in runs(running, "SUCCESS", asked_by="a person"), "a run of the UI")
        running.wait(lambda: runs(running, "SUCCESS", **schedule), "a night")
        running.wait(lambda: messages, "an alert")
        before = command(running, "third", one, "history", "toy", "--json")
        assert len(json.loads(before)["evaluations"] if before.startswith("{") else json.loads(before)) >= 2
        running.kill("one")
        shutil.rmtree(running.state("one"))
        (one / "automation.yaml").unlink()
        page = tmp_path / "page.html"
        command(running, "fourth", one, "report", "toy", VERSION, "--out", str(page))
        assert page.read_text().startswith("<!doctype html>")
        running.start_code("one", one)
        again = evaluate(running, "one", "toy_evaluation")
        running.wait(lambda: again in runs(running, "SUCCESS", asked_by="a person"), "a run after the loss")
    for machine in ("one", "two", "host"):
        kept = [path.name for path in running.state(machine).rglob("*") if path.suffix in (".db", ".sqlite")]
        assert not kept, f"{machine} keeps {kept}"


DEPLOY = REPOSITORY / "deploy"
OWN = ("EVAL_PIPELINE_DATABASE", "EVAL_PIPELINE_STORE")


def test_the_files_of_deployments_name_what_exists_and_no_secret() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    assert {"postgres", "storage", "code", "webserver", "daemon", "scheduler", "worker"} <= services.keys()
    for name in ("code", "webserver", "daemon", "worker"):
        environment = services[name]["environment"]
        assert set(OWN) <= environment.keys()
        assert "${POSTGRES_PASSWORD:?}" in environment["EVAL_PIPELINE_DATABASE"]
        program = services[name]["command"].split()[0]
        assert program == "dask" or Path(sys.executable).with_name(program).exists()
    for name in ("code", "worker"):
        (state,) = [each for each in services[name]["volumes"] if each.split(":")[1] == "/state"]
        assert state.split(":")[0] in compose["volumes"], "shards are made where the run is that wants them"
    instance = yaml.safe_load((DEPLOY / "dagster.yaml").read_text())
    ours = yaml.safe_load((REPOSITORY / "dagster.yaml").read_text())
    assert {name: each for name, each in instance.items() if name in ours} == ours
    helm = yaml.safe_load((DEPLOY / "helm-values.yaml").read_text())
    (location,) = helm["dagster-user-deployments"]["deployments"]
    assert location["codeServerArgs"] == ["--module-name", "eval_pipeline.definitions"]
    assert not [line for file in DEPLOY.iterdir() for line in file.read_text().splitlines() if _secret(line)]


def _secret(line: str) -> bool:
    name, _, value = line.strip().partition(": ")
    return name.endswith(("PASSWORD", "SECRET_ACCESS_KEY")) and not value.startswith("${")


def test_no_secret_and_no_state_goes_into_an_image() -> None:
    ignored = set((REPOSITORY / ".dockerignore").read_text().splitlines())
    assert "COPY . ." in (DEPLOY / "Dockerfile").read_text()
    assert {"**/.env", "**/.eval", "**/.git", "**/.venv*", "**/recorded", "production/drop"} <= ignored
    # What Git does not keep is of this machine alone.
    local = [line.strip("/") for line in (REPOSITORY / ".gitignore").read_text().splitlines()]
    assert not [name for name in local if not _is_ignored(name, ignored)]


def _is_ignored(name: str, ignored: set[str]) -> bool:
    return any(fnmatch(name, pattern.removeprefix("**/")) for pattern in ignored)
