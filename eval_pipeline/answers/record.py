"""The record of an answer, and where answers can be looked up."""

from collections.abc import Sequence
from typing import Annotated, Any, Protocol, runtime_checkable

import msgspec

FIRST_TRIAL = 1
LARGEST_TRIAL = 2**31
MISSING = "missing"
STALE = "stale"
TIMEOUT = "timeout"
MOST_TOKENS = 10**9
"""No call has more; a larger number is a mistake of whoever counted."""

TokenCount = Annotated[int, msgspec.Meta(ge=0, le=MOST_TOKENS)]
Measure = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
"""Milliseconds or dollars of one answer."""


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
    transport: bool = False
    """Whether an engine of ours failed to get it. What a file says of errors is never that."""

    @property
    def token_count(self) -> int | None:
        """All tokens together; None where nobody counted."""
        return sum(self.tokens.values()) if isinstance(self.tokens, dict) else self.tokens


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
