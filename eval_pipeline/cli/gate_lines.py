"""The lines of the gate: what becomes of each version, in this process or in one of its own.

A process of its own is for measures that must not meet: modules of the base and of a change have the same
names. It is given a task and writes lines, and is started by `eval-pipeline gate` alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from eval_pipeline import decisions
from eval_pipeline.answers import parse_trials
from eval_pipeline.files import file_bytes, write_json, write_text
from eval_pipeline.loading import load_suites
from eval_pipeline.problems import BadInput, Problem, Problems, tree_of
from eval_pipeline.project import ROOT_VARIABLE, STATE_VARIABLE, Project
from eval_pipeline.reports import Line, line_of
from eval_pipeline.revisions import HEAD, SHORT_COMMIT
from eval_pipeline.scoring import PACKAGE, check_settings
from eval_pipeline.stages import Workbench, prepare_asking

LARGEST = 2**28


class Asked(msgspec.Struct, frozen=True):
    """How versions are evaluated, as the command line said."""

    engine: str | None = None
    trials: Any = None


class Task(msgspec.Struct, frozen=True):
    """Suites to be decided on in a process of its own."""

    base: str
    suites: dict[str, decisions.Touched]
    asked: Asked
    rules: dict[str, str] = {}
    """What is said of the rules of each suite."""
    laid: list[str] | None = None
    """In a tree of the base: the files there that are the change's. None in the change's own folder."""


def lines_of(
    project: Project,
    suites: Mapping[str, decisions.Touched],
    change: decisions.Change | None,
    asked: Asked,
    rules: Mapping[str, str],
    of_base: bool,
) -> Iterator[Line]:
    """What is decided about each version of some suites."""
    loaded, broken = load_suites(project, suites)
    for name, problems in broken.items():
        yield line_of(decisions.unusable(name, decisions.ALL_VERSIONS, "suite", problems))
    for suite in loaded:
        touched = suites[suite.name]
        causes, refused = decisions.candidates(project, suite, touched, change)
        yield from (line_of(each, suite) for each in refused)
        said = rules.get(suite.name, "")
        for version, cause in causes.items():
            try:
                yield _line(Workbench(project, suite), version, cause, touched, change, asked, said, of_base)
            except MemoryError:
                raise
            except Exception as error:  # the red line of one suite; what the others came to is still written
                traceback.print_exc()
                yield line_of(decisions.crashed(suite.name, version, cause, error), suite)


def _line(
    bench: Workbench,
    version: str,
    cause: str,
    touched: decisions.Touched,
    change: decisions.Change | None,
    asked: Asked,
    rules: str,
    of_base: bool,
) -> Line:
    from eval_pipeline.orchestration.launching import execute
    from eval_pipeline.reports.console import Bar

    try:
        problems = Problems()
        check_settings(bench.suite, bench.golden_folder, problems)
        problems.stop_if_any()
        engine, trials = asked.engine, parse_trials(asked.trials)
        asking = prepare_asking(bench, version, engine=engine, trials=trials)
        unread = change is not None and decisions.only_unread_text_changed(
            bench.project, bench.suite, asking.prompt, change.base, asking.engine.reads_prompt
        )
        with Bar() as bar:
            config = {"engine": engine, "trials": trials}
            outcome = execute(bench, version, config, bar, change.base if change else HEAD)
        if outcome.problems or outcome.evaluation is None:
            raise BadInput(outcome.problems)
        unsigned = outcome.unsigned
        if change and of_base and unsigned and not unsigned.blocking:
            unsigned = decisions.altered_cases(bench, change, touched) or unsigned
        paused = decisions.objections_of_production(bench, outcome.evaluation, outcome.standings)
        decision = decisions.decide(
            cause,
            outcome.evaluation,
            outcome.standings,
            decisions.Objections([*outcome.objections, *paused]),
            unsigned=unsigned,
            unread_text=unread,
            rules=rules,
            stopping=outcome.stopping,
            settings=bench.context.settings,
            named=outcome.named,
        )
        return line_of(decision, bench.suite)
    except BadInput as bad:
        return line_of(decisions.unusable(bench.suite.name, version, cause, bad.problems))


def lines_apart(project: Project, task: Task, whose: str, tree: Path | None = None) -> list[Line]:
    """The same, decided in a process of its own; a suite of which it says nothing is unusable.

    In a tree that holds this package, it is that package which decides.
    """
    root = tree or project.root
    variables = {**os.environ, ROOT_VARIABLE: str(root), STATE_VARIABLE: str(project.state)}
    if tree and _holds_this_package(project):
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, (str(tree), os.environ.get("PYTHONPATH"))))
    with TemporaryDirectory() as folder:
        given, written = Path(folder, "task.json"), Path(folder, "lines.json")
        write_json(given, task)
        code = _ended([str(given), str(written)], variables, tree)
        try:
            lines = msgspec.json.decode(file_bytes(written, LARGEST), type=list[Line])
        except (OSError, BadInput, msgspec.MsgspecError):
            lines = []
    silent = [name for name in task.suites if not any(each.suite == name for each in lines)]
    message = f"{whose} could not be used: its process ended with {code} and said nothing of it"
    problem = Problem("gate", 0, "", message, "See what it wrote.")
    unusable = (decisions.unusable(name, decisions.ALL_VERSIONS, "measure", [problem]) for name in silent)
    return [
        *(each for each in lines if each.suite in task.suites),
        *(line_of(each) for each in unusable),
    ]


def _ended(given: list[str], variables: Mapping[str, str], folder: Path | None) -> int:
    """What such a process ended with."""
    command = [sys.executable, "-P", "-m", __name__, *given]
    return subprocess.run(
        command, env=variables, cwd=folder, stdout=sys.stderr.fileno(), check=False
    ).returncode


def _holds_this_package(project: Project) -> bool:
    """Whether the code that runs here is the project's own."""
    package = Path(__file__).resolve().parent.parent
    return package == (project.root / PACKAGE).resolve()


def main(given: str, written: str) -> None:
    """Be that process."""
    task = msgspec.json.decode(Path(given).read_bytes(), type=Task)
    project = Project.find()
    of_base = task.laid is not None
    revision = task.base[:SHORT_COMMIT]
    shown = tree_of(project.root, revision) if of_base else nullcontext()
    asking = nullcontext(project) if of_base else decisions.engines_at(project, task.base)
    with shown, asking as measured:
        change = decisions.change_since(project, task.base)
        lines = [*lines_of(measured, task.suites, change, task.asked, task.rules, of_base)]
        text = decisions.named_by_whose(msgspec.json.encode(lines).decode(), task.laid or (), revision)
        write_text(Path(written), text)


if __name__ == "__main__":
    main(*sys.argv[1:])
