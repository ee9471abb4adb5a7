"""A declared suite as a Python module: what `suite eject` writes, and what identifies its scorer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from eval_pipeline.declarative.file import Declaration

WIDTH = 110
INDENT = "    "
KIT = "eval_pipeline.declarative"


def source_of(declared: Declaration) -> str:
    """The module: the same suite, said in Python."""
    used = sorted({"CaseFiles", "Task", "input_type", *_classes((declared.answer, *declared.scores))})
    functions = sorted({(each.__module__, each.__name__) for each in _functions(declared.scores)})
    plain = list(declared.inputs) == list(declared.inputs.values())
    inputs: Any = tuple(declared.inputs) if plain else declared.inputs
    task = _call("Task", {"answer": declared.answer, "scores": declared.scores})
    reader = {"files": declared.files, "task": _Name("TASK"), "inputs": _Name("INPUTS"), "id": declared.id}
    arguments = {
        "name": declared.name,
        "description": declared.description,
        "reader": _Call(
            "CaseFiles", reader | ({"attributes": declared.attributes} if declared.attributes else {})
        ),
        "input": _Name("input_type(INPUTS)"),
        "expected": _Name("dict"),
        "output": _Name("TASK.output"),
        "score": _Name("TASK.score"),
        "metrics": _Name("TASK.metrics"),
        "headline": _Name("TASK.headline"),
        "case_passes": _Name("TASK.passes"),
        "errored": _Name("TASK.errored"),
        "models": _Name("TASK.models"),
        "groups": declared.attributes,
        "reporting": _Name("TASK.reporting"),
        "probing": _Name("TASK.probing"),
    }
    return "\n".join(
        [
            f'"""{_docstring(declared)}"""',
            "",
            *_import(KIT, sorted(used, key=lambda name: (name[0].islower(), name))),
            "from eval_pipeline.suite import Suite",
            *(line for module, name in functions for line in _import(module, [name])),
            "",
            f"INPUTS = {_written(inputs, 0, len('INPUTS = '))}",
            f"TASK = {task}",
            f"SUITE = {_call('Suite', arguments)}",
            "",
        ]
    )


class _Name(str):
    """An expression that stands in the module as it is."""


class _Call(tuple[str, dict[str, Any]]):
    """A call with keywords."""

    def __new__(cls, name: str, arguments: dict[str, Any]) -> _Call:
        return super().__new__(cls, (name, arguments))


def _docstring(declared: Declaration) -> str:
    text = " ".join(declared.description.split()) or f"The suite {declared.name}"
    return text.replace("\\", "\\\\").replace('"', "'").rstrip(".") + "."


def _import(module: str, names: Iterable[str]) -> list[str]:
    names = list(names)
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return [line]
    return [f"from {module} import (", *(f"{INDENT}{name}," for name in names), ")"]


def _call(name: str, arguments: Mapping[str, Any], depth: int = 0, before: int = 0) -> str:
    """A call with keywords, on one line where it fits and is no suite."""
    shown = [f"{key}={_written(value, depth + 1, len(key) + 1)}" for key, value in arguments.items()]
    line = f"{name}({', '.join(shown)})"
    if "\n" not in line and len(INDENT) * depth + before + len(line) < WIDTH and depth:
        return line
    pad = INDENT * (depth + 1)
    return f"{name}(\n" + "".join(f"{pad}{each},\n" for each in shown) + f"{INDENT * depth})"


def _written(value: Any, depth: int, before: int = 0) -> str:
    """A value as Python writes it."""
    match value:
        case _Name():
            return str(value)
        case _Call():
            return _call(value[0], value[1], depth, before)
        case msgspec.Struct():
            return _call(type(value).__name__, dict(_given(value)), depth, before)
        case str():
            return json.dumps(value, ensure_ascii=False) if value.isprintable() else repr(value)
        case tuple() | list():
            return _several(value, depth, before)
        case dict():
            return _mapping(value, depth, before)
        case _ if callable(value):
            return str(value.__name__)
    return repr(value)


def _several(values: tuple[Any, ...] | list[Any], depth: int, before: int) -> str:
    opening, closing = "()" if isinstance(values, tuple) else "[]"
    shown = [_written(each, depth + 1) for each in values]
    comma = "," if isinstance(values, tuple) and len(shown) == 1 else ""
    return _bracketed(opening, shown, closing, comma, depth, before)


def _mapping(values: Mapping[Any, Any], depth: int, before: int) -> str:
    shown = [f"{_written(name, depth)}: {_written(each, depth + 1)}" for name, each in values.items()]
    return _bracketed("{", shown, "}", "", depth, before)


def _bracketed(opening: str, shown: list[str], closing: str, comma: str, depth: int, before: int) -> str:
    line = f"{opening}{', '.join(shown)}{comma}{closing}"
    if "\n" not in line and len(INDENT) * depth + before + len(line) < WIDTH:
        return line
    pad = INDENT * (depth + 1)
    return f"{opening}\n" + "".join(f"{pad}{each},\n" for each in shown) + f"{INDENT * depth}{closing}"


def _given(record: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    """The fields of a record that are not as they are anyway, what it wants first."""
    fields = sorted(msgspec.structs.fields(type(record)), key=lambda each: each.name != "of")
    for field in fields:
        value = getattr(record, field.name)
        default = {} if field.default_factory is dict else field.default
        if value != default:
            yield field.name, value


def _classes(values: Any) -> Iterator[str]:
    if isinstance(values, msgspec.Struct):
        yield type(values).__name__
        values = [value for _, value in _given(values)]
    if isinstance(values, tuple | list):
        for each in values:
            yield from _classes(each)


def _functions(values: Any) -> Iterator[Any]:
    if isinstance(values, msgspec.Struct):
        values = [value for _, value in _given(values)]
    if isinstance(values, tuple | list):
        for each in values:
            yield from _functions(each)
    elif callable(values) and not isinstance(values, type):
        yield values
