"""Any OpenAI-compatible chat completions URL: what `engines.yaml` says of it, and the client that asks it."""

from __future__ import annotations

import math
import re
import time
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from ipaddress import ip_address
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import msgspec

from eval_pipeline.documents import Violation
from eval_pipeline.engines import Request
from eval_pipeline.engines.calls import (
    CONNECTION,
    MALFORMED,
    RATE_LIMITED,
    REFUSAL,
    REJECTED,
    SERVER,
    TIMEOUT,
    TOO_LARGE,
    CallFailed,
    Reply,
    withheld,
)
from eval_pipeline.problems import bad_value
from eval_pipeline.trials import AtLeastOne, Trials

if TYPE_CHECKING:
    from pyreqwest.client import Client
    from pyreqwest.exceptions import PyreqwestError

LARGEST_REPLY = 8 * 2**20
LARGEST_ERROR = 64 * 2**10
LONGEST_MESSAGE = 300
HIDDEN = "[hidden]"
SHORTEST_KEY = 8
"""Shorter texts are not taken for a key inside of an answer, where they may be meant."""

PROTECTED = ("messages", "model")

_SYSTEM_ERROR = re.compile(r" \(os error \d+\)$")

Positive = Annotated[float, msgspec.Meta(gt=0)]
Amount = Annotated[float, msgspec.Meta(ge=0)]
Count = Annotated[int, msgspec.Meta(ge=0)]


class Timeouts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long a call may take, in seconds."""

    connect: Positive = 10.0
    read: Positive = 60.0
    """Between two pieces of an answer, or before the first."""
    total: Positive = 120.0


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Dollars per million tokens."""

    prompt: Amount
    completion: Amount


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a run may spend at most."""

    calls: Count | None = None
    tokens: Count | None = None
    dollars: Amount | None = None


class SuiteLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How fast one suite may ask, within the limits of the engine."""

    concurrency: AtLeastOne | None = None
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None


class EndpointEntry(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="endpoint"
):
    """A chat completions URL, the model to ask there, and within which limits."""

    url: str
    """The base, such as https://host/v1. Its user and password are sent where there is no key."""
    model: str
    key_variable: str | None = None
    temperature: float | None = 0.0
    seed: int | None = None
    structured_output: bool = True
    max_tokens: AtLeastOne | None = None
    timeouts: Timeouts = Timeouts()
    extra_body: dict[str, Any] = msgspec.field(default_factory=dict)
    concurrency: AtLeastOne = 8
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    suites: dict[str, SuiteLimits] = msgspec.field(default_factory=dict)
    """What single suites may take of it at most."""
    attempts: AtLeastOne = 5
    prices: Prices | None = None
    budget: Budget | None = None
    trials: Trials = 3
    description: str = ""

    def __repr__(self) -> str:
        place = _place(self.url)
        return f"EndpointEntry({place.bare if place else HIDDEN!r}, {self.model!r})"


def endpoint_violations(entry: EndpointEntry) -> Iterator[Violation]:
    """What is wrong with an entry beyond the types of its fields. No message quotes the URL."""
    if _place(entry.url) is None:
        remedy = "Write https://host/v1; in a user or password, percent-encode what has a meaning in URLs."
        yield Violation(("url",), "is not a usable URL", remedy)
    for name in PROTECTED:
        if name in entry.extra_body:
            yield Violation(("extra_body", name), "cannot be set here", "Remove it.")
    if entry.budget and entry.budget.dollars is not None and entry.prices is None:
        yield Violation(("budget", "dollars"), "cannot be held without prices", "Add prices.")


class _Place(NamedTuple):
    """A URL, taken apart."""

    bare: str
    query: str
    user: str
    password: str


def _place(url: str) -> _Place | None:
    """The parts of a base URL, or None where it is not usable as one."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        (parts.hostname or "").encode("idna")  # as resolving it will, too late to say so
    except ValueError:
        return None
    credentials, _, host = parts.netloc.rpartition("@")
    # An "@" after the host: what looks like the host is the beginning of a password with a "/" in it.
    displaced = "@" in parts.path or "@" in parts.query or "@" in parts.fragment
    if not usable or displaced or re.search(r"[\s\x00-\x1f\x7f\\]", url):
        return None
    user, _, password = credentials.partition(":")
    bare = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
    return _Place(bare, parts.query, unquote(user), unquote(password))


def _is_loopback(url: str) -> bool:
    """Whether a URL is on this machine, where no proxy leads to."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class _Part(msgspec.Struct):
    type: str = "text"
    text: str | None = None


class _Message(msgspec.Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None

    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content if part.type == "text")
        return self.content or ""


class _Choice(msgspec.Struct):
    message: _Message | None = None
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: Any = None


_COMPLETION = msgspec.json.Decoder(_Completion)


class _Received(msgspec.Struct):
    """What came back from one call, as far as it came."""

    status: int = 0
    retry_after: str | None = None
    body: bytes = b""

    @property
    def good(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


class EndpointClient:
    """Asks one model at one URL. Neither its key nor credentials in its URL ever leave it but in a header."""

    def __init__(
        self, entry: EndpointEntry, suite_name: str, schema: dict[str, Any], key: str | None
    ) -> None:
        for violation in endpoint_violations(entry):
            raise bad_value(".".join(map(str, violation.path)), violation.message, violation.remedy)
        if key is not None and not re.fullmatch(r"[\x21-\x7e]+", key):
            where = entry.key_variable or "key"
            raise bad_value(where, "is not a key: it is empty or has spaces or special characters")
        place = _place(entry.url)
        assert place is not None
        self._entry = entry
        self._options = self._encoded_options(suite_name, schema)
        self._key = key
        self._place = place
        self._basic = b64encode(f"{place.user}:{place.password}".encode()).decode()
        self._secrets = re.compile("|".join(map(re.escape, self._all_secrets())) or "(?!)")
        self._session: Client | None = None

    def __repr__(self) -> str:
        return f"EndpointClient({self.url!r}, {self._entry.model!r})"

    @property
    def url(self) -> str:
        """Where the calls go, without credentials and query."""
        return self._place.bare

    def body(self, request: Request) -> bytes:
        """The exact body of the call: what is asked, of which model, how."""
        return msgspec.json.encode(
            {"messages": [{"role": "user", "content": request.prompt}], **self._options}
        )

    def _encoded_options(self, suite_name: str, schema: dict[str, Any]) -> dict[str, msgspec.Raw]:
        """All of a body but its messages, encoded once, since it is the same in every call."""
        entry = self._entry
        options: dict[str, Any] = {
            "model": entry.model,
            "temperature": entry.temperature,
            "seed": entry.seed,
            "max_tokens": entry.max_tokens,
        }
        if entry.structured_output:
            named = {"name": suite_name, "schema": schema}
            options["response_format"] = {"type": "json_schema", "json_schema": named}
        given = {name: value for name, value in options.items() if value is not None} | entry.extra_body
        return {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in sorted(given.items())}

    async def call(self, body: bytes) -> Reply:
        """Ask once. Raises `CallFailed`; never hangs beyond the total timeout."""
        outcome = await self._ask(body)
        if isinstance(outcome, CallFailed):
            # Raised where neither the client's exceptions, which hold the URL, nor an echo of a key are near.
            raise outcome
        return outcome

    async def __aenter__(self) -> Self:
        """Open connections."""
        from pyreqwest.client import ClientBuilder

        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        elif self._place.user or self._place.password:
            headers["Authorization"] = f"Basic {self._basic}"
        timeouts = self._entry.timeouts
        builder = (
            ClientBuilder()
            .default_headers(headers)
            .follow_redirects(False)
            .max_connections(self._entry.concurrency)
            .connect_timeout(timedelta(seconds=timeouts.connect))
            .read_timeout(timedelta(seconds=timeouts.read))
            .timeout(timedelta(seconds=timeouts.total))
        )
        if _is_loopback(self._place.bare):
            builder = builder.no_proxy()
        self._session = builder.build()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _ask(self, body: bytes) -> Reply | CallFailed:
        """What a call comes to. A status that tells of an error counts, however its body ended."""
        received = _Received()
        broken = await self._exchange(body, received)
        if not received.status or received.good:
            return broken or self._reply(received.body)
        if broken:
            received.body = b""  # it may end in the first half of a secret
        return self._failed(received)

    async def _exchange(self, body: bytes, received: _Received) -> CallFailed | None:
        """Send a body and fill in what comes back; what broke the exchange off, if anything did."""
        from pyreqwest.exceptions import PyreqwestError

        assert self._session is not None, "calls are made inside of `async with`"
        address = f"{self.url}/chat/completions" + (f"?{self._place.query}" if self._place.query else "")
        started = time.perf_counter()
        try:
            # Nothing is read ahead: the status of an error counts, even if its body never ends.
            request = self._session.post(address).body_bytes(body).streamed_read_buffer_limit(0)
            async with request.build_streamed() as response:
                received.status = response.status
                received.retry_after = response.get_header("Retry-After")
                largest = LARGEST_REPLY if received.good else LARGEST_ERROR
                received.body = bytes(await response.body_reader.read(largest + 1) or b"")
        except PyreqwestError as error:
            return self._broken(error, time.perf_counter() - started)
        return CallFailed(TOO_LARGE, f"more than {largest:,} bytes") if len(received.body) > largest else None

    def _broken(self, error: PyreqwestError, seconds: float) -> CallFailed:
        """Why an exchange broke off, in words of our own: the client's hold the URL."""
        from pyreqwest.exceptions import BodyDecodeError, BuilderError, DecodeError, RequestTimeoutError

        details = getattr(error, "details", None) or {}
        causes = [str(cause["message"]) for cause in details.get("causes") or ()]
        connecting = "client error (Connect)" in causes
        timeouts = self._entry.timeouts
        if isinstance(error, RequestTimeoutError):
            if connecting:
                return CallFailed(TIMEOUT, f"no connection within {min(timeouts.connect, seconds):.3g} s")
            if seconds >= timeouts.total:
                return CallFailed(TIMEOUT, f"not complete after {timeouts.total:g} s")
            return CallFailed(TIMEOUT, f"nothing came for {timeouts.read:g} s")
        if isinstance(error, BuilderError):
            return CallFailed(REJECTED, "the engine's URL cannot be used")
        if connecting:
            if "dns error" in causes:
                return CallFailed(CONNECTION, "the host's name is not known")
            if "tcp connect error" in causes:
                return CallFailed(CONNECTION, f"cannot connect: {_SYSTEM_ERROR.sub('', causes[-1])}")
            return CallFailed(CONNECTION, "no secure connection: the host's certificate or TLS does not do")
        if isinstance(error, DecodeError) and not isinstance(error, BodyDecodeError):
            return CallFailed(MALFORMED, "what came back is not HTTP")
        return CallFailed(CONNECTION, "the connection was closed before the answer was complete")

    def _failed(self, received: _Received) -> CallFailed:
        status = received.status
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            return CallFailed(REJECTED, f"{status}: redirects are not followed; give the final URL")
        message = self._presentable(_message_in(received.body))
        detail = f"{status}: {message}" if message else str(status)
        delay = retry_delay(received.retry_after)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return CallFailed(RATE_LIMITED, detail, retry_after=delay)
        if status == HTTPStatus.REQUEST_TIMEOUT:
            return CallFailed(TIMEOUT, detail, retry_after=delay)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return CallFailed(SERVER, detail, retry_after=delay)
        return CallFailed(REJECTED, detail)

    def _reply(self, body: bytes) -> Reply | CallFailed:
        try:
            completion = _COMPLETION.decode(body)
        except msgspec.ValidationError as error:
            return CallFailed(MALFORMED, f"not a chat completion: {error}")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return CallFailed(MALFORMED, "the answer is not JSON")
        if not completion.choices:
            told = self._presentable(_message_in(body, fallback=False))
            return CallFailed(MALFORMED, f"the answer has no choice{told and f': {told}'}")
        choice = completion.choices[0]
        message, reason = choice.message or _Message(), choice.finish_reason or ""
        text, reason = (message.refusal, REFUSAL) if message.refusal else (message.text(), reason)
        if not text.strip() and not withheld(reason):
            return CallFailed(MALFORMED, "the choice is empty")
        usage = completion.usage if isinstance(completion.usage, dict) else {}
        return Reply(
            self._without_key(text),
            self._without_key(reason),
            _tokens(usage.get("prompt_tokens")),
            _tokens(usage.get("completion_tokens")),
        )

    def _all_secrets(self) -> list[str]:
        """What must not be shown, longest first, so that none is left in parts."""
        place = self._place
        values = [pair.partition("=")[2] for pair in place.query.split("&")]
        given = [place.query, *values, place.user, place.password, *([self._key] if self._key else [])]
        if place.user or place.password:
            given += [f"{place.user}:{place.password}", self._basic]
        forms = {form for text in given for form in (text, quote(text, safe=""), unquote(text))}
        forms |= {msgspec.json.encode(form).decode()[1:-1] for form in forms}
        return sorted(forms - {""}, key=len, reverse=True)

    def _presentable(self, message: str) -> str:
        """What an endpoint said, without secrets, on one line, and short."""
        return " ".join(self._secrets.sub(HIDDEN, message).split())[:LONGEST_MESSAGE]

    def _without_key(self, text: str) -> str:
        if self._key is None or len(self._key) < SHORTEST_KEY:
            return text
        return text.replace(self._key, HIDDEN)


def _message_in(body: bytes, *, fallback: bool = True) -> str:
    """What an error's body says; where it has no known form, all of it or nothing."""
    text = body.decode("utf-8", "replace")
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text if fallback else ""
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    if isinstance(found, str):
        return found
    return msgspec.json.encode(found).decode() if fallback else ""


def _tokens(count: Any) -> int | None:
    return count if type(count) is int and count >= 0 else None


def retry_delay(header: str | None) -> float | None:
    """The seconds that a `Retry-After` header asks to wait, or None where it says nothing usable."""
    if header is None:
        return None
    try:
        delay = float(header)
    except ValueError:
        try:
            date = parsedate_to_datetime(header)
            aware = date if date.tzinfo else date.replace(tzinfo=UTC)
            delay = (aware - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    return max(0.0, delay) if math.isfinite(delay) else None
