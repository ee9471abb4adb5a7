"""Metered calls: what one of them is, what comes back, and how it fails."""

from types import TracebackType
from typing import Protocol, Self

import msgspec

from eval_pipeline.answers import TIMEOUT, TRANSPORT
from eval_pipeline.engines.interface import Request

RATE_LIMITED = "rate_limited"
CONNECTION = "connection"
SERVER = "server"
DENIED = "denied"
BUDGET = "budget"
REJECTED = "rejected"
REFUSED = "refused"
TRUNCATED = "truncated"
MALFORMED = "malformed"
TOO_LARGE = "too_large"


LENGTH = "length"
REFUSAL = "refusal"
CONTENT_FILTER = "content_filter"
_WITHHELD = {
    LENGTH: (TRUNCATED, "the answer was cut off at the limit of tokens"),
    REFUSAL: (REFUSED, "the model refused"),
    CONTENT_FILTER: (REFUSED, "the endpoint's content filter withheld the answer"),
}


class Reply(msgspec.Struct, frozen=True):
    """What a model answered to one call. It is paid for, whether it is of use or not."""

    text: str
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def withheld(finish_reason: str) -> tuple[str, str] | None:
    """The kind of error that a reason to finish stands for, with words for it; None where it is none."""
    return _WITHHELD.get(finish_reason)


class CallFailed(Exception):
    """One call that brought no answer. Its detail never holds a key, a header or a URL's credentials."""

    def __init__(self, kind: str, detail: str, *, retry_after: float | None = None) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.retry_after = retry_after

    @property
    def transport(self) -> bool:
        """Whether it says nothing of the question; of a timeout, the other answers tell."""
        return self.kind in TRANSPORT

    @property
    def transient(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in (RATE_LIMITED, TIMEOUT, CONNECTION, SERVER, MALFORMED)


class NotAsked(CallFailed):
    """A call that was not made, since it would fail or must not be paid for."""

    @property
    def transient(self) -> bool:
        """Trying again at once would change nothing."""
        return False


class Client(Protocol):
    """Something that answers one call at a time, many of them at once."""

    @property
    def url(self) -> str:
        """Where the calls go, without credentials."""

    @property
    def overhead_tokens(self) -> int:
        """About how many tokens the model reads besides the prompt."""

    @property
    def most_tokens(self) -> int | None:
        """How many tokens an answer has at most; None where nothing limits it."""

    def body(self, request: Request) -> bytes:
        """The exact body of the call: what is asked, of which model, how."""

    async def call(self, body: bytes) -> Reply:
        """Ask once. Raises `CallFailed`; never hangs beyond the client's total timeout."""

    async def __aenter__(self) -> Self:
        """Open connections."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close connections."""
