"""Outputs as values: their strings and lists by path, and what each string is for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
import msgspec.inspect as types

Path = tuple[str, ...]
Kind = Literal["given", "label", "name", "text"]
ELEMENT = "[]"
SHARED = 2
"""Strings that serve so many cases each, on average, are labels."""


def strings(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every string of a value with its path; elements of a list share theirs."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from strings(each, (*path, name))
    elif isinstance(value, list):
        for each in value:
            yield from strings(each, (*path, ELEMENT))


def changed(value: Any, change: Callable[[Path, Any], Any], path: Path = ()) -> Any:
    """A value with every part changed, the innermost first."""
    if isinstance(value, dict):
        value = {name: changed(each, change, (*path, name)) for name, each in value.items()}
    elif isinstance(value, list):
        inner = (*path, ELEMENT)
        value = [changed(each, change, inner) for each in value]
    return change(path, value)


def is_span(value: Any) -> bool:
    """Whether a value is a stretch of a text: offsets, and the words that stand there."""
    return isinstance(value, dict) and all(type(value.get(name)) is int for name in ("start", "end"))


def kinds(answers: Mapping[str, Any], inputs: Mapping[str, Sequence[str]]) -> dict[Path, Kind]:
    """What the strings of golden answers are for, by path.

    *given*: in a list, and all of them stand in the input of their case. *label*: the same few serve many
    cases. *name*: single words in lists. *text*: others.
    """
    uses: dict[Path, set[tuple[str, str]]] = defaultdict(set)
    for case_id, value in answers.items():
        for path, text in strings(value):
            uses[path].add((case_id, text))
    return {path: _kind(path, pairs, inputs) for path, pairs in uses.items()}


def _kind(path: Path, uses: set[tuple[str, str]], inputs: Mapping[str, Sequence[str]]) -> Kind:
    if ELEMENT in path and all(any(text in each for each in inputs[case_id]) for case_id, text in uses):
        return "given"
    if len(uses) >= SHARED * len({text for _, text in uses}):
        return "label"
    return "name" if ELEMENT in path and not any(" " in text for _, text in uses) else "text"


def filled(output: types.Type, text: str, length: int) -> Any:
    """The plainest value of a type: `text` in its strings, lists of that length, null where it may be."""
    match output:
        case types.StrType():
            return text
        case types.ListType(item_type=item):
            return [filled(item, text, length)] * length
        case (
            types.StructType(fields=fields)
            | types.TypedDictType(fields=fields)
            | types.DataclassType(fields=fields)
        ):
            return {each.encode_name: filled(each.type, text, length) for each in fields if each.required}
        case types.UnionType(types=members):
            inner = [each for each in members if not isinstance(each, types.NoneType)]
            return None if len(inner) < len(members) else filled(inner[0], text, length)
        case types.LiteralType(values=values):
            return values[0]
        case types.EnumType(cls=cls):
            return next(iter(cls)).value
        case types.Metadata(type=inner_type):
            return filled(inner_type, text, length)
        case types.BoolType():
            return False
        case types.IntType(ge=least) | types.FloatType(ge=least):
            return least or 0
        case types.DictType():
            return {}
    return None


def longest_lists(output: types.Type, path: Path = ()) -> Iterator[tuple[Path, int]]:
    """The lists of a type that may have so many elements and no more."""
    match output:
        case types.ListType(item_type=item, max_length=most):
            if most is not None:
                yield path, most
            yield from longest_lists(item, (*path, ELEMENT))
        case types.StructType(fields=fields):
            for each in fields:
                yield from longest_lists(each.type, (*path, each.encode_name))
        case types.Metadata(type=inner):
            yield from longest_lists(inner, path)


def as_value(output: Any) -> Any:
    """An output as JSON would hold it."""
    return msgspec.to_builtins(output)
