"""Dagster's own daemon at work: a saved prompt file becomes an evaluation with no click."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from eval_pipeline.project import Project
from eval_pipeline.store import Store
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.running import environment, instance_in

PATIENCE = 240


@contextmanager
def dagster_dev(project: Project) -> Iterator[None]:
    """`dagster dev` on a project, as a person would start it."""
    shutil.copy(REPOSITORY / "workspace.yaml", project.root)
    project.state.mkdir(exist_ok=True)
    shutil.copy(REPOSITORY / "dagster.yaml", project.state)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "dagster", "dev", "--host", "127.0.0.1", "--port", str(port)],
        cwd=project.root,
        env={**environment(project), "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(project: Project, version: str, runs: int) -> None:
    """Wait until so many runs of a version succeeded."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if len(succeeded(project, version)) >= runs:
            return
        time.sleep(0.5)
    raise AssertionError(f"{version} has {len(succeeded(project, version))} evaluations after {PATIENCE} s")


def succeeded(project: Project, version: str) -> list[dg.DagsterRun]:
    with instance_in(project) as instance:
        tags = {"dagster/partition": version}
        return list(instance.get_runs(dg.RunsFilter(tags=tags, statuses=[dg.DagsterRunStatus.SUCCESS])))


def test_saving_a_prompt_file_is_enough(toy: Project) -> None:
    folder = toy.prompts("toy")
    first = (folder / "guess-v1.0.md").read_text()
    with dagster_dev(toy):
        wait_for(toy, "guess-v1.0", 1)
        (folder / "guess-v1.1.md").write_text(first.replace("status: active", "status: candidate"))
        wait_for(toy, "guess-v1.1", 1)
        store = Store(toy.state)
        evaluation = store.evaluation("toy", "guess-v1.1")
        assert evaluation is not None
        assert evaluation.summary.gates
        assert store.report("toy", "guess-v1.1")
        time.sleep(15)  # long enough for another look: nothing is run twice
        assert len(succeeded(toy, "guess-v1.0")) == len(succeeded(toy, "guess-v1.1")) == 1
