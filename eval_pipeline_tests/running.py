"""Running things as people do: the command line as a process, the chain on a real Dagster instance."""

from __future__ import annotations

import io
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import dagster as dg
import pytest

from eval_pipeline import suites
from eval_pipeline.cli import gate_lines, main
from eval_pipeline.orchestration import evaluation_job, partitions_of
from eval_pipeline.orchestration.launching import open_instance
from eval_pipeline.project import ROOT_VARIABLE, STATE_VARIABLE, Project
from eval_pipeline.reports import readable

Run = Callable[..., subprocess.CompletedProcess[str]]
"""How a command is run: as a process, or in this one."""

RUNNING_A_CHAIN = ("run", "gate")

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def copy_suites(root: Path, *suites: str) -> Project:
    """A copy of this repository's golden sets, prompts and engines: of some suites or of all."""
    repository = Path(__file__).resolve().parent.parent
    for name in ("golden", "prompts"):
        for suite in suites or ("",):
            shutil.copytree(repository / name / suite, root / name / suite)
    for name in ("engines.yaml", "dagster.yaml", "workspace.yaml"):
        shutil.copy(repository / name, root / name)
    return Project(root, root / ".eval")


def environment(project: Project) -> dict[str, str]:
    """The environment of a process that works on a project."""
    return {**os.environ, ROOT_VARIABLE: str(project.root), STATE_VARIABLE: str(project.state)}


NOWHERE = Path(os.devnull)
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(
    [
        __name__,
        "eval_pipeline.definitions",
        *(f"eval_pipeline.cli.{name}" for name in ("run", "gate", "compare", "baseline", "score")),
        "eval_pipeline_tests.warm",
        "eval_pipeline_tests.warm_chain",
    ]
)
"""Shared by all commands of a worker: what takes longest to import."""


def command(project: Project, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `eval-pipeline` on a project in a process of its own."""
    given = tuple(map(str, arguments))
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        code = ended(begin(project, command_line, *given, out=out, err=err))
        return subprocess.CompletedProcess(given, code, out.read_text(), err.read_text())


def command_line(*arguments: str) -> None:
    """Be that command."""
    sys.argv = ["eval-pipeline", *arguments]
    main()


def begin(
    project: Project, function: Callable[..., None], *given: Any, out: Path = NOWHERE, err: Path = NOWHERE
) -> BaseProcess:
    """Call a function on a project in a process of its own, which need not import everything first."""
    process = FORKING.Process(target=_become, args=(project, dict(os.environ), out, err, function, given))
    process.start()
    return process


def _become(
    project: Project,
    variables: dict[str, str],
    out: Path,
    err: Path,
    function: Callable[..., None],
    given: tuple[Any, ...],
) -> None:
    """Do what was asked for in the folder, environment and streams of a process that works on a project."""
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(variables | environment(project))
    os.chdir(project.root)
    sys.path.insert(0, str(project.root))  # as `python -m` does
    function(*given)


def fork_gate_lines() -> None:
    """Let gates that are forked from this process decide in others that are, instead of ones started anew."""
    gate_lines._ended = _forked  # type: ignore[assignment]
    # They know where to ask for one; left to themselves, each would begin with a process to fork from.
    forkserver._forkserver.ensure_running = lambda: None  # type: ignore[method-assign]


def _forked(given: list[str], variables: dict[str, str], folder: Path | None) -> int:
    if variables.get("PYTHONPATH") != os.environ.get("PYTHONPATH"):
        return _started_anew(given, variables, folder)  # it is other code that decides
    where = folder or Path.cwd()
    with Connection(os.dup(2)) as errors:
        process = FORKING.Process(target=_decide, args=(given, variables, where, errors))
        process.start()
        return ended(process)


def _decide(given: list[str], variables: dict[str, str], folder: Path, errors: Connection) -> None:
    for number in (1, 2):
        os.dup2(errors.fileno(), number)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.path[:] = _PATH  # and not that of the gate, which has the change's folder
    gate_lines.main(*given)


_started_anew = gate_lines._ended
_PATH = [*filter(None, sys.path)]


def ended(process: BaseProcess) -> int:
    """The exit code of a process, once it has one."""
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def invoke(project: Project, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `eval-pipeline` on a project in this process, unless the command runs a chain."""
    run = command if arguments[0] in RUNNING_A_CHAIN else invoke_here
    return run(project, *arguments)


def invoke_here(project: Project, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `eval-pipeline` on a project in this process."""
    out, err = io.StringIO(), io.StringIO()
    given = ["eval-pipeline", *map(str, arguments)]
    with (
        chdir(project.root),
        mock.patch.dict(os.environ, environment(project)),
        mock.patch.object(sys, "argv", given),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as exited,
    ):
        main()
    forget_own_suites()
    return subprocess.CompletedProcess(given, int(exited.value.code or 0), out.getvalue(), err.getvalue())


def computed_once(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[Any]:
    """Let a function of a module give again what it gave first, for tests that show the same thing twice."""
    compute = getattr(module, name)
    computed: list[Any] = []

    def once(*given: Any) -> Any:
        if not computed:
            computed.append(compute(*given))
        return computed[0]

    monkeypatch.setattr(module, name, once)
    return computed


def forget_own_suites() -> None:
    """What was imported of a project's own suites is not there for other projects."""
    shipped = suites.__path__[0]
    if len(suites.__path__) == 1 and len(sys.modules) == _modules[0]:
        return  # as after most tests
    suites.__path__[:] = [shipped]
    for name in [name for name in sys.modules if name.startswith(f"{suites.__name__}.")]:
        if not str(getattr(sys.modules[name], "__file__", "")).startswith(shipped):
            del sys.modules[name]
    _modules[0] = len(sys.modules)


_modules = [0]
"""How many there were when those of projects were last forgotten."""


@contextmanager
def instance_in(project: Project) -> Iterator[dg.DagsterInstance]:
    """The Dagster instance in the project's state folder, as commands open it."""
    with mock.patch.dict(os.environ, environment(project)), open_instance(project) as instance:
        yield instance


def run_chain(
    project: Project, instance: dg.DagsterInstance, suite: str, version: str, **config: Any
) -> dg.ExecuteInProcessResult:
    """Materialize the whole chain of a version."""
    from eval_pipeline.definitions import build_definitions

    instance.add_dynamic_partitions(str(partitions_of(suite).name), [version])
    job = build_definitions(project).resolve_job_def(evaluation_job(suite))
    return job.execute_in_process(
        instance=instance,
        partition_key=version,
        run_config={**QUIET, "ops": {f"{suite}__model_outputs": {"config": config}}},
        raise_on_error=False,
    )


class Found(NamedTuple):
    """What a check found, as a person reads it."""

    passed: bool
    severity: dg.AssetCheckSeverity
    description: str


def checks(result: dg.ExecuteInProcessResult) -> dict[str, Found]:
    """The check results of a run, by name."""
    return {
        check.check_name: Found(check.passed, check.severity, readable(check.description or ""))
        for check in result.get_asset_check_evaluations()
    }


def baseline_outputs(project: Project) -> Path:
    """The answers behind the baseline of the decomposition suite."""
    (file,) = (project.golden("decomposition") / "baseline").glob("*.outputs.jsonl")
    return file
