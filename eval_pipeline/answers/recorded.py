"""What engines answered: one record per case and trial, and the JSON Lines file that holds recorded ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate
from operator import attrgetter, lt
from pathlib import Path
from typing import Annotated, Any, Generic, Protocol, TypeVar, runtime_checkable

import msgspec

from eval_pipeline.documents import (
    Block,
    Part,
    RawLine,
    decode_block,
    decode_line,
    line_blocks,
    shown,
    violations_of,
)
from eval_pipeline.problems import Problems

FIRST_TRIAL = 1
LARGEST_TRIAL = 2**31
LARGEST_OUTPUT = 4 * 2**20

_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)

MISSING = "missing"
STALE = "stale"
TOO_LARGE = "too_large"
NOT_JSON = "not_json"
SCHEMA = "schema"


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an engine returned for one case in one trial: the text of its output, or why there is none."""

    case_id: str
    trial: int = FIRST_TRIAL
    text: str | None = None
    error: str | None = None
    detail: str = ""
    latency_ms: float | None = None
    cost_usd: float | None = None
    tokens: int | dict[str, int] | None = None
    carried: msgspec.Raw = msgspec.Raw(b"null")
    """What `prepare` contributes to the output, as JSON: it wins over what an engine says of it."""


class AnswerSource(Protocol):
    """Answers that can be looked up by case and trial."""

    @property
    def trials(self) -> tuple[int, ...]:
        """The trials there are, in order."""

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        """The answer for a case with that input in a trial, if there is one."""


@runtime_checkable
class OutputSource(AnswerSource, Protocol):
    """Answers whose outputs can be had at once, without an `Answer` around each."""

    def outputs(self, case_ids: Sequence[str], trial: int) -> list[Any]:
        """The output for each case; None where `get` must be asked."""


class Usable(msgspec.Struct, frozen=True):
    """An output that satisfies its suite's contract."""

    output: object


class Failure(msgspec.Struct, frozen=True):
    """Why a case has no usable output."""

    kind: str
    detail: str


def parse(answer: Answer | None, output_type: type) -> Usable | Failure:
    """The output in an answer, or the reason why it cannot be used."""
    if answer is None:
        return Failure(MISSING, "there is no output for this case and trial")
    if answer.error is not None:
        return Failure(answer.error, answer.detail)
    if answer.text is None:
        return Failure(MISSING, "the output is null")
    if len(answer.text) > LARGEST_OUTPUT:
        return Failure(TOO_LARGE, f"{len(answer.text):,} characters; the limit is {LARGEST_OUTPUT:,}")
    carried = msgspec.json.decode(answer.carried)
    reason = ""
    for text in _json_in(answer.text):
        try:
            if carried is None:
                return Usable(msgspec.json.decode(text, type=output_type))
            value = msgspec.json.decode(text)
            merged = {**value, **carried} if isinstance(value, dict) else value
            return Usable(msgspec.convert(merged, output_type))
        except msgspec.ValidationError as error:
            return Failure(SCHEMA, str(error))
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            reason = reason or str(error)
    return Failure(NOT_JSON, reason)


def without_own(carried: msgspec.Raw, answer: Answer) -> msgspec.Raw:
    """What was carried, as far as the answer does not say it itself."""
    own = _first_json(answer.text)
    known = msgspec.json.decode(carried)
    if not isinstance(own, dict) or known is None:
        return carried
    left = {name: value for name, value in known.items() if name not in own}
    return msgspec.Raw(msgspec.json.encode(left))


def _first_json(text: str | None) -> Any:
    """The JSON of an answer, wherever it stands in the text; None without any."""
    return next(filter(None, map(_decoded, _json_in(text or ""))), None)


def _decoded(text: str | None) -> Any:
    """A text as JSON; None where it is none."""
    with suppress(msgspec.DecodeError, UnicodeError, RecursionError):
        return None if text is None else msgspec.json.decode(text)
    return None


def _json_in(text: str) -> Iterator[str]:
    """Where the JSON of an answer may stand: all of it, a fenced block, or between the outermost braces."""
    yield text
    if fenced := _FENCED.search(text):
        yield fenced[1]
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        yield text[start : end + 1]


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


def recorded_line(answer: Answer) -> bytes:
    """An answer as a line of an outputs file; what was carried becomes part of the output.

    Only objects and lists are written as JSON. Any other text is written as a text, so that it is
    read back as what the model wrote; only where something was carried, the JSON in it takes its place.
    """
    output: Any = answer.text
    carried = msgspec.json.decode(answer.carried) or {}
    value = _decoded(answer.text)
    if isinstance(value, dict | list):
        output = value
    elif carried and isinstance(found := _first_json(answer.text), dict):
        output = found
    if isinstance(output, dict):
        output = {**output, **carried}
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
                found.append(_ended(line))
        return found

    def without_case(self, known: Collection[str]) -> list[str]:
        """The case ids of lines that no golden case asks for."""
        if all(sum(map(places.__contains__, known)) == len(places) for places in self._places.values()):
            return []
        asked = set(known)
        return sorted({case_id for places in self._places.values() for case_id in places} - asked)


class OutOfStep(Exception):
    """The lines of a file do not follow the cases one by one, or are not all in order."""


class AnswersInStep:
    """A file whose lines follow the cases one by one, all of the first trial.

    It is read once, along with the cases, and nothing of it is kept. Whatever does not fit is `OutOfStep`:
    then an `AnswerFile` tells everything about it.
    """

    trials = (FIRST_TRIAL,)
    repeated = 0

    def __init__(self, path: Path, format_: LineFormat[Any], shortcut: Shortcut[Any], part: Part) -> None:
        self.warnings = Problems()
        self._blocks = line_blocks(path, self.warnings, part)
        self._format = format_
        self._shortcut = shortcut
        self._id = attrgetter(format_.id_field)
        self._decoder = msgspec.json.Decoder(format_.line)
        self._ids: list[str] = []
        self._outputs: list[Any] = []
        self._unusual: dict[str, Answer] = {}

    def outputs(self, case_ids: Sequence[str], trial: int) -> list[Any]:
        """The outputs on the next lines, which must belong to these cases; None where `get` must be asked."""
        count = len(case_ids)
        while len(self._ids) < count and (block := next(self._blocks, None)):
            self._read(block)
        if self._ids[:count] != case_ids:
            raise OutOfStep
        found = self._outputs[:count]
        del self._ids[:count], self._outputs[:count]
        return found

    def get(self, case_id: str, trial: int, input_hash: str = "") -> Answer:
        """The answer on a line that was just read and deserves a closer look."""
        try:
            return self._unusual.pop(case_id)
        except KeyError:
            raise OutOfStep from None

    def without_case(self, known: Collection[str]) -> list[str]:
        """Nothing: where lines are left over, they are out of step."""
        if self._ids or any(self._blocks) or len(self.warnings):
            raise OutOfStep
        return []

    def _read(self, block: Block) -> None:
        data = _ended(block.data)
        lines = self._shortcut.lines(data)
        if len(lines) != data.count(b"\n"):  # some are blank
            data = b"".join(_ended(line.data) for line in block.lines())
            lines = self._shortcut.lines(data)
        ids: list[Any] = [line and self._id(line) for line in lines]
        outputs = [line and self._shortcut.output(line) for line in lines]
        trials = {line.trial for line in lines if line}
        closer = [number for number, output in enumerate(outputs) if output is None]
        for number, line in zip(closer, _picked(data, closer), strict=True):
            answer = self._answer(line)
            ids[number] = answer.case_id
            trials.add(answer.trial)
            self._unusual[answer.case_id] = answer
        if trials != {FIRST_TRIAL}:
            raise OutOfStep
        self._ids += ids
        self._outputs += outputs

    def _answer(self, line: bytes) -> Answer:
        try:
            return self._format.answer(self._decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise OutOfStep from None


def _picked(data: bytes, numbers: Sequence[int]) -> list[bytes]:
    """Some of the lines in a block."""
    lines = BytesIO(data).readlines() if numbers else []
    return [lines[number] for number in numbers]


def _ended(line: bytes) -> bytes:
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
        field = shown(violation.path)
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
