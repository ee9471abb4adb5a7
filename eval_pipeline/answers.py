"""What engines answered: one record per case and trial, and the JSON Lines file that holds recorded ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Protocol

import msgspec

from eval_pipeline.documents import decode_line, json_lines, shown, violations_of
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
    """What `prepare` contributes to the output, as JSON."""


class AnswerSource(Protocol):
    """Answers that can be looked up by case and trial."""

    @property
    def trials(self) -> tuple[int, ...]:
        """The trials there are, in order."""

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        """The answer for a case with that input in a trial, if there is one."""


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
            merged = {**carried, **value} if isinstance(value, dict) else value
            return Usable(msgspec.convert(merged, output_type))
        except msgspec.ValidationError as error:
            return Failure(SCHEMA, str(error))
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            reason = reason or str(error)
    return Failure(NOT_JSON, reason)


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
    read back as what the model wrote.
    """
    output: Any = answer.text
    if answer.text is not None:
        with suppress(msgspec.DecodeError, RecursionError):
            decoded = msgspec.json.decode(answer.text)
            output = decoded if isinstance(decoded, dict | list) else answer.text
    if isinstance(output, dict):
        output = {**(msgspec.json.decode(answer.carried) or {}), **output}
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


Decode = Callable[[bytes], Answer]


class AnswerFile:
    """A JSON Lines file of answers, indexed by case and trial: lines stay on disk until they are needed."""

    def __init__(self, path: Path, decode: Decode) -> None:
        self._path = path
        self._decode = decode
        self._places: dict[tuple[str, int], tuple[int, int]] = {}
        self.repeated = 0

    def remember(self, answer: Answer, offset: int, length: int) -> None:
        """Index a line; of several for one case and trial the last one counts."""
        key = (answer.case_id, answer.trial)
        self.repeated += key in self._places
        self._places[key] = (offset, length)

    @property
    def trials(self) -> tuple[int, ...]:
        """The trials that any line names, in order."""
        return tuple(sorted({trial for _, trial in self._places})) or (FIRST_TRIAL,)

    def get(self, case_id: str, trial: int, input_hash: str = "") -> Answer | None:
        """The answer for a case in a trial, if there is one; a file does not say for which input."""
        place = self._places.get((case_id, trial))
        if place is None:
            return None
        offset, length = place
        with self._path.open("rb") as file:
            file.seek(offset)
            return self._decode(file.read(length))

    def without_case(self, known: Iterable[str]) -> list[str]:
        """The case ids of lines that no golden case asks for."""
        return sorted({case_id for case_id, _ in self._places} - set(known))


def index_answers(path: Path, problems: Problems) -> AnswerFile:
    """Open an outputs file: a JSON object per line, as `RecordedLine` has it."""
    decoder = msgspec.json.Decoder(RecordedLine)

    def decode(line: bytes) -> Answer:
        return decoder.decode(line).answer()

    answers = AnswerFile(path, decode)
    for number, line, offset in json_lines(path, problems):
        try:
            answers.remember(decode(line), offset, len(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            _report(line, number, path, problems)
    return answers


def _report(line: bytes, number: int, path: Path, problems: Problems) -> None:
    decoded = decode_line(line, number, path, problems)
    for violation in violations_of(decoded.value, RecordedLine) if decoded else ():
        if violation.path[:1] != ("output",):  # any JSON will do there
            problems.add(
                path,
                violation.message,
                'A line is {"case_id": "…", "trial": 1, "output": {…}}.',
                line=number,
                field=shown(violation.path),
            )
