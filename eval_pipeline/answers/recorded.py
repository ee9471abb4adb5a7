"""Recorded answers: the outputs file that every suite can read and that baselines are kept in."""

from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import msgspec

from eval_pipeline.answers.line_files import AnswerFile, LineFormat, Shortcut, UsualLine
from eval_pipeline.answers.parsing import decoded, first_json
from eval_pipeline.answers.record import FIRST_TRIAL, LARGEST_TRIAL, Answer, Measure, TokenCount
from eval_pipeline.problems import Problems


class RecordedLine(msgspec.Struct, frozen=True):
    """A line of an outputs file."""

    case_id: str
    trial: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_TRIAL)] = FIRST_TRIAL
    output: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None
    detail: str = ""
    latency_ms: Measure | None = None
    cost_usd: Measure | None = None
    tokens: TokenCount | dict[str, TokenCount] | None = None

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


RECORDED = LineFormat(
    RecordedLine,
    key=lambda line: (line.case_id, line.trial),
    answer=RecordedLine.answer,
    id_field="case_id",
    remedy='A line is {"case_id": "…", "trial": 1, "output": {…}}.',
)


def recorded_format(output: type[Any]) -> LineFormat[RecordedLine]:
    """The format of outputs files, with a shortcut where outputs are structs.

    Any other type may be read from a text in the file, which is what the model wrote and must be parsed.
    """
    if not (isinstance(output, type) and issubclass(output, msgspec.Struct)):
        return RECORDED
    fields = [("case_id", str), ("output", output)]
    line = msgspec.defstruct("UsualRecordedLine", fields, bases=(UsualLine,), frozen=True, kw_only=True)
    return replace(RECORDED, shortcut=Shortcut(line, attrgetter("output")))


def index_answers(path: Path, problems: Problems) -> AnswerFile:
    """Open an outputs file whose outputs may be of any type."""
    return RECORDED.open(path, problems)
