"""Where a value departs from its type: every place, not only the first."""

import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from eval_pipeline.problems import Problems

T = TypeVar("T")
MOST_LOCATED = 100
LONGEST_REASON = 300
CLOSE, VERY_CLOSE = 0.65, 0.8
"""How alike a misspelt field and the one that is meant are; very much where other fields may stand there."""
FieldPath = tuple[str | int, ...]
_LISTS = (list, tuple, set, frozenset)


class Violation(NamedTuple):
    """What is wrong at one place of a record, and what to do."""

    path: FieldPath
    message: str
    remedy: str = ""


class Located(NamedTuple, Generic[T]):
    """A record and the line it starts on."""

    record: T
    line: int


Check = Callable[[Any], Iterable[Violation]]


def no_checks(record: Any) -> Iterable[Violation]:
    """For records whose type says everything."""
    return ()


def violations_of(value: Any, expected: Any, path: FieldPath = ()) -> Iterator[Violation]:
    """Every place where a plain value departs from a type, not only the first."""
    try:
        msgspec.convert(value, expected)
    except (msgspec.ValidationError, RecursionError) as error:
        nested = list(_nested_violations(value, expected, path))
        yield from nested or [_violation(str(error), path)]


def shown_field(path: FieldPath) -> str:
    """A path as people write it: `expectedConcepts[3].label`."""
    return re.sub(r"^\.", "", "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path))


def converted(
    value: Any,
    record_type: type[T],
    path: Path,
    line_of: Callable[[FieldPath], int],
    problems: Problems,
    check: Check,
    prefix: FieldPath = (),
) -> T | None:
    """A plain value as a record; None where it has problems, each of which is added with its line."""
    violations = list(violations_of(value, record_type))
    named = {violation.path for violation in violations}
    violations += [each for each in misspelt(value, record_type) if each.path not in named]
    record = None
    if not violations:
        record = msgspec.convert(value, record_type)
        violations = list(check(record))
    for number, violation in enumerate(violations):
        problems.add(
            path,
            violation.message,
            violation.remedy,
            # Finding a line reads the text; where everything is wrong, the record's own line will do.
            line=line_of(violation.path if number < MOST_LOCATED else ()),
            field=shown_field((*prefix, *violation.path)),
        )
    return None if violations else record


def _violation(message: str, path: FieldPath) -> Violation:
    reason, _, inner = message.partition(" - at ")
    shown = reason.replace("`", "'")
    shown = shown if len(shown) <= LONGEST_REASON else f"{shown[:LONGEST_REASON]}…"
    return Violation((*path, *_parse_path(inner)), shown, "Correct the value.")


def _parse_path(shown_by_msgspec: str) -> FieldPath:
    parts = re.findall(r"\.([^.\[\]`]+)|\[(\d+)\]", shown_by_msgspec)
    return tuple(name or int(index) for name, index in parts)


def _nested_violations(value: Any, expected: Any, path: FieldPath) -> Iterator[Violation]:
    origin, arguments = typing.get_origin(expected), typing.get_args(expected)
    if origin is typing.Literal:
        yield _not_known(value, arguments, path)
    elif origin is typing.Annotated:
        yield from _nested_violations(value, arguments[0], path)
        yield from _wrong_length(value, arguments, path)
    elif origin in (typing.Union, types.UnionType):
        yield from _union_violations(value, arguments, path)
    elif is_record(expected) and isinstance(value, dict):
        hints, typos = typing.get_type_hints(expected, include_extras=True), _typos(value, expected)
        for field in msgspec.structs.fields(expected):
            name = field.encode_name
            if name in value:
                yield from violations_of(value[name], hints[field.name], (*path, name))
            elif field.required and name not in typos.values():
                yield Violation((*path, name), "is missing", "Add it.")
        yield from _unknown_fields(value, expected, typos, path)
    elif origin in _LISTS and isinstance(value, list):
        kinds = arguments if origin is tuple and arguments[-1] is not Ellipsis else arguments[:1] * len(value)
        for index, (element, kind) in enumerate(zip(value, kinds, strict=False)):
            yield from violations_of(element, kind, (*path, index))
    elif origin is dict and isinstance(value, dict):
        for key, element in value.items():
            yield from violations_of(key, arguments[0], (*path, str(key)))
            yield from violations_of(element, arguments[1], (*path, str(key)))


def _union_violations(value: Any, kinds: tuple[Any, ...], path: FieldPath) -> Iterator[Violation]:
    """What is wrong with the member of a union that somebody meant; nothing where that is not clear."""
    members = [kind for kind in kinds if kind is not type(None)]
    meant = members if len(members) == 1 else [each for each in members if _is_like(value, each)]
    if len(meant) == 1:
        yield from violations_of(value, meant[0], path)
    elif meant and all(map(is_record, meant)):
        yield from _tagged_violations(value, meant, path)


def _wrong_length(value: Any, annotated: tuple[Any, ...], path: FieldPath) -> Iterator[Violation]:
    """What the limits of a list or mapping say, whatever its elements are."""
    kind = {**dict.fromkeys(_LISTS, list[Any]), dict: dict[Any, Any]}.get(typing.get_origin(annotated[0]))
    if kind is not None and isinstance(value, list | dict):
        try:
            msgspec.convert(value, typing.Annotated[(kind, *annotated[1:])])
        except msgspec.ValidationError as error:
            yield _violation(str(error), path)


def _is_like(value: Any, kind: Any) -> bool:
    """Whether somebody who wrote a value may have meant that member of a union."""
    bare = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind
    holder = typing.get_origin(bare) or bare
    if isinstance(value, dict):
        return is_record(holder) or holder is dict
    return isinstance(value, list) and holder in _LISTS


def _tagged_violations(
    value: dict[Any, Any], members: list[type[msgspec.Struct]], path: FieldPath
) -> Iterator[Violation]:
    """The same for records of several kinds, of which one field says the kind."""
    tag = str(members[0].__struct_config__.tag_field)
    kinds = {each.__struct_config__.tag: each for each in members}
    if tag not in value:
        near = get_close_matches(tag, [name for name in value if isinstance(name, str)], 1, CLOSE)
        known = f"Add it: {', '.join(map(str, kinds))}."
        yield _typo((*path, near[0]), tag) if near else Violation((*path, tag), "is missing", known)
    elif isinstance(value[tag], str) and value[tag] in kinds:
        rest = {name: member for name, member in value.items() if name != tag}
        yield from _nested_violations(rest, kinds[value[tag]], path)
    else:
        yield _not_known(value[tag], kinds, (*path, tag))


def _not_known(value: Any, known: Iterable[Any], path: FieldPath) -> Violation:
    """A value that is none of those there are."""
    names = [str(each) for each in known]
    near = get_close_matches(str(value), names, 1, CLOSE)
    remedy = f"{f'Did you mean {near[0]}? ' if near else ''}Known: {', '.join(names)}."
    return Violation(path, f"{str(value)[:LONGEST_REASON]!r} is not known", remedy)


def _unknown_fields(
    value: dict[Any, Any], expected: type[msgspec.Struct], typos: dict[str, str], path: FieldPath
) -> Iterator[Violation]:
    known = _field_types(expected)
    for name in value:
        if name in typos:
            yield _typo((*path, name), typos[name])
        elif name not in known and expected.__struct_config__.forbid_unknown_fields:
            yield Violation((*path, str(name)), "is not a known field", f"Known: {', '.join(known)}.")


def _typo(path: FieldPath, meant: str) -> Violation:
    """One problem: the field that is missing is the one that is misspelt."""
    return Violation(path, "is not a known field", f"Did you mean {meant}?")


def _typos(value: dict[Any, Any], expected: type[msgspec.Struct]) -> dict[str, str]:
    """Unknown fields that are close to an absent one, with the one that is meant."""
    fields = _field_types(expected)
    absent = [name for name in fields if name not in value]
    unknown = [name for name in value if name not in fields and isinstance(name, str)] if absent else []
    least = CLOSE if expected.__struct_config__.forbid_unknown_fields else VERY_CLOSE
    near = {name: get_close_matches(name, absent, 1, least) for name in unknown}
    return {name: matches[0] for name, matches in near.items() if matches}


def misspelt(value: Any, expected: Any, path: FieldPath = ()) -> Iterator[Violation]:
    """Unknown fields that are close to a known one: ignoring them would lose what a person wrote."""
    if isinstance(value, list):
        arguments = typing.get_args(expected)
        if arguments and is_record(arguments[0]):
            for index, element in enumerate(value):
                yield from misspelt(element, arguments[0], (*path, index))
    if not (isinstance(value, dict) and is_record(expected)):
        return
    fields = _field_types(expected)
    if fields.keys() >= value.keys() and not any(
        isinstance(member, dict | list) for member in value.values()
    ):
        return
    for name, meant in _typos(value, expected).items():
        yield _typo((*path, name), meant)
    for name, member in value.items():
        if name in fields:
            yield from misspelt(member, fields[name], (*path, name))


@cache
def _field_types(expected: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.encode_name: field.type for field in msgspec.structs.fields(expected)}


def holds_records(kind: Any) -> bool:
    """Whether values of a type are records, or hold some."""
    return is_record(kind) or any(map(holds_records, typing.get_args(kind)))


def is_record(expected: Any) -> bool:
    """Whether a type is that of a record."""
    return isinstance(expected, type) and issubclass(expected, msgspec.Struct)
