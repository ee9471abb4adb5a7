"""The suites of a project: Python modules, and those that a `suite.yaml` of a golden folder declares.

The modules' own loader, `eval_pipeline.suites`, is part of what identifies every module's scorer.
"""

from collections.abc import Iterable
from pathlib import Path

from eval_pipeline import suites
from eval_pipeline.declarative import SUITE_FILE, declared_names, read_suite
from eval_pipeline.files.words import did_you_mean
from eval_pipeline.own_code import use_code_of
from eval_pipeline.problems import BadInput, Problem, bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite

HERITAGE = "heritage"
"""The suites of this family can be named together."""
_BEGIN = "Begin with: eval-pipeline init."


def suite_names(project: Project) -> list[str]:
    """The names of the project's suites, without loading any: its own, and those that it has data of."""
    return [
        name
        for name in _known(project)
        if any(
            folder.is_dir() for folder in (project.golden(name), project.prompts(name), _own(project, name))
        )
    ]


def shipped_names() -> list[str]:
    """The names of the suites that come with the package."""
    return suites.suite_names(Project(Path(suites.__path__[0]), Path()))


def all_suites(project: Project) -> list[str]:
    """The same, where there has to be one."""
    names = suite_names(project)
    if not names:
        raise BadInput([Problem(str(project.root), 0, "", "there is no suite yet", _BEGIN)])
    return names


def family(project: Project, name: str) -> list[str]:
    """The project's suites of a family; none where a suite has its name, or it is no family."""
    names = suite_names(project)
    if name != HERITAGE or name in names:
        return []
    return [each for each in names if each.startswith(f"{HERITAGE}_")]


def find_suite(project: Project, name: str) -> Suite:
    """The suite of that name; one that comes with the package is found wherever its data lie.

    One that cannot be loaded is bad input, with the file and line at fault.
    """
    _stop_unless_known(project, name)
    file = declaration(project, name)
    use_code_of(project)
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


def _known(project: Project) -> list[str]:
    """The names of the project's suites and of those that come with the package."""
    return sorted({*suites.suite_names(project), *declared_names(project.root / "golden")})


def _own(project: Project, name: str) -> Path:
    return project.own_suites / name


def _stop_unless_known(project: Project, name: str) -> None:
    if name not in _known(project):
        names = suite_names(project)
        remedy = f"{did_you_mean(name, names)}Suites: {', '.join(names)}." if names else _BEGIN
        raise bad_value("suite", f"{name!r} is not a suite", remedy)
