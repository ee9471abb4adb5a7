"""JSON Lines files into typed records, a block of lines at a time."""

import sys
import typing
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Generic, NamedTuple

import msgspec

from eval_pipeline.files.json import may_repeat_keys, repeated_key
from eval_pipeline.files.text import BYTE_ORDER_MARK
from eval_pipeline.files.violations import Check, Located, T, converted, holds_records, is_record, no_checks
from eval_pipeline.problems import Problems

LARGEST_LINE = 16 * 2**20
MOST_SKIPPED = 2**29
"""Of a line that is too long: what has no end by then is no text, and nothing behind it is read."""
BLOCK = 2**18


class Part(NamedTuple):
    """Some whole lines of a file: where they start and end, and the number of the first."""

    start: int = 0
    end: int = sys.maxsize
    line: int = 1


WHOLE = Part()
Glance = Callable[[Sequence[Any]], bool]
"""Whether a quick look at many records at once shows that a check finds nothing in any of them."""


def no_glance(records: Sequence[Any]) -> bool:
    """For checks that take one record after the other."""
    return False


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
        usual = decoder is not None and not may_repeat_keys(block.data)
        records = decode_block(decoder, block.data) if decoder and usual else None
        if records is None or not (glance(records) or not any(map(any, map(check, records)))):
            good: list[T] = []
            lines: list[int] = []
            for number, line, _ in block.lines():
                empty = False
                raw = decode_line(line, number, path, problems)
                if raw is not None:
                    record = converted(raw.value, record_type, path, lambda _: number, problems, check)  # noqa: B023
                    if record is not None:
                        good.append(record)
                        lines.append(number)
            yield Records(good, lines)
        else:
            empty = False
            yield Records(records, range(block.number, block.number + len(records)))
    if empty and len(problems) == before:
        problems.add(path, "the file is empty", "Add at least one line.", line=1)


@cache
def _strict_decoder(record_type: type[Any]) -> msgspec.json.Decoder[Any] | None:
    """A decoder that refuses unknown fields, so that a misspelt one is noticed; None where it cannot tell.

    Unknown fields are only noticed at the top level: records that hold other records go line by line.
    """
    if not is_record(record_type) or any(map(holds_records, typing.get_type_hints(record_type).values())):
        return None
    strict = msgspec.defstruct(record_type.__name__, [], bases=(record_type,), forbid_unknown_fields=True)
    return msgspec.json.Decoder(strict)


def decode_block(decoder: msgspec.json.Decoder[Any], data: bytes) -> list[Any] | None:
    """The records on the lines of a block, one on each; None where a line holds anything else."""
    try:
        records = decoder.decode_lines(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    lines = len(BytesIO(data).readlines())
    if len(records) != lines:
        return None
    # The decoder also takes two records on a line, and one on two lines. Where every line ends with an
    # object and the next begins with one, none of them is cut.
    ends = (b"}\n{", b"}\r\n{")
    return records if any(data.count(end) == max(lines - 1, 0) for end in ends) else None


class Decoded(NamedTuple):
    """A value that was read, which may be null."""

    value: Any


def decode_line(line: bytes, number: int, path: Path, problems: Problems) -> Decoded | None:
    """The JSON value on a line, or None where it has a problem."""
    try:
        decoded = Decoded(msgspec.json.decode(line.decode()))
        if (twice := repeated_key(line)) is not None:
            problems.add(path, "stands twice in an object", "Keep one of them.", line=number, field=twice)
            return None
        return decoded
    except UnicodeDecodeError as error:
        message = f"byte {error.start} of the line is not UTF-8"
        problems.add(path, message, "Save the file as UTF-8.", line=number)
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
        ends = data.count(b"\n")
        if ends >= lines:
            end = 0
            for _ in range(lines):
                end = data.find(b"\n", end) + 1
            return file.tell() - len(data) + end
        lines -= ends
    return file.tell()


def line_blocks(path: Path, problems: Problems, part: Part = WHOLE) -> Iterator[Block]:
    """The lines of a file, many at a time; a line that is too long is a problem."""
    if not path.is_file():
        problems.add(path, "is not a regular file", "Check the path.")
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
                    skipped = _skip_line(file)
                    if skipped > MOST_SKIPPED:
                        return
                    number, offset, rest = number + 1, offset + len(data) + skipped, b""
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
        if part.endswith(b"\n") or skipped > MOST_SKIPPED:
            break
    return skipped


def json_lines(path: Path, problems: Problems) -> Iterator[RawLine]:
    """The non-blank lines of a file, with their numbers and offsets; a line that is too long is a problem."""
    for block in line_blocks(path, problems):
        yield from block.lines()
