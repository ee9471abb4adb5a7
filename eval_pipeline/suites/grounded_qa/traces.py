"""Traces: what a pipeline retrieved and answered, one JSON object a line, as `score` reads them."""

from pathlib import Path
from typing import Annotated, Any

import msgspec

from eval_pipeline import answers
from eval_pipeline.files import decode_line, json_lines
from eval_pipeline.problems import Problems

NULL = msgspec.Raw(b"null")


class GroundedClaim(msgspec.Struct, omit_defaults=True, gc=False):
    """A claim, or the refusal token, and the passages that it rests on."""

    claim: str
    citations: list[str] | None = None
    retrieved_ids: list[str] | None = None
    """What was retrieved, best first; carried over where the engine does not say it."""


class GroundedAnswer(GroundedClaim, omit_defaults=True, gc=False):
    """The output contract: the claim says something."""

    claim: Annotated[str, msgspec.Meta(pattern=r"\S")]


class TraceKey(msgspec.Struct, frozen=True, gc=False):
    """What a line of a trace file says besides the answer. `q_id` is another spelling of `qid`."""

    qid: str = ""
    q_id: str = ""
    trial: Annotated[int, msgspec.Meta(ge=0, le=answers.LARGEST_TRIAL)] = answers.FIRST_TRIAL
    error: str | None = None
    detail: str = ""
    latency_ms: float | None = None
    cost_usd: float | None = None
    tokens: int | dict[str, int] | None = None


class Trace(TraceKey, frozen=True, gc=False):
    """A line of a trace file."""

    retrieved_ids: msgspec.Raw = NULL
    answer_json: msgspec.Raw = NULL

    def key(self) -> tuple[str, int]:
        """Case and trial."""
        return self.qid or self.q_id, self.trial

    def answer(self) -> answers.Answer:
        """The answer that this line records."""
        return answers.Answer(
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


class UsualTrace(answers.UsualLine, frozen=True, gc=False, kw_only=True):
    """A trace with nothing unusual about it."""

    answer_json: GroundedClaim
    qid: str = ""
    q_id: str = ""
    retrieved_ids: list[str] | None = None

    def output(self) -> GroundedClaim | None:
        """The answer with what was retrieved; None where its claim says nothing."""
        answer = self.answer_json
        answer.retrieved_ids = self.retrieved_ids
        return answer if answer.claim and not answer.claim.isspace() else None


TRACES = answers.LineFormat(
    Trace,
    key=Trace.key,
    answer=Trace.answer,
    id_field="qid",
    remedy='A line is {"qid": "…", "retrieved_ids": […], "answer_json": {"claim": "…", "citations": […]}}.',
    brief=TraceKey,
    shortcut=answers.Shortcut(UsualTrace, UsualTrace.output),
    forgives_cut=True,
)


def answer_format(path: Path) -> answers.AnswerFormat:
    """Traces, or an outputs file as every suite reads it, which has `case_id` on its first line."""
    return answers.recorded_format(GroundedAnswer) if "case_id" in _first_fields(path) else TRACES


def _first_fields(path: Path) -> set[str]:
    """The field names of the first line that is not blank."""
    ignored = Problems()
    for line in json_lines(path, ignored):
        decoded = decode_line(line.data, line.number, path, ignored)
        value: Any = decoded.value if decoded else None
        return set(value) if isinstance(value, dict) else set()
    return set()
