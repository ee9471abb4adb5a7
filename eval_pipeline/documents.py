"""Reading JSON, JSON Lines and YAML into typed records; every violation is named with its place."""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from eval_pipeline.problems import Problems

T = TypeVar("T")

LARGEST_FILE = 64 * 2**20
LARGEST_LINE = 16 * 2**20
LARGEST_YAML = 2**20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

FieldPath = tuple[str | int, ...]


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


def read_json(
    path: Path, record_type: type[T], problems: Problems, check: Check = no_checks
) -> Iterator[Located[T]]:
    """The records of a JSON file: one object, or a list of them."""
    data = _read(path, LARGEST_FILE, problems, "Split it, or use JSON Lines (.jsonl)")
    if data is None:
        return
    text = _text(data, path, problems)
    if text is None:
        return
    try:
        raw = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        _report_syntax(text, 1, error, path, problems)
        return
    if isinstance(raw, list):
        records, starts = raw, _element_starts(text)
    else:
        records, starts = [raw], [0]
    if not records:
        problems.add(path, "the list is empty", "Add at least one record.")
    for index, (record, start) in enumerate(zip(records, starts, strict=True)):
        first_line = text.count("\n", 0, start) + 1

        def line_of(field: FieldPath, start: int = start, first_line: int = first_line) -> int:
            return first_line + json_line(text[start:], field) - 1

        prefix: FieldPath = (index,) if isinstance(raw, list) else ()
        converted = _convert(record, record_type, path, line_of, problems, check, prefix)
        if converted is not None:
            yield Located(converted, first_line)


def read_json_lines(
    path: Path, record_type: type[T], problems: Problems, check: Check = no_checks
) -> Iterator[Located[T]]:
    """The records of a JSON Lines file, read line by line; blank lines are skipped."""
    decoder = msgspec.json.Decoder(record_type)
    empty = True
    for number, line, _ in json_lines(path, problems):
        empty = False
        try:
            record = decoder.decode(line)
            violations = list(check(record))
        except (msgspec.DecodeError, UnicodeDecodeError):
            record, violations = None, []
        if record is not None and not violations:
            yield Located(record, number)
        else:
            _report_line(line, number, record_type, path, problems, check)
    if empty and not len(problems):
        problems.add(path, "the file is empty", "Add at least one line.")


class RawLine(NamedTuple):
    """A line of a file as it stands there."""

    number: int
    data: bytes
    offset: int


def json_lines(path: Path, problems: Problems) -> Iterator[RawLine]:
    """The non-blank lines of a file, with their numbers and offsets; a line that is too long is a problem."""
    with path.open("rb") as file:
        number = 0
        while True:
            offset = file.tell()
            line = file.readline(LARGEST_LINE + 1)
            if not line:
                return
            number += 1
            if len(line) > LARGEST_LINE:
                problems.add(
                    path,
                    f"the line is longer than {LARGEST_LINE:,} bytes",
                    "Shorten it; no record needs that much.",
                    line=number,
                )
                while line and not line.endswith(b"\n"):
                    line = file.readline(LARGEST_LINE)
                continue
            if number == 1 and line.startswith(BYTE_ORDER_MARK):
                line = line.removeprefix(BYTE_ORDER_MARK)
                offset = len(BYTE_ORDER_MARK)
            if line.strip():
                yield RawLine(number, line, offset)


def read_yaml(path: Path, record_type: type[T], problems: Problems, check: Check = no_checks) -> T | None:
    """The record of a YAML file, or None where it has problems."""
    data = _read(path, LARGEST_YAML, problems, "Configuration is never that large")
    text = _text(data, path, problems) if data is not None else None
    return parse_yaml(text, 1, path, record_type, problems, check) if text is not None else None


def parse_yaml(
    text: str,
    first_line: int,
    path: Path,
    record_type: type[T],
    problems: Problems,
    check: Check = no_checks,
) -> T | None:
    """The record in a YAML text whose first line is line `first_line` of the file."""
    import yaml

    before = len(problems)
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        _forbid_sharing(node, set(), path, first_line, problems)
        value = loader.construct_document(node) if node is not None and len(problems) == before else None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error)
        line = first_line + (mark.line if mark else 0)
        problems.add(path, f"not valid YAML: {reason}", "Correct the syntax.", line=line)
        return None
    finally:
        loader.dispose()
    if len(problems) > before:
        return None

    def line_of(path: FieldPath) -> int:
        return first_line + _yaml_line(node, path)

    return _convert({} if value is None else value, record_type, path, line_of, problems, check)


def violations_of(value: Any, expected: Any, path: FieldPath = ()) -> Iterator[Violation]:
    """Every place where a plain value departs from a type, not only the first."""
    try:
        msgspec.convert(value, expected)
    except (msgspec.ValidationError, RecursionError) as error:
        found = list(_nested_violations(value, expected, path))
        yield from found or [_violation(str(error), path)]


def json_line(text: str, path: FieldPath) -> int:
    """The line on which the value at a path of a JSON text stands, or the nearest value around it."""
    position = 0
    try:
        for part in path:
            position = _step(text, _skip_space(text, position), part)
    except (ValueError, IndexError, StopIteration, RecursionError):
        pass
    return text.count("\n", 0, _skip_space(text, position)) + 1


def shown(path: FieldPath) -> str:
    """A path as people write it: `expectedConcepts[3].label`."""
    return re.sub(r"^\.", "", "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path))


def _read(path: Path, limit: int, problems: Problems, remedy: str) -> bytes | None:
    try:
        size = path.stat().st_size
        if size > limit:
            problems.add(path, f"the file has {size:,} bytes; the limit is {limit:,}", f"{remedy}.", line=1)
            return None
        return path.read_bytes()
    except OSError as error:
        problems.add(path, f"cannot be read: {error.strerror}", "Check the path and its permissions.")
        return None


def _text(data: bytes, path: Path, problems: Problems) -> str | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.add(path, f"byte {error.start} is not UTF-8", "Save the file as UTF-8.", line=line)
        return None
    if not text.strip():
        problems.add(path, "the file is empty", "Fill it, or remove it.", line=1)
        return None
    return text


def _report_syntax(text: str, first_line: int, error: Exception, path: Path, problems: Problems) -> None:
    try:
        json.loads(text)
        line, reason = first_line, str(error)
    except json.JSONDecodeError as located:
        line, reason = first_line + located.lineno - 1, f"{located.msg} at column {located.colno}"
    except RecursionError:
        line, reason = first_line, "nested too deeply"
    problems.add(path, f"not valid JSON: {reason}", "Correct the syntax.", line=line)


def _report_line(
    line: bytes, number: int, record_type: type[T], path: Path, problems: Problems, check: Check
) -> None:
    try:
        text = line.decode("utf-8")
        raw = msgspec.json.decode(text)
    except UnicodeDecodeError as error:
        problems.add(path, f"byte {error.start} of the line is not UTF-8", "Save it as UTF-8.", line=number)
    except (msgspec.DecodeError, RecursionError) as error:
        truncated = "" if line.endswith(b"\n") else " (the line may be cut off: it has no line end)"
        problems.add(path, f"not valid JSON: {error}{truncated}", "Correct the syntax.", line=number)
    else:
        _convert(raw, record_type, path, lambda _: number, problems, check)


def _convert(
    value: Any,
    record_type: type[T],
    path: Path,
    line_of: Callable[[FieldPath], int],
    problems: Problems,
    check: Check,
    prefix: FieldPath = (),
) -> T | None:
    found = [*violations_of(value, record_type), *_misspelt(value, record_type)]
    record = None
    if not found:
        record = msgspec.convert(value, record_type)
        found = list(check(record))
    for violation in found:
        problems.add(
            path,
            violation.message,
            violation.remedy,
            line=line_of(violation.path),
            field=shown((*prefix, *violation.path)),
        )
    return None if found else record


def _violation(message: str, path: FieldPath) -> Violation:
    reason, _, inner = message.partition(" - at ")
    return Violation((*path, *_parse_path(inner)), reason.replace("`", "'"), "Correct the value.")


def _parse_path(shown_by_msgspec: str) -> FieldPath:
    parts = re.findall(r"\.([^.\[\]`]+)|\[(\d+)\]", shown_by_msgspec)
    return tuple(name or int(index) for name, index in parts)


def _nested_violations(value: Any, expected: Any, path: FieldPath) -> Iterator[Violation]:
    origin, arguments = typing.get_origin(expected), typing.get_args(expected)
    if origin in (typing.Union, types.UnionType):
        members = [argument for argument in arguments if argument is not type(None)]
        if len(members) == 1:
            yield from violations_of(value, members[0], path)
    elif isinstance(expected, type) and issubclass(expected, msgspec.Struct) and isinstance(value, dict):
        hints = typing.get_type_hints(expected)
        for field in msgspec.structs.fields(expected):
            name = field.encode_name
            if name in value:
                yield from violations_of(value[name], hints[field.name], (*path, name))
            elif field.required:
                yield Violation((*path, name), "is missing", "Add it.")
        if expected.__struct_config__.forbid_unknown_fields:
            yield from _unknown_fields(value, expected, path)
    elif origin in (list, tuple) and isinstance(value, list):
        for index, element in enumerate(value):
            yield from violations_of(element, arguments[0], (*path, index))
    elif origin is dict and isinstance(value, dict):
        for key, element in value.items():
            yield from violations_of(element, arguments[1], (*path, str(key)))


def _unknown_fields(
    value: dict[Any, Any], expected: type[msgspec.Struct], path: FieldPath
) -> Iterator[Violation]:
    known = [field.encode_name for field in msgspec.structs.fields(expected)]
    for name in value:
        if name not in known:
            yield Violation((*path, str(name)), "is not a known field", f"Known: {', '.join(known)}.")


def _misspelt(value: Any, record_type: Any) -> Iterator[Violation]:
    """Unknown fields that are close to a known one: ignoring them would lose what a person wrote."""
    if not (
        isinstance(value, dict) and isinstance(record_type, type) and issubclass(record_type, msgspec.Struct)
    ):
        return
    known = [field.encode_name for field in msgspec.structs.fields(record_type)]
    for name in value:
        if name not in known and isinstance(name, str):
            near = get_close_matches(name, [other for other in known if other not in value], 1, 0.8)
            if near:
                yield Violation((name,), "is not a known field", f"Did you mean {near[0]}?")


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _element_starts(text: str) -> list[int]:
    """Where each element of a JSON list begins."""
    decoder = json.JSONDecoder()
    starts = []
    position = _skip_space(text, _skip_space(text, 0) + 1)
    while text[position] != "]":
        starts.append(position)
        _, position = decoder.raw_decode(text, position)
        position = _skip_space(text, position)
        if text[position] == ",":
            position = _skip_space(text, position + 1)
    return starts


def _step(text: str, position: int, part: str | int) -> int:
    """The position of a member of the object or list that starts at a position."""
    decoder = json.JSONDecoder()
    if text[position] != ("{" if isinstance(part, str) else "["):
        raise ValueError(part)
    position += 1
    for index in range(len(text)):
        position = _skip_space(text, position)
        here: str | int = index
        if isinstance(part, str):
            here, position = decoder.raw_decode(text, position)
            position = _skip_space(text, _skip_space(text, position) + 1)
        if here == part:
            return position
        _, position = decoder.raw_decode(text, position)
        position = _skip_space(text, position)
        if text[position] != ",":
            raise ValueError(part)
        position += 1
    raise ValueError(part)


def _yaml_line(node: Any, path: FieldPath) -> int:
    for part in path:
        value = getattr(node, "value", None)
        if not isinstance(value, list):
            break
        if isinstance(part, int):
            if part >= len(value):
                break
            node = value[part]
            continue
        child = next((pair for pair in value if isinstance(pair, tuple) and pair[0].value == part), None)
        if child is None:
            break
        node = child[1]
    return int(node.start_mark.line) if node is not None else 0


def _forbid_sharing(node: Any, seen: set[int], path: Path, first_line: int, problems: Problems) -> None:
    """Refuse aliases (a few lines of them expand to gigabytes) and keys that stand twice."""
    if node is None:
        return
    line = first_line + node.start_mark.line
    if id(node) in seen:
        problems.add(path, "YAML aliases are not allowed", "Write the value out.", line=line)
        return
    seen.add(id(node))
    if not isinstance(node.value, list):
        return
    keys: set[str] = set()
    for child in node.value:
        if not isinstance(child, tuple):
            _forbid_sharing(child, seen, path, first_line, problems)
            continue
        key, value = child
        name = str(key.value)
        if name in keys:
            where = first_line + key.start_mark.line
            problems.add(path, "stands twice", "Keep one of them.", line=where, field=name)
        keys.add(name)
        _forbid_sharing(value, seen, path, first_line, problems)
