"""Files of recorded answers: JSON Lines, indexed by case and trial."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate
from operator import attrgetter, lt
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import msgspec

from eval_pipeline.answers.parsing import LARGEST_OUTPUT, decoded, first_json
from eval_pipeline.answers.record import FIRST_TRIAL, LARGEST_TRIAL, Answer
from eval_pipeline.files import RawLine, decode_block, decode_line, line_blocks, shown_field, violations_of
from eval_pipeline.problems import Problems


class RecordedLine(msgspec.Struct, frozen=True):
    """A line of an outputs file."""

    case_id: str
    trial: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_TRIAL)] = FIRST_TRIAL
    output: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None
    detail: str = ""
    latency_ms: float | None = None
    cost_usd: float | None = None
    tokens: int | dict[str, int] | None = None

    def answer(self) -> Answer:
        """The answer this line records; a text output is taken as what the model wrote."""
        raw = bytes(self.output).decode("utf-8", "replace")
        text = None if raw == "null" else msgspec.json.decode(raw, type=str) if raw[0] == '"' else raw
        return Answer(
            self.case_id,
            self.trial,
            text,
            self.error,
            self.detail,
            self.latency_ms,
            self.cost_usd,
            self.tokens,
        )


def recorded_line(answer: Answer, output_type: type = object) -> bytes:
    """An answer as a line of an outputs file; what was carried becomes part of the output.

    Only objects and lists are written as JSON. Any other text is written as a text, so that it is
    read back as what the model wrote; only where something was carried, the JSON in it takes its place.
    Where outputs are plain text, all of them are written as texts.
    """
    output: Any = answer.text if output_type is str else _json_output(answer)
    line = RecordedLine(
        answer.case_id,
        answer.trial,
        msgspec.Raw(msgspec.json.encode(output)),
        answer.error,
        answer.detail,
        answer.latency_ms,
        answer.cost_usd,
        answer.tokens,
    )
    return msgspec.json.encode(line) + b"\n"


def _json_output(answer: Answer) -> Any:
    output: Any = answer.text
    carried = msgspec.json.decode(answer.carried) or {}
    value = decoded(answer.text)
    if isinstance(value, dict | list):
        output = value
    elif carried and isinstance(inner := first_json(answer.text), dict):
        output = inner
    return {**output, **carried} if isinstance(output, dict) else output


Line = TypeVar("Line", bound=msgspec.Struct)


@dataclass(frozen=True)
class Shortcut(Generic[Line]):
    """How lines with nothing unusual about them are read, many at a time."""

    line: type[Line]
    """Such a line; the id and `trial` are among its fields."""
    output: Callable[[Line], Any]
    """The output on it, or None where it deserves a closer look."""

    def lines(self, data: bytes) -> list[Line | None]:
        """What stands on every line; None where it is unusual."""
        return self._lines(data, msgspec.json.Decoder(self.line))

    def outputs(self, data: bytes) -> list[Any]:
        """The output on every line; None where it deserves a closer look."""
        return [line and self.output(line) for line in self.lines(data)]

    def _lines(self, data: bytes, decoder: msgspec.json.Decoder[Line]) -> list[Line | None]:
        try:
            if len(data) <= LARGEST_OUTPUT:
                return [*decoder.decode_lines(data)]
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            pass
        # Something is unusual about one of them at least; halving finds it soon, and spares the others.
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
    """The part of a line that an index needs, `id_field` and `trial` among it; all of it by default."""
    shortcut: Shortcut[Any] | None = None
    """From lines to outputs without an `Answer` around each."""
    forgives_cut: bool = False
    """Whether a last line that was cut off is a warning, and no problem."""


class AnswerFile:
    """A JSON Lines file of answers, indexed by case and trial: lines stay on disk until they are needed."""

    def __init__(self, path: Path, format_: LineFormat[Any]) -> None:
        self._path = path
        self._format = format_
        self._decoder = msgspec.json.Decoder(format_.line)
        self._places: dict[int, dict[str, int]] = {}
        self.repeated = 0
        self.warnings = Problems()
        """What is odd about the file and yet no reason to refuse it."""

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
        """The outputs for some cases, where the format has a shortcut; None where `get` must be asked."""
        shortcut = self._format.shortcut
        if shortcut is None:
            return [None] * len(case_ids)
        data = self._span(case_ids, trial)
        if data is not None:
            return shortcut.outputs(data)
        lines = self._lines(case_ids, trial)
        found = iter(shortcut.outputs(b"".join(lines)))
        return [next(found) if line else None for line in lines]

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
        found, position = [], -1
        with self._path.open("rb") as file:
            for case_id in case_ids:
                offset = places.get(case_id)
                if offset is None:
                    found.append(b"")
                    continue
                if offset != position:
                    file.seek(offset)
                line = file.readline()
                position = offset + len(line)
                found.append(ended(line))
        return found

    def without_case(self, known: Collection[str]) -> list[str]:
        """The case ids of lines that no golden case asks for."""
        if all(sum(map(places.__contains__, known)) == len(places) for places in self._places.values()):
            return []
        asked = set(known)
        return sorted({case_id for places in self._places.values() for case_id in places} - asked)


def ended(line: bytes) -> bytes:
    """A line with a line end, which the last one of a file may lack."""
    return line if line.endswith(b"\n") else line + b"\n"


def index_lines(path: Path, problems: Problems, format_: LineFormat[Line]) -> AnswerFile:
    """Open an outputs file of some format; lines that cannot be used go to `problems`."""
    answers = AnswerFile(path, format_)
    decoder = msgspec.json.Decoder(format_.line)
    brief = msgspec.json.Decoder(format_.brief or format_.line)
    for block in line_blocks(path, problems):
        records = decode_block(brief, block.data) or ()
        ids = list(map(attrgetter(format_.id_field), records))
        trials = set(map(attrgetter("trial"), records))
        if len(trials) == 1 and all(ids):
            offsets = list(accumulate(map(len, BytesIO(block.data)), initial=block.offset))[:-1]
            answers.remember(ids, trials.pop(), offsets)
        else:
            for raw in block.lines():
                _index_line(answers, raw, path, problems, decoder, format_)
    return answers


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
        if case_id:
            answers.remember([case_id], trial, [raw.offset])
        else:
            problems.add(path, "is missing or blank", format_.remedy, line=raw.number, field=format_.id_field)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
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


RECORDED = LineFormat(
    RecordedLine,
    key=lambda line: (line.case_id, line.trial),
    answer=RecordedLine.answer,
    id_field="case_id",
    remedy='A line is {"case_id": "…", "trial": 1, "output": {…}}.',
)


def index_answers(path: Path, problems: Problems) -> AnswerFile:
    """Open an outputs file: a JSON object per line, as `RecordedLine` has it."""
    return index_lines(path, problems, RECORDED)
