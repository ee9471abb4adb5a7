"""Traces: what a pipeline retrieved and answered, one JSON object a line, as `score` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from eval_pipeline.answers import (
    FIRST_TRIAL,
    LARGEST_OUTPUT,
    LARGEST_TRIAL,
    Answer,
    AnswerFile,
    LineFormat,
    index_answers,
    index_lines,
)
from eval_pipeline.documents import decode_line, json_lines
from eval_pipeline.problems import Problems

NULL = msgspec.Raw(b"null")


class GroundedAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The output contract: a claim, or the refusal token, and the passages that it rests on."""

    claim: str
    citations: list[str] | None = None
    retrieved_ids: list[str] | None = None
    """What was retrieved, best first; carried over where the engine does not say it."""

    def __post_init__(self) -> None:
        if not self.claim.strip():
            raise ValueError("the claim is blank")


class Trace(msgspec.Struct, frozen=True):
    """A line of a trace file. `q_id` is another spelling of `qid`."""

    qid: str = ""
    q_id: str = ""
    trial: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_TRIAL)] = FIRST_TRIAL
    retrieved_ids: msgspec.Raw = NULL
    answer_json: msgspec.Raw = NULL
    error: str | None = None
    detail: str = ""
    latency_ms: float | None = None
    cost_usd: float | None = None
    tokens: int | dict[str, int] | None = None

    def key(self) -> tuple[str, int]:
        """Case and trial."""
        return self.qid or self.q_id, self.trial

    def answer(self) -> Answer:
        """The answer that this line records."""
        return Answer(
            *self.key(),
            _output_text(bytes(self.answer_json), bytes(self.retrieved_ids)),
            self.error,
            self.detail,
            self.latency_ms,
            self.cost_usd,
            self.tokens,
        )


def _output_text(answer: bytes, retrieved: bytes) -> str | None:
    """The answer with what was retrieved as its last field: of two fields of a name the last one counts."""
    if answer == b"null":
        return None
    if answer.startswith(b"{"):
        separator = b"" if answer[1:-1].isspace() or answer == b"{}" else b","
        answer = answer[:-1] + separator + b'"retrieved_ids":' + retrieved + b"}"
    return answer.decode("utf-8", "replace")


class _Shipped(msgspec.Struct, frozen=True, gc=False):
    claim: str
    citations: list[str] | None = None


class _InOrder(msgspec.Struct, frozen=True, gc=False):
    """A trace with nothing unusual about it."""

    answer_json: _Shipped
    retrieved_ids: list[str] | None = None
    error: None = None


_IN_ORDER = msgspec.json.Decoder(_InOrder)


def _outputs(lines: Sequence[bytes]) -> list[GroundedAnswer | None]:
    """The outputs of traces that are in order; None for any other."""
    if max(map(len, lines)) <= LARGEST_OUTPUT:
        try:
            traces = _IN_ORDER.decode_lines(b"".join(lines))
            return [
                GroundedAnswer(trace.answer_json.claim, trace.answer_json.citations, trace.retrieved_ids)
                for trace in traces
            ]
        except (msgspec.DecodeError, ValueError, RecursionError):
            pass
    return [_output(line) for line in lines]


def _output(line: bytes) -> GroundedAnswer | None:
    if len(line) > LARGEST_OUTPUT:
        return None
    try:
        trace = _IN_ORDER.decode(line)
        return GroundedAnswer(trace.answer_json.claim, trace.answer_json.citations, trace.retrieved_ids)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


TRACES = LineFormat(
    Trace,
    key=Trace.key,
    answer=Trace.answer,
    id_field="qid",
    remedy='A line is {"qid": "…", "retrieved_ids": […], "answer_json": {"claim": "…", "citations": […]}}.',
    outputs=_outputs,
    forgives_cut=True,
)


def read_traces(path: Path, problems: Problems) -> AnswerFile:
    """Open a trace file, or an outputs file as every suite takes it: the first line tells which it is."""
    if _first_fields(path) >= {"case_id"}:
        return index_answers(path, problems)
    return index_lines(path, problems, TRACES)


def _first_fields(path: Path) -> set[str]:
    """The field names of the first line that is not blank."""
    unheard = Problems()
    for line in json_lines(path, unheard):
        decoded = decode_line(line.data, line.number, path, unheard)
        value: Any = decoded.value if decoded else None
        return set(value) if isinstance(value, dict) else set()
    return set()
