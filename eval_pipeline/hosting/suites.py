"""The suite that somebody else's project names: a `suite.yaml`, a `module:SUITE`, or the suite itself."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, fields
from pathlib import Path

from eval_pipeline.declarative import SUITE_FILE, DeclaredSuite, read_suite
from eval_pipeline.hosting.names import NAMED
from eval_pipeline.orchestration import suite_file
from eval_pipeline.own_code import SUITES
from eval_pipeline.problems import BadInput, Problem, bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite, fault

GOLDEN = "golden"


@dataclass(frozen=True)
class HostedSuite:
    """A suite, where its golden set lies, and where it is declared."""

    suite: Suite
    golden: Path
    root: Path
    """The folder from which prompts, engines and recorded answers are named."""
    file: Path | None = None


def hosted_suite(named: Suite | str | Path, folder: Path, golden: Path | None = None) -> HostedSuite:
    """The suite of that name; paths begin in a folder. What is wrong is said with file, line and remedy.

    A `suite.yaml` in `golden/<suite>` belongs to the project around `golden`. Of a suite of a module, the
    golden set is in `golden/<suite>` of the folder, unless another place is named.
    """
    if isinstance(named, Suite):
        file = suite_file(Project(folder, folder), named)
        return HostedSuite(named, golden or folder / GOLDEN / named.name, folder, file)
    match = NAMED.fullmatch(str(named))
    if match:
        suite, file = _of_module(match["module"], match["name"], folder)
        return HostedSuite(suite, golden or folder / GOLDEN / suite.name, folder, file)
    file = (folder / named).resolve()
    file = file / SUITE_FILE if file.is_dir() else file
    if file.name != SUITE_FILE or not file.is_file():
        remedy = f"Name a {SUITE_FILE}, or a suite of a module as package.module:SUITE."
        raise bad_value("suite", f"{shown_path(file)} is not there, or is no {SUITE_FILE}", remedy)
    home = file.parent
    root = home.parent.parent if home.parent.name == GOLDEN else home
    return HostedSuite(read_suite(home), golden or home, root, file)


def _of_module(module: str, name: str, folder: Path) -> tuple[Suite, Path]:
    """A suite of a module that the host can import, identified by its code wherever that lies."""
    field = f"{module}:{name}"
    try:
        loaded = importlib.import_module(module)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        raise BadInput([fault(module, error, field, folder)]) from error
    suite = getattr(loaded, name, None)
    file = Path(str(loaded.__file__))
    if not isinstance(suite, Suite):
        remedy = f"Declare {name} = Suite(name=…)."
        raise BadInput([Problem(shown_path(file), 0, field, f"has no suite {name!r}", remedy)])
    if module == f"{SUITES}.{suite.name}" or isinstance(suite, DeclaredSuite):
        return suite, file
    top = Path(str(sys.modules[module.partition(".")[0]].__file__))
    parts = {each.name: getattr(suite, each.name) for each in fields(suite)}
    root = top.parent.parent if top.name == "__init__.py" else top.parent
    return DeclaredSuite(**parts, source=f"from {module} import {name} as SUITE\n", root=root), file
