"""JSON files into typed records; every problem is named with its line."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from eval_pipeline.files.text import LARGEST_FILE, decoded_text, read_bytes
from eval_pipeline.files.violations import Check, FieldPath, Located, T, converted, no_checks
from eval_pipeline.problems import Problems

_ANY = msgspec.json.Decoder()
ESCAPED_COLON = rb"\u003"
"""As it begins, in either case of its last letter."""


def read_json(
    path: Path, record_type: type[T], problems: Problems, check: Check = no_checks
) -> Iterator[Located[T]]:
    """The records of a JSON file: one object, or a list of them."""
    data = read_bytes(path, LARGEST_FILE, problems, "Split it, or use JSON Lines (.jsonl)")
    text = decoded_text(data, path, problems) if data is not None else None
    if text is None:
        return
    try:
        raw = msgspec.json.decode(text)
        starts = _element_starts(text) if isinstance(raw, list) else [0]
        twice = repeated_key(text)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        line, reason = _syntax_error(text, error)
        problems.add(path, f"not valid JSON: {reason}", "Correct the syntax.", line=line)
        return
    if twice is not None:
        problems.add(path, "stands twice in an object", "Keep one of them.", line=1, field=twice)
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
        typed = converted(record, record_type, path, line_of, problems, check, prefix)
        if typed is not None:
            yield Located(typed, line)


def repeated_key(text: str | bytes) -> str | None:
    """A key that stands twice in one object of a JSON text, where the last one would count unnoticed."""
    twice: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> None:
        if len(dict(pairs)) < len(pairs):
            names = [name for name, _ in pairs]
            twice.append(next(name for name in names if names.count(name) > 1))

    json.loads(text, object_pairs_hook=note)
    return twice[0] if twice else None


def may_repeat_keys(lines: bytes) -> bool:
    """Whether a quick look at lines of JSON leaves it possible that a key stands twice in an object.

    Written anew, the same values have as many colons, unless one of two keys with the same name was lost.
    """
    if ESCAPED_COLON in lines:  # written anew it is one more
        return True
    try:
        anew = msgspec.json.encode(_ANY.decode_lines(lines))
    except (msgspec.DecodeError, UnicodeError, RecursionError, OverflowError):
        return True
    return lines.count(b":") != anew.count(b":")


def json_line(text: str, path: FieldPath, start: int = 0) -> int:
    """The line of the value at a path of the JSON that starts at `start`, or of the nearest one around it."""
    position = start
    try:
        for part in path:
            position = _step(text, _skip_space(text, position), part)
    except (ValueError, IndexError, RecursionError):
        pass
    return text.count("\n", 0, _skip_space(text, position)) + 1


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
