"""Metered calls: what one of them is, what comes back, and how it fails."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol, Self

import msgspec

from eval_pipeline.engines import Request

RATE_LIMITED = "rate_limited"
TIMEOUT = "timeout"
CONNECTION = "connection"
SERVER = "server"
REJECTED = "rejected"
REFUSED = "refused"
TRUNCATED = "truncated"
MALFORMED = "malformed"
TOO_LARGE = "too_large"


class Reply(msgspec.Struct, frozen=True):
    """What a model answered to one call."""

    text: str
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class CallFailed(Exception):
    """One call that brought no answer. Its detail never holds a key, a header or a URL's credentials."""

    def __init__(self, kind: str, detail: str, *, retry_after: float | None = None) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.retry_after = retry_after

    @property
    def transient(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in (RATE_LIMITED, TIMEOUT, CONNECTION, SERVER, MALFORMED)


class Client(Protocol):
    """Something that answers one call at a time, many of them at once."""

    @property
    def url(self) -> str:
        """Where the calls go, without credentials."""

    def payload(self, request: Request) -> dict[str, Any]:
        """The exact body of the call: what is asked, of which model, how."""

    async def call(self, payload: dict[str, Any]) -> Reply:
        """Ask once. Raises `CallFailed`; never hangs beyond the client's total timeout."""

    async def __aenter__(self) -> Self:
        """Open connections."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close connections."""
