"""Code in a project's folder: imported from there, wherever one works, and of one project alone."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

from eval_pipeline.project import Project

PACKAGE = __name__.partition(".")[0]
SUITES = f"{PACKAGE}.suites"

_entered: list[tuple[str, frozenset[str]]] = []
"""The folder that was put on Python's path, and the modules that were there before it."""


def use_code_of(project: Project) -> None:
    """Let suites, functions and scorers of a project be imported; those of another one are forgotten."""
    suites = sys.modules.get(SUITES)
    own = str(project.own_suites)
    for other in [each for each in (suites.__path__[1:] if suites else ()) if each != own]:
        assert suites is not None
        suites.__path__.remove(other)
        for name in _loaded_from(Path(other)):
            if name.startswith(f"{SUITES}."):
                del sys.modules[name]
    _make_importable(project.root.resolve())


def import_own(root: Path, name: str) -> ModuleType:
    """A module of a project, or an installed one. Raises what importing it raises.

    What is installed comes first: a file of the project that it hides is named, not passed over.
    """
    root = root.resolve()
    _make_importable(root)
    module = importlib.import_module(name)
    top = name.partition(".")[0]
    is_there = (root / f"{top}.py").is_file() or (root / top / "__init__.py").is_file()
    if is_there and _part_of(root, sys.modules[top]) != top:
        raise ImportError(f"{top} of the project is hidden by another module of that name; rename it")
    return module


def _make_importable(root: Path) -> None:
    folder = str(root)
    if _entered and _entered[0][0] == folder:
        return
    if _entered:
        _leave(*_entered.pop())
    if folder not in sys.path:
        _entered.append((folder, frozenset(sys.modules)))
        sys.path.append(folder)
    importlib.invalidate_caches()


def _leave(folder: str, before: frozenset[str]) -> None:
    """Take a folder off Python's path, and forget what was imported from directly below it."""
    if folder in sys.path:
        sys.path.remove(folder)
    since = {name: name.partition(".")[0] for name in sys.modules.keys() - before}
    # All are looked at before any goes: where a package without a file lies, the one around it knows.
    gone = [
        name
        for name, top in since.items()
        if top != PACKAGE and _part_of(Path(folder), sys.modules[name]) == top
    ]
    for name in gone:
        del sys.modules[name]


def _loaded_from(folder: Path) -> list[str]:
    return [name for name, module in list(sys.modules.items()) if _part_of(folder, module)]


def _part_of(folder: Path, module: ModuleType) -> str:
    """What a module lies in, directly below a folder; blank where it lies elsewhere."""
    file = getattr(module, "__file__", None)
    places = [file] if isinstance(file, str) else list(getattr(module, "__path__", ()))
    beginning = str(folder)
    for place in [Path(each) for each in places if each.startswith(beginning)]:  # of thousands, a few
        if place.is_relative_to(folder) and place != folder:
            return place.relative_to(folder).parts[0].removesuffix(".py")
    return ""
