"""Dagster's own daemon at work: a saved prompt file becomes an evaluation with no click."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import dagster as dg
from dagster._core.scheduler.instigation import SensorInstigatorData

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
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_until(reached: Callable[[], bool], what: str) -> None:
    """Wait until something has come true."""
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE} s"
        time.sleep(0.5)


def runs(instance: dg.DagsterInstance, version: str, *statuses: dg.DagsterRunStatus) -> int:
    """How many runs of a version there are."""
    wanted = dg.RunsFilter(tags={"dagster/partition": version}, statuses=statuses)
    return len(instance.get_runs(wanted))


def last_look(instance: dg.DagsterInstance) -> float:
    """When the latest look began that both sensors on files have finished."""
    looks = {
        state.name: state.instigator_data.last_tick_timestamp or 0.0
        for state in instance.all_instigator_state()
        if isinstance(state.instigator_data, SensorInstigatorData)
    }
    return min(looks.get(name, 0.0) for name in ("prompt_files", "golden_sets"))


def test_saving_a_prompt_file_is_enough(toy: Project) -> None:
    folder = toy.prompts("toy")
    first = (folder / "guess-v1.0.md").read_text()
    success = dg.DagsterRunStatus.SUCCESS
    with instance_in(toy) as instance, dagster_dev(toy):
        wait_until(lambda: runs(instance, "guess-v1.0", success) > 0, "guess-v1.0 is evaluated")
        (folder / "guess-v1.1.md").write_text(first.replace("status: active", "status: candidate"))
        wait_until(lambda: runs(instance, "guess-v1.1", success) > 0, "guess-v1.1 is evaluated")
        store = Store(toy.state)
        evaluation = store.evaluation("toy", "guess-v1.1")
        assert evaluation is not None
        assert evaluation.summary.gates
        assert store.report("toy", "guess-v1.1")
        evaluated = time.time()
        wait_until(lambda: last_look(instance) > evaluated, "another look")
        assert runs(instance, "guess-v1.0") == runs(instance, "guess-v1.1") == 1  # nothing is run twice
