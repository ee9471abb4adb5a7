"""The suites of a project: Python modules, and those that a `suite.yaml` of a golden folder declares.

The modules' own loader, `eval_pipeline.suites`, is part of what identifies every module's scorer.
"""

from collections.abc import Iterable
from pathlib import Path

from eval_pipeline import suites
from eval_pipeline.declarative import SUITE_FILE, declared_names, read_suite
from eval_pipeline.problems import BadInput, Problem, bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite


def suite_names(project: Project) -> list[str]:
    """The names of all suites, without loading any."""
    return sorted({*suites.suite_names(project), *declared_names(project.root / "golden")})


def find_suite(project: Project, name: str) -> Suite:
    """The suite of that name. One that cannot be loaded is bad input, with the file and line at fault."""
    _stop_unless_known(project, name)
    file = declaration(project, name)
    if not file.is_file():
        return suites.find_suite(project, name)
    if name in suites.suite_names(project):
        message = f"the suite {name} is a Python module, too"
        raise BadInput([Problem(shown_path(file), 0, "", message, "Keep one of them.")])
    return read_suite(file.parent)


def load_suites(project: Project, names: Iterable[str]) -> tuple[list[Suite], dict[str, list[Problem]]]:
    """The suites of these names, and what is wrong with those that cannot be loaded."""
    loaded: list[Suite] = []
    broken: dict[str, list[Problem]] = {}
    for name in names:
        _stop_unless_known(project, name)
        try:
            loaded.append(find_suite(project, name))
        except BadInput as bad:
            broken[name] = bad.problems
    return loaded, broken


def declaration(project: Project, name: str) -> Path:
    """Where a suite is declared, if it is."""
    return project.golden(name) / SUITE_FILE


def _stop_unless_known(project: Project, name: str) -> None:
    names = suite_names(project)
    if name not in names:
        raise bad_value("suite", f"{name!r} is not a suite", f"Suites: {', '.join(names)}.")
