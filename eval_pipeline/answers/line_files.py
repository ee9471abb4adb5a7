"""Files of answers in JSON Lines: how a line is read, and an index of all by case and trial."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate
from operator import attrgetter, lt
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from eval_pipeline.answers.parsing import LARGEST_OUTPUT
from eval_pipeline.answers.record import FIRST_TRIAL, Answer, Measure, TokenCount
from eval_pipeline.files import (
    RawLine,
    decode_block,
    decode_line,
    line_blocks,
    may_repeat_keys,
    repeated_key,
    shown_field,
    violations_of,
)
from eval_pipeline.problems import Problems

Line = TypeVar("Line", bound=msgspec.Struct)
UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)


class UsualLine(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What a line says besides case and output, where it records no error. Shortcuts build on it."""

    trial: int = FIRST_TRIAL
    error: None = None
    detail: str = ""
    latency_ms: Measure | None = None
    cost_usd: Measure | None = None
    tokens: TokenCount | dict[str, TokenCount] | None = None


@dataclass(frozen=True)
class Shortcut(Generic[Line]):
    """Reads outputs from many usual lines at a time, without an `Answer` around each.

    It must refuse every line that `LineFormat.line` refuses, and yield what parsing its answer would yield.
    """

    line: type[Line]
    """A usual line, with the id and `trial` among its fields."""
    output: Callable[[Line], Any]
    """The output on a usual line; None where the line is unusual after all."""

    def lines(self, data: bytes) -> list[Line | None]:
        """What is on each of some whole lines; None where a line is unusual or blank."""
        return self._lines(data, msgspec.json.Decoder(self.line))

    def outputs(self, data: bytes) -> list[Any]:
        """The output on each line; None where `LineFormat.answer` must read it."""
        return [line and self.output(line) for line in self.lines(data)]

    def _lines(self, data: bytes, decoder: msgspec.json.Decoder[Line]) -> list[Line | None]:
        records = decode_block(decoder, data) if len(data) <= LARGEST_OUTPUT else None
        if records is not None:
            return [*records]
        # At least one line is unusual. Halving isolates it and keeps the quick way for the others.
        middle = data.find(b"\n", len(data) // 2) + 1
        if middle == len(data):
            middle = data.rfind(b"\n", 0, len(data) - 1) + 1
        if not middle:
            return [None]
        return self._lines(data[:middle], decoder) + self._lines(data[middle:], decoder)


@dataclass(frozen=True)
class LineFormat(Generic[Line]):
    """How the lines of an outputs file are read."""

    line: type[Line]
    key: Callable[[Line], tuple[str, int]]
    """Case and trial; a blank case id is a problem."""
    answer: Callable[[Line], Answer]
    id_field: str
    remedy: str
    """What a line should look like."""
    brief: type[msgspec.Struct] | None = None
    """The part of a line that an index needs, with `id_field` and `trial`; the whole line by default."""
    shortcut: Shortcut[Any] | None = None
    forgives_cut: bool = False
    """Whether a last line that was cut off is only a warning."""

    def open(self, path: Path, problems: Problems) -> AnswerFile:
        """Index a file; lines that cannot be used go to `problems`."""
        answers = AnswerFile(path, self)
        decoder = msgspec.json.Decoder(self.line)
        brief = msgspec.json.Decoder(self.brief or self.line)
        for block in line_blocks(path, problems):
            records = () if may_repeat_keys(block.data) else decode_block(brief, block.data) or ()
            ids = list(map(attrgetter(self.id_field), records))
            trials = set(map(attrgetter("trial"), records))
            if len(trials) == 1 and all(ids):
                offsets = list(accumulate(map(len, BytesIO(block.data)), initial=block.offset))[:-1]
                answers.remember(ids, trials.pop(), offsets)
            else:
                for raw in block.lines():
                    _index_line(answers, raw, path, problems, decoder, self)
        return answers


class AnswerFormat(Protocol):
    """A format of outputs files."""

    def open(self, path: Path, problems: Problems) -> AnswerFile:
        """The answers of a file, by case and trial; what cannot be read goes to `problems`."""


class AnswerFile:
    """A JSON Lines file of answers, indexed by case and trial: lines stay on disk until they are needed."""

    def __init__(self, path: Path, format_: LineFormat[Any]) -> None:
        self._path = path
        self._format = format_
        self._decoder = msgspec.json.Decoder(format_.line)
        self._places: dict[int, dict[str, int]] = {}
        self.repeated = 0
        self.warnings = Problems()
        """Problems of the file that are no reason to refuse it."""

    def remember(self, case_ids: Sequence[str], trial: int, offsets: Sequence[int]) -> None:
        """Index lines; of several for one case and trial the last one counts."""
        places = self._places.setdefault(trial, {})
        expected = len(places) + len(case_ids)
        places.update(zip(case_ids, offsets, strict=True))
        self.repeated += expected - len(places)

    @property
    def trials(self) -> tuple[int, ...]:
        """The trials that any line names, in order."""
        return tuple(sorted(self._places)) or (FIRST_TRIAL,)

    def get(self, case_id: str, trial: int, input_hash: str = "") -> Answer | None:
        """The answer for a case in a trial, if there is one; a file does not say for which input."""
        (line,) = self._lines([case_id], trial)
        return self._format.answer(self._decoder.decode(line)) if line else None

    def outputs(self, case_ids: Sequence[str], trial: int) -> list[Any]:
        """The outputs of some cases, as far as the format's shortcut yields them; elsewhere None."""
        shortcut = self._format.shortcut
        if shortcut is None:
            return [None] * len(case_ids)
        data = self._span(case_ids, trial)
        if data is not None:
            return shortcut.outputs(data)
        lines = self._lines(case_ids, trial)
        outputs = iter(shortcut.outputs(b"".join(lines)))
        return [next(outputs) if line else None for line in lines]

    def _span(self, case_ids: Sequence[str], trial: int) -> bytes | None:
        """The lines of all these cases in one piece, where they stand together and in this order."""
        places = self._places.get(trial, {})
        offsets = [places.get(case_id, -1) for case_id in case_ids]
        if not offsets or offsets[0] < 0 or not all(map(lt, offsets, offsets[1:])):
            return None
        with self._path.open("rb") as file:
            file.seek(offsets[-1])
            last = file.readline()
            file.seek(offsets[0])
            data = file.read(offsets[-1] - offsets[0] + len(last))
        return data if last.endswith(b"\n") and data.count(b"\n") == len(offsets) else None

    def _lines(self, case_ids: Sequence[str], trial: int) -> list[bytes]:
        """The line of each case; empty where there is none."""
        places = self._places.get(trial, {})
        lines, position = [], -1
        with self._path.open("rb") as file:
            for case_id in case_ids:
                offset = places.get(case_id)
                if offset is None:
                    lines.append(b"")
                    continue
                if offset != position:
                    file.seek(offset)
                line = file.readline()
                position = offset + len(line)
                lines.append(ended(line))
        return lines

    def without_case(self, known: Collection[str]) -> list[str]:
        """The case ids of lines that no golden case asks for."""
        if all(sum(map(places.__contains__, known)) == len(places) for places in self._places.values()):
            return []
        asked = set(known)
        return sorted({case_id for places in self._places.values() for case_id in places} - asked)


def ended(line: bytes) -> bytes:
    """A line with a line end, which the last one of a file may lack."""
    return line if line.endswith(b"\n") else line + b"\n"


def _index_line(
    answers: AnswerFile,
    raw: RawLine,
    path: Path,
    problems: Problems,
    decoder: msgspec.json.Decoder[Line],
    format_: LineFormat[Line],
) -> None:
    try:
        case_id, trial = format_.key(decoder.decode(raw.data))
        if repeated_key(raw.data):
            _report(raw, path, problems, format_)
        elif case_id:
            answers.remember([case_id], trial, [raw.offset])
        else:
            problems.add(path, "is missing or blank", format_.remedy, line=raw.number, field=format_.id_field)
    except UNREADABLE:
        whole = raw.data.endswith(b"\n") or not format_.forgives_cut
        _report(raw, path, problems if whole else answers.warnings, format_)


def _report(raw: RawLine, path: Path, problems: Problems, format_: LineFormat[Any]) -> None:
    decoded = decode_line(raw.data, raw.number, path, problems)
    as_it_is = {field.name for field in msgspec.structs.fields(format_.line) if field.type is msgspec.Raw}
    for violation in violations_of(decoded.value, format_.line) if decoded else ():
        if violation.path[:1] and violation.path[0] in as_it_is:  # any JSON will do there
            continue
        field = shown_field(violation.path)
        problems.add(path, violation.message, format_.remedy, line=raw.number, field=field)
