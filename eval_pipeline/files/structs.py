"""What suites let people configure, their settings and parameters: records of msgspec, in plain words.

Their classes are part of what identifies a scorer or an engine, so they stay the records they are.
"""

import re
import types
import typing
from collections.abc import Iterator
from typing import Any

import msgspec

from eval_pipeline.files import words
from eval_pipeline.files.violations import FieldPath, Violation, is_record, misspelt, violations_of

_KIND = re.compile(r"Expected '([^']+)', got '[^']+'")
_LIMIT = re.compile(r"Expected '(?:int|float)' (>=|>|<=|<) (\S+)")
_LENGTH = re.compile(r"Expected '(str|array|object)' of length (>=|<=) (\d+)")
_WANTED = {
    "str": words.TEXT,
    "int": words.WHOLE_NUMBER,
    "float": words.NUMBER,
    "bool": words.TRUE_OR_FALSE,
    "array": words.LIST,
    "object": words.FIELDS,
}


def mismatches(value: Any, expected: Any, path: FieldPath = ()) -> Iterator[Violation]:
    """Every place where a plain value departs from a record's type."""
    found = list(violations_of(value, expected))
    named = {each.path for each in found}
    found += [each for each in misspelt(value, expected) if each.path not in named]
    for each in found:
        message, remedy = _in_words(each, value, expected)
        yield Violation((*path, *each.path), message, remedy)


def _in_words(violation: Violation, value: Any, expected: Any) -> words.Words:
    message = violation.message
    for part in violation.path:
        value = _inside(value, part)
    if match := _KIND.fullmatch(message):
        wanted = match[1].split(" | ")[0]
        return words.wrong_kind(value, _WANTED.get(wanted, wanted))
    if match := _LIMIT.fullmatch(message):
        return words.beyond(match[1], match[2])
    if match := _LENGTH.fullmatch(message):
        return words.wrong_length(match[2], match[3], "characters" if match[1] == "str" else "entries")
    if choices := _choices(expected, violation.path):
        return words.not_a_choice(value, choices)
    if violation.remedy == "Known: .":
        return message, "There is none; remove it."
    return message, violation.remedy


def _inside(value: Any, part: str | int) -> Any:
    try:
        return value[part]
    except (LookupError, TypeError):
        return None


def _choices(expected: Any, path: FieldPath) -> tuple[Any, ...]:
    """What may stand at a path where one of a few values must; nothing anywhere else."""
    kind = _bare(expected)
    for part in path:
        arguments = typing.get_args(kind)
        if is_record(kind):
            names = {each.encode_name: each.name for each in msgspec.structs.fields(kind)}
            kind = typing.get_type_hints(kind, include_extras=True).get(names.get(str(part), ""))
        else:
            kind = arguments[-1 if isinstance(part, str) else 0] if arguments else None
        kind = _bare(kind)
    return typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()


def _bare(kind: Any) -> Any:
    """A type without its limits, and without None."""
    if typing.get_origin(kind) is typing.Annotated:
        return _bare(typing.get_args(kind)[0])
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        members = [each for each in typing.get_args(kind) if each is not type(None)]
        return _bare(members[0]) if len(members) == 1 else kind
    return kind
