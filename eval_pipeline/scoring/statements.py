"""One statement as code: what of it can act, and the names that it needs from elsewhere."""

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from eval_pipeline.scoring.sources import Imported, Statement, imported, run_by

Chain = tuple[str, ...]
"""A name with the attributes that are looked up on it: `kit.score.__doc__`."""

_NO_EFFECT = frozenset({"ctx", "kind", "type_comment", "returns", "annotation"})
"""Fields of the syntax tree that decide nothing. Annotations of classes do: they declare fields."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Reading:
    """What a statement says and what it uses."""

    parts: list[str] = field(default_factory=list)
    """Its syntax tree in words, without what has no effect."""
    names: set[Chain] = field(default_factory=set)
    """Names of its module, or of nobody, that it uses."""
    imported: set[tuple[Imported, Chain]] = field(default_factory=set)
    """What it uses of its own imports, with the name that it has here."""
    runs: set[str] = field(default_factory=set)
    """What it imports that may be a module."""
    texts: set[str] = field(default_factory=set)
    """Its text constants."""


@dataclass
class _Scope:
    """What is used and bound in a module, class, function or comprehension."""

    kind: str = "function"
    used: set[Chain] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    imports: dict[str, list[Imported]] = field(default_factory=dict)


def read(statement: Statement) -> Reading:
    """Read one statement. What the same code says in the same module was perhaps read before."""
    return _read(statement.node, statement.module.place)


@lru_cache(maxsize=2**14)
def _read(node: ast.stmt | ast.keyword, place: str) -> Reading:
    reader = _Reader(place)
    reader.visit(node)
    reader.reading.names |= reader.scopes[0].used
    return reader.reading


class _Reader:
    def __init__(self, place: str) -> None:
        self.reading = Reading()
        self.scopes = [_Scope("module")]
        self._place = place
        self._write = self.reading.parts.append
        self._special: dict[type[ast.AST], Callable[[Any], None]] = {
            ast.Import: self._import,
            ast.ImportFrom: self._import,
            ast.Expr: self._expression,
            ast.AnnAssign: self._annotated,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Constant: self._constant,
            ast.Global: self._global,
            ast.ClassDef: self._class,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.Lambda: self._function,
            **dict.fromkeys(_COMPREHENSIONS, self._comprehension),
        }

    def visit(self, node: ast.AST) -> None:
        special = self._special.get(type(node))
        if special:
            special(node)
        else:
            self._fields(node)

    def _fields(self, node: ast.AST, left_out: Iterable[str] = ()) -> None:
        self._write(f"{type(node).__name__}(")
        for name in node._fields:
            value = getattr(node, name, None)
            if value is None or value == [] or name in _NO_EFFECT or name in left_out:
                continue
            self._write(f"{name}=")
            for each in value if isinstance(value, list) else (value,):
                if isinstance(each, ast.AST):
                    self.visit(each)
                else:
                    self._write("-" if each is None else repr(each))
        self._write(")")

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.reading.runs.update(run_by(node, self._place))
        scope = self.scopes[-1]
        if scope.kind != "module":  # those of a module are known
            for name, target in imported(node, self._place):
                scope.imports.setdefault(name, []).append(target)

    def _expression(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # such as a docstring
            self._fields(node)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if self.scopes[-1].kind == "class":
            self.visit(node.annotation)
        elif node.value is None:
            return
        self._fields(node)

    def _name(self, node: ast.Name) -> None:
        self._write(node.id)
        if isinstance(node.ctx, ast.Load):
            self.scopes[-1].used.add((node.id,))
        else:
            self.scopes[-1].bound.add(node.id)

    def _attribute(self, node: ast.Attribute) -> None:
        attributes: list[str] = []
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            attributes.insert(0, base.attr)
            base = base.value
        if isinstance(base, ast.Name):
            self.scopes[-1].used.add((base.id, *attributes))
            self._write(base.id)
        else:
            self.visit(base)
        self._write("." + ".".join(attributes))

    def _constant(self, node: ast.Constant) -> None:
        self._write(repr(node.value))
        if isinstance(node.value, str):
            self.reading.texts.add(node.value)

    def _global(self, node: ast.Global) -> None:
        self._fields(node)
        self.scopes[-1].shared.update(node.names)
        self.scopes[-1].used.update((name,) for name in node.names)

    def _class(self, node: ast.ClassDef) -> None:
        self.scopes[-1].bound.add(node.name)
        for each in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(each)
        self._open("class")
        self._fields(node, ("decorator_list", "bases", "keywords"))
        self._close()

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        if not isinstance(node, ast.Lambda):
            self.scopes[-1].bound.add(node.name)
            for each in node.decorator_list:
                self.visit(each)
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default:
                self.visit(default)
        self._open()
        self.scopes[-1].bound |= {each.arg for each in ast.walk(arguments) if isinstance(each, ast.arg)}
        self._fields(arguments, ("defaults", "kw_defaults"))
        self._write(str([default is None for default in arguments.kw_defaults]))
        self._fields(node, ("decorator_list", "args"))
        self._close()

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        first, *_ = node.generators
        self.visit(first.iter)  # evaluated outside
        self._open()
        for generator in node.generators:
            self._fields(generator, ("iter",) if generator is first else ())
        self._fields(node, ("generators",))
        self._close()

    def _open(self, kind: str = "function") -> None:
        self.scopes.append(_Scope(kind))

    def _close(self) -> None:
        """Leave a scope: what it uses and does not bind itself is looked up around it."""
        scope = self.scopes.pop()
        hidden = scope.bound - scope.shared if scope.kind == "function" else set()
        for chain in scope.used:
            if chain[0] in scope.imports:
                self.reading.imported |= {(target, chain) for target in scope.imports[chain[0]]}
            elif chain[0] not in hidden:
                self.scopes[-1].used.add(chain)
