"""The suites: each folder here, or under `suites/` of a project, is one, and holds a `SUITE`."""

import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

from eval_pipeline.problems import BadInput, Problem, bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite, fault

_DECLARED = re.compile(r"SUITE\b")

__all__ = ["find_suite", "suite_names"]


def suite_names(project: Project) -> list[str]:
    """The names of all suites, without importing any."""
    own = str(project.own_suites)
    if project.own_suites.is_dir() and own not in __path__:
        __path__.append(own)
    return sorted(
        module.name for module in pkgutil.iter_modules(__path__) if module.ispkg and module.name[0] != "_"
    )


def find_suite(project: Project, name: str) -> Suite:
    """The suite of that name. One that cannot be loaded is bad input, with the file and line at fault."""
    _stop_unless_known(project, name)
    module = f"{__name__}.{name}"
    spec = importlib.util.find_spec(module)
    file = Path(str(spec and spec.origin))
    field = f"suite {name}"
    try:
        suite = getattr(importlib.import_module(module), "SUITE", None)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:  # whatever the module does, it must not take the others along
        raise BadInput([fault(name, error, field, file)]) from error
    if not isinstance(suite, Suite) or suite.name != name:
        message = "has no SUITE" if not isinstance(suite, Suite) else f"its SUITE is called {suite.name!r}"
        remedy = "Declare SUITE = Suite(name=…), with the name of the folder."
        raise BadInput([Problem(shown_path(file), _declaration(file), field, message, remedy)])
    return suite


def _stop_unless_known(project: Project, name: str) -> None:
    names = suite_names(project)
    if name not in names:
        raise bad_value("suite", f"{name!r} is not a suite", f"Suites: {', '.join(names)}.")


def _declaration(file: Path) -> int:
    """The line that declares the suite; 0 where there is none."""
    lines = file.read_text(errors="replace").splitlines()
    return next((number for number, line in enumerate(lines, 1) if _DECLARED.match(line)), 0)
