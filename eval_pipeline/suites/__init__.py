"""The suites: each folder here, or under `suites/` of a project, is one, and holds a `SUITE`."""

from __future__ import annotations

import importlib
import pkgutil

from eval_pipeline.problems import bad_value
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite

__all__ = ["all_suites", "find_suite", "suite_names"]


def suite_names(project: Project) -> list[str]:
    """The names of all suites, without importing any."""
    own = str(project.own_suites)
    if project.own_suites.is_dir() and own not in __path__:
        __path__.append(own)
    return sorted(
        module.name for module in pkgutil.iter_modules(__path__) if module.ispkg and module.name[0] != "_"
    )


def find_suite(project: Project, name: str) -> Suite:
    """The suite of that name."""
    names = suite_names(project)
    if name not in names:
        raise bad_value("suite", f"{name!r} is not a suite", f"Suites: {', '.join(names)}.")
    try:
        suite = importlib.import_module(f"{__name__}.{name}").SUITE
    except (Exception, SystemExit) as error:  # whatever the module does, it must not take the others along
        raise bad_value(f"suite {name}", f"cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(suite, Suite) or suite.name != name:
        raise bad_value(f"suite {name}", "has no SUITE of that name", "Call the folder as the suite.")
    return suite


def all_suites(project: Project) -> list[Suite]:
    """Every suite, by name."""
    return [find_suite(project, name) for name in suite_names(project)]
