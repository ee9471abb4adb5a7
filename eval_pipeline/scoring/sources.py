"""Python modules as text: where they lie, and what their top-level names are bound to."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from eval_pipeline.files import files_hash

COMPILED = "__pycache__"
EXPORTS = "__all__"
INIT = "__init__.py"


@dataclass(frozen=True)
class Sources:
    """Where the modules of some packages lie: (package, folder), the first folder that has a module wins."""

    folders: tuple[tuple[str, Path], ...]
    texts: Callable[[str], str | None] = lambda name: None
    """The text of a module that lies in no file, by its name; None where there is none."""

    def holds(self, name: str) -> bool:
        """Whether a module of that name would be one of these."""
        return any(name == package or name.startswith(f"{package}.") for package, _ in self.folders)

    def module(self, name: str) -> Module | None:
        """The module of that name; None where there is none."""
        if text := self.texts(name):
            return Module(name, self.folders[0][1] / INIT, text)
        paths = [
            folder.joinpath(*name.removeprefix(package).split(".")[1:])
            for package, folder in self.folders
            if name == package or name.startswith(f"{package}.")
        ]
        for path in paths:
            for file in (path / INIT, path.with_name(f"{path.name}.py")):
                if file.is_file():
                    return Module(name, file)
        # A folder alone is a package, too, but gives way to one that is elsewhere.
        return next((Module(name, path / INIT) for path in paths if path.is_dir()), None)


def project_modules(root: Path, *known: str) -> tuple[tuple[str, Path], ...]:
    """The modules and packages directly in a folder, as `Sources` has them; those that are known are not."""
    names = {
        path.stem
        for path in (root.iterdir() if root.is_dir() else ())
        if (path.suffix == ".py" and path.is_file()) or (path.is_dir() and _holds_code(path))
    }
    return tuple((name, root / name) for name in sorted(names - {*known}) if name.isidentifier())


def _holds_code(folder: Path) -> bool:
    """Whether modules of a folder can be imported: its own, or those of a package in it."""
    return any(next(folder.glob(pattern), None) for pattern in ("*.py", "*/*.py"))


class Imported(NamedTuple):
    """What an import binds: a module, or a name in it."""

    module: str
    name: str = ""

    @property
    def path(self) -> str:
        """The whole name."""
        return f"{self.module}.{self.name}" if self.name else self.module


@dataclass(frozen=True, eq=False)
class Statement:
    """A top-level statement of a module, or a part of one."""

    module: Module
    node: ast.stmt | ast.keyword

    def members(self) -> dict[str, Statement]:
        """What a class brings along by name: the defaults of its fields, and its functions."""
        members: dict[str, Statement] = {}
        for node in self.node.body if isinstance(self.node, ast.ClassDef) else ():
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                members[node.target.id] = Statement(self.module, ast.keyword(node.target.id, node.value))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                members[node.name] = Statement(self.module, node)
        return members


@dataclass(eq=False)
class Module:
    """One module: its statements by the names that they bind, and those that bind none."""

    name: str
    file: Path
    text: str = ""
    """Its code, where it does not lie in the file."""
    bindings: dict[str, list[Statement | Imported]] = field(default_factory=dict)
    effects: list[Statement] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    """Modules that everything is imported from."""
    runs: list[str] = field(default_factory=list)
    """Modules, or names that may be some, that are imported as such and so run with this one."""

    def __post_init__(self) -> None:
        if self.text or self.file.is_file():
            self._add(_parsed(self.text.encode() or self.file.read_bytes()))

    @property
    def parent(self) -> str:
        """The package that it lies in."""
        return self.name.rpartition(".")[0]

    @property
    def place(self) -> str:
        """Its name as that of a file, from which relative imports climb."""
        return f"{self.name}.__init__" if self.file.name == INIT else self.name

    @cached_property
    def entries(self) -> dict[str, Path]:
        """The files and folders beside it that may be data."""
        if self.text:
            return {}
        return {
            path.name: path
            for path in self.file.parent.iterdir()
            if path.suffix != ".py" and path.name != COMPILED
        }

    def data(self, text: str) -> str:
        """The hash of the file or folder beside the module that a text names; blank where it names none.

        A single word that is the name of a package there, such as `suites`, names no data.
        """
        first, *rest = text.rstrip("/").split("/")
        if first not in self.entries or (text == first and (self.entries[first] / INIT).is_file()):
            return ""
        path = self.entries[first].joinpath(*rest)
        files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
        kept = [file for file in files if file.suffix != ".py" and COMPILED not in file.parts]
        return files_hash(kept) if kept else ""

    def _add(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
                self.runs += run_by(node, self.place)
            elif isinstance(node, ast.If) and _never_runs(node):
                self._import_all(node.body)
                self._add(node.orelse)
            elif not _says_nothing(node):
                self._bind(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for name, target in imported(node, self.place):
            if name == "*":
                self.stars.append(target.module)
            else:
                self.bindings.setdefault(name, []).append(target)

    def _import_all(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    self._import(node)

    def _bind(self, node: ast.stmt) -> None:
        names, simple = _bound(node)
        if names == {EXPORTS}:
            return
        statement = Statement(self, node)
        for name in names:
            self.bindings.setdefault(name, []).append(statement)
        if not simple:
            self.effects.append(statement)
            self._import_all([node])


def imported(node: ast.Import | ast.ImportFrom, place: str) -> Iterator[tuple[str, Imported]]:
    """The names that an import in a module binds, and to what; `*` for all names of a module."""
    if isinstance(node, ast.Import):
        for each in node.names:
            name = each.name if each.asname else each.name.partition(".")[0]
            yield each.asname or name, Imported(name)
        return
    above = place.split(".")[: -node.level] if node.level else []
    module = ".".join([*above, *([node.module] if node.module else [])])
    for each in node.names:
        yield each.asname or each.name, Imported(module, each.name)


def run_by(node: ast.Import | ast.ImportFrom, place: str) -> list[str]:
    """What an import in a module may run as a module."""
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    return [target.path for _, target in imported(node, place)]


@lru_cache(maxsize=2**10)
def _parsed(code: bytes) -> list[ast.stmt]:
    """The statements of a module. The same code is there once, however many closures read it."""
    return ast.parse(code).body


def _never_runs(node: ast.If) -> bool:
    """Whether an `if` is there for type checkers, or for the module as a program."""
    text = ast.unparse(node.test)
    return text in ("TYPE_CHECKING", "typing.TYPE_CHECKING") or text.startswith("__name__ ==")


def _says_nothing(node: ast.stmt) -> bool:
    """Whether it is a docstring, or declares a type only."""
    if isinstance(node, ast.AnnAssign):
        return node.value is None
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _bound(node: ast.stmt) -> tuple[set[str], bool]:
    """The names that a statement binds, and whether that is all it does."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}, True
        case ast.Assign():
            targets = node.targets
        case ast.AnnAssign() | ast.AugAssign():
            targets = [node.target]
        case _:
            return {
                each.name
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                else each.id
                for each in ast.walk(node)
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                or (isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
            }, False
    parts = [each for target in targets for each in ast.walk(target)]
    names = {each.id for each in parts if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return names, not any(isinstance(each, ast.Attribute | ast.Subscript) for each in parts)
