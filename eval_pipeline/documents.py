"""Reading JSON, JSON Lines and YAML into typed records; every violation is named with its place."""

from __future__ import annotations

import json
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Generic, NamedTuple, TypeVar

import msgspec

from eval_pipeline.content import canonical_json
from eval_pipeline.problems import Problems

T = TypeVar("T")

LARGEST_FILE = 64 * 2**20
LARGEST_LINE = 16 * 2**20
BLOCK = 2**18
LARGEST_YAML = 2**20
MOST_LOCATED = 100
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


class Part(NamedTuple):
    """Some whole lines of a file: where they start and end, and the number of the first."""

    start: int = 0
    end: int = sys.maxsize
    line: int = 1


WHOLE = Part()


Check = Callable[[Any], Iterable[Violation]]
Glance = Callable[[Sequence[Any]], bool]
"""Whether a quick look at many records at once shows that a check finds nothing in any of them."""


def no_checks(record: Any) -> Iterable[Violation]:
    """For records whose type says everything."""
    return ()


def no_glance(records: Sequence[Any]) -> bool:
    """For checks that take one record after the other."""
    return False


def read_json(
    path: Path, record_type: type[T], problems: Problems, check: Check = no_checks
) -> Iterator[Located[T]]:
    """The records of a JSON file: one object, or a list of them."""
    data = _read(path, LARGEST_FILE, problems, "Split it, or use JSON Lines (.jsonl)")
    text = _text(data, path, problems) if data is not None else None
    if text is None:
        return
    try:
        raw = msgspec.json.decode(text)
        starts = _element_starts(text) if isinstance(raw, list) else [0]
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        line, reason = _syntax_error(text, error)
        problems.add(path, f"not valid JSON: {reason}", "Correct the syntax.", line=line)
        return
    records = raw if isinstance(raw, list) else [raw]
    if not records:
        problems.add(path, "the list is empty", "Add at least one record.", line=1)
    line, counted = 1, 0
    for index, (record, start) in enumerate(zip(records, starts, strict=True)):
        line, counted = line + text.count("\n", counted, start), start

        def line_of(field: FieldPath, start: int = start) -> int:
            return json_line(text, field, start)

        prefix: FieldPath = (index,) if isinstance(raw, list) else ()
        converted = _convert(record, record_type, path, line_of, problems, check, prefix)
        if converted is not None:
            yield Located(converted, line)


class Records(NamedTuple, Generic[T]):
    """Some records of a file, and the line of each."""

    records: Sequence[T]
    lines: Sequence[int]


def read_json_lines(
    path: Path, record_type: type[T], problems: Problems, check: Check = no_checks
) -> Iterator[Located[T]]:
    """The records of a JSON Lines file; blank lines are skipped."""
    for records, lines in read_json_blocks(path, record_type, problems, check):
        yield from map(Located, records, lines)


def read_json_blocks(
    path: Path,
    record_type: type[T],
    problems: Problems,
    check: Check = no_checks,
    glance: Glance = no_glance,
    part: Part = WHOLE,
) -> Iterator[Records[T]]:
    """The records of a JSON Lines file, block by block.

    A block in which every line is a record is decoded at once. Any other goes line by line, which is
    slower and names everything that is wrong.
    """
    before, empty = len(problems), True
    decoder = _strict_decoder(typing.cast(Any, record_type))
    for block in line_blocks(path, problems, part):
        records = decode_block(decoder, block.data) if decoder else None
        if records is None or not (glance(records) or not any(map(any, map(check, records)))):
            good: list[T] = []
            lines: list[int] = []
            for number, line, _ in block.lines():
                empty = False
                raw = decode_line(line, number, path, problems)
                if raw is not None:
                    record = _convert(raw.value, record_type, path, lambda _: number, problems, check)  # noqa: B023
                    if record is not None:
                        good.append(record)
                        lines.append(number)
            yield Records(good, lines)
        else:
            empty = False
            yield Records(records, range(block.number, block.number + len(records)))
    if empty and len(problems) == before:
        problems.add(path, "the file is empty", "Add at least one line.", line=1)


def read_tsv(
    path: Path, record_type: type[T], problems: Problems, check: Check = no_checks
) -> Iterator[Located[T]]:
    """The records of a table in tab-separated text: a header that names fields, then a row for each record.

    There is no quoting; an empty cell leaves its field out, and blank lines are skipped.
    """
    text = read_text(path, problems)
    if text is None:
        return
    before = len(problems)
    header, *lines = (line.removesuffix("\r") for line in text.split("\n"))
    names = [name.strip() for name in header.split("\t")]
    for name in _required(record_type):
        if name not in names:
            problems.add(path, "is missing in the header", "Name the columns.", line=1, field=name)
    for name in {name for name in names if names.count(name) > 1}:
        problems.add(path, "stands twice in the header", "Keep one of them.", line=1, field=name)
    if not any(line.strip() for line in lines):
        problems.add(path, "the table has no rows", "Add at least one.", line=1)
    usable = len(problems) == before
    for number, line in enumerate(lines, 2):
        cells = line.split("\t")
        if not line.strip():
            continue
        if len(cells) != len(names):
            told = f"{len(cells)} cells, the header has {len(names)}"
            problems.add(path, told, "Separate cells by tabs.", line=number)
        elif usable:
            value = {name: cell.strip() for name, cell in zip(names, cells, strict=True) if cell.strip()}
            record = _convert(value, record_type, path, lambda _: number, problems, check)  # noqa: B023
            if record is not None:
                yield Located(record, number)


def _required(record_type: type[Any]) -> list[str]:
    return [each.encode_name for each in msgspec.structs.fields(record_type) if each.required]


@cache
def _strict_decoder(record_type: type[Any]) -> msgspec.json.Decoder[Any] | None:
    """A decoder that refuses unknown fields, so that a misspelt one is noticed; None where it cannot tell.

    Unknown fields are only noticed at the top level: records that hold other records go line by line.
    """
    if not _is_struct(record_type) or any(map(_holds_records, typing.get_type_hints(record_type).values())):
        return None
    strict = msgspec.defstruct(record_type.__name__, [], bases=(record_type,), forbid_unknown_fields=True)
    return msgspec.json.Decoder(strict)


def decode_block(decoder: msgspec.json.Decoder[Any], data: bytes) -> list[Any] | None:
    """What stands on every line of a block; None where a line is blank or cannot be decoded."""
    try:
        records = decoder.decode_lines(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return records if len(records) == lines else None


class Decoded(NamedTuple):
    """A value that was read, which may be null."""

    value: Any


def decode_line(line: bytes, number: int, path: Path, problems: Problems) -> Decoded | None:
    """The JSON value on a line, or None where it has a problem."""
    try:
        return Decoded(msgspec.json.decode(line.decode()))
    except UnicodeDecodeError as error:
        told = f"byte {error.start} of the line is not UTF-8"
        problems.add(path, told, "Save the file as UTF-8.", line=number)
        return None
    except (msgspec.DecodeError, RecursionError) as error:
        cut = "" if line.endswith(b"\n") else " (the line may be cut off: it has no line end)"
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        problems.add(path, f"not valid JSON: {reason}{cut}", "Correct or remove the line.", line=number)
        return None


class RawLine(NamedTuple):
    """A line of a file as it stands there."""

    number: int
    data: bytes
    offset: int


class Block(NamedTuple):
    """Some whole lines of a file: the number of the first, where it starts, and their bytes."""

    number: int
    offset: int
    data: bytes

    def lines(self) -> Iterator[RawLine]:
        """The lines that are not blank, with their line ends."""
        offset = self.offset
        for number, line in enumerate(BytesIO(self.data), self.number):
            if line.strip():
                yield RawLine(number, line, offset)
            offset += len(line)


def parts_in_step(first: Path, second: Path, count: int) -> list[tuple[Part, Part]]:
    """Two files cut into parts, so that a part of one and that of the other begin at the same line."""
    size = first.stat().st_size
    cuts = [(0, 0, 1)]
    with first.open("rb") as one, second.open("rb") as other:
        for number in range(1, count):
            start, beside, line = cuts[-1]
            one.seek(max(size * number // count, start))
            one.readline()
            end = one.tell()
            lines = _count_lines(one, start, end)
            cuts.append((end, _after_lines(other, beside, lines), line + lines))
    ends = [*cuts[1:], (sys.maxsize, sys.maxsize, 0)]
    return [
        (Part(start, end, line), Part(beside, beside_end, line))
        for (start, beside, line), (end, beside_end, _) in zip(cuts, ends, strict=True)
    ]


def _count_lines(file: IO[bytes], start: int, end: int) -> int:
    file.seek(start)
    count = 0
    while data := file.read(min(BLOCK, end - file.tell())):
        count += data.count(b"\n")
    return count


def _after_lines(file: IO[bytes], start: int, lines: int) -> int:
    """The place after that many lines."""
    file.seek(start)
    while data := file.read(BLOCK):
        found = data.count(b"\n")
        if found >= lines:
            end = 0
            for _ in range(lines):
                end = data.find(b"\n", end) + 1
            return file.tell() - len(data) + end
        lines -= found
    return file.tell()


def line_blocks(path: Path, problems: Problems, part: Part = WHOLE) -> Iterator[Block]:
    """The lines of a file, many at a time; a line that is too long is a problem."""
    if not path.is_file():
        problems.add(path, "is not a file", "Check the path.")
        return
    with path.open("rb") as file:
        number, offset, rest, ended = part.line, file.seek(part.start), b"", False
        while not ended:
            read = file.read(min(BLOCK, max(part.end - file.tell(), 0)))
            ended = not read
            data = rest + read
            if number == 1 and not rest and data.startswith(BYTE_ORDER_MARK):
                data, offset = data.removeprefix(BYTE_ORDER_MARK), len(BYTE_ORDER_MARK)
            # Only the first line of a block can be too long: all others began in what was just read.
            first = data.find(b"\n") + 1 or len(data)
            if first > LARGEST_LINE:
                problems.add(
                    path,
                    f"the line is longer than {LARGEST_LINE:,} bytes",
                    "Shorten it; no record needs that much.",
                    line=number,
                )
                if not data.endswith(b"\n", 0, first):
                    offset += len(data) + _skip_line(file)
                    number, rest = number + 1, b""
                    continue
                number, offset, data = number + 1, offset + first, data[first:]
            end = len(data) if ended else data.rfind(b"\n") + 1
            block, rest = data[:end], data[end:]
            if block:
                yield Block(number, offset, block)
                number, offset = number + block.count(b"\n"), offset + end


def _skip_line(file: IO[bytes]) -> int:
    """Read to the end of a line, and say how far that was."""
    skipped = 0
    while part := file.readline(BLOCK):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def json_lines(path: Path, problems: Problems) -> Iterator[RawLine]:
    """The non-blank lines of a file, with their numbers and offsets; a line that is too long is a problem."""
    for block in line_blocks(path, problems):
        yield from block.lines()


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
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        _forbid_sharing(node, set(), path, first_line, problems)
        value = loader.construct_document(node) if node is not None and len(problems) == before else None
        canonical_json(value)
    except Exception as error:  # PyYAML raises what its constructors happen to raise
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        line = first_line + (mark.line if mark else 0)
        problems.add(path, f"not valid YAML: {reason}", "Correct the syntax.", line=line)
        return None
    if len(problems) > before:
        return None

    def line_of(field: FieldPath) -> int:
        return first_line + _yaml_line(node, field)

    return _convert({} if value is None else value, record_type, path, line_of, problems, check)


def read_text(path: Path, problems: Problems, *, blank: bool = False) -> str | None:
    """A text file to the letter, line ends included; a blank one is a problem unless `blank` allows it."""
    data = _read(path, LARGEST_FILE, problems, "Split it")
    if data is None or (blank and not data.strip()):
        return None if data is None else data.decode()
    return _text(data, path, problems)


def violations_of(value: Any, expected: Any, path: FieldPath = ()) -> Iterator[Violation]:
    """Every place where a plain value departs from a type, not only the first."""
    try:
        msgspec.convert(value, expected)
    except (msgspec.ValidationError, RecursionError) as error:
        found = list(_nested_violations(value, expected, path))
        yield from found or [_violation(str(error), path)]


def json_line(text: str, path: FieldPath, start: int = 0) -> int:
    """The line of the value at a path of the JSON that starts at `start`, or of the nearest one around it."""
    position = start
    try:
        for part in path:
            position = _step(text, _skip_space(text, position), part)
    except (ValueError, IndexError, RecursionError):
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


def _syntax_error(text: str, error: Exception) -> tuple[int, str]:
    """The line of a syntax error, and what it is."""
    if isinstance(error, RecursionError):
        return 1, "nested too deeply"
    try:
        json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as located:
        return located.lineno, f"{located.msg} at column {located.colno}"
    except (ValueError, RecursionError) as other:
        return 1, str(other)
    return 1, str(error)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _convert(
    value: Any,
    record_type: type[T],
    path: Path,
    line_of: Callable[[FieldPath], int],
    problems: Problems,
    check: Check,
    prefix: FieldPath = (),
) -> T | None:
    found = [*violations_of(value, record_type), *misspelt(value, record_type)]
    record = None
    if not found:
        record = msgspec.convert(value, record_type)
        found = list(check(record))
    for number, violation in enumerate(found):
        problems.add(
            path,
            violation.message,
            violation.remedy,
            # Finding a line reads the text; where everything is wrong, the record's own line will do.
            line=line_of(violation.path if number < MOST_LOCATED else ()),
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
    elif _is_struct(expected) and isinstance(value, dict):
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
    known = _field_types(expected)
    for name in value:
        if name not in known:
            yield Violation((*path, str(name)), "is not a known field", f"Known: {', '.join(known)}.")


def misspelt(value: Any, expected: Any, path: FieldPath = ()) -> Iterator[Violation]:
    """Unknown fields that are close to a known one: ignoring them would lose what a person wrote."""
    if isinstance(value, list):
        arguments = typing.get_args(expected)
        if arguments and _is_struct(arguments[0]):
            for index, element in enumerate(value):
                yield from misspelt(element, arguments[0], (*path, index))
    if not (isinstance(value, dict) and _is_struct(expected)):
        return
    fields = _field_types(expected)
    if fields.keys() >= value.keys() and not any(
        isinstance(member, dict | list) for member in value.values()
    ):
        return
    absent = [name for name in fields if name not in value]
    for name, member in value.items():
        if name in fields:
            yield from misspelt(member, fields[name], (*path, name))
        elif absent and isinstance(name, str) and (near := get_close_matches(name, absent, 1, 0.8)):
            yield Violation((*path, name), "is not a known field", f"Did you mean {near[0]}?")


@cache
def _field_types(expected: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.encode_name: field.type for field in msgspec.structs.fields(expected)}


def _holds_records(kind: Any) -> bool:
    return _is_struct(kind) or any(map(_holds_records, typing.get_args(kind)))


def _is_struct(expected: Any) -> bool:
    return isinstance(expected, type) and issubclass(expected, msgspec.Struct)


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
    """The line of the key that leads to a value, or of the nearest one around it."""
    line = node.start_mark.line if node is not None else 0
    for part in path:
        value = getattr(node, "value", None)
        if not isinstance(value, list):
            break
        if isinstance(part, int):
            if part >= len(value):
                break
            node = value[part]
            line = node.start_mark.line
            continue
        child = next((pair for pair in value if isinstance(pair, tuple) and pair[0].value == part), None)
        if child is None:
            break
        line, node = child[0].start_mark.line, child[1]
    return int(line)


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
