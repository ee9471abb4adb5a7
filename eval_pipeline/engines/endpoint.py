"""Any OpenAI-compatible chat completions URL: what `engines.yaml` says of it, and the client that asks it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import urlsplit

import msgspec
from pydantic import Field, ValidationInfo, field_validator

from eval_pipeline.answers import MOST_TOKENS, TIMEOUT
from eval_pipeline.engines.addresses import holds_credentials, place_of
from eval_pipeline.engines.calls import (
    DENIED,
    MALFORMED,
    RATE_LIMITED,
    REFUSAL,
    REJECTED,
    SERVER,
    CallFailed,
    Reply,
    withheld,
)
from eval_pipeline.engines.estimates import estimated_tokens
from eval_pipeline.engines.fields import AtLeastOne, Budget, Positive, Prices, SuiteLimits, Timeouts, Trials
from eval_pipeline.engines.interface import Request
from eval_pipeline.engines.kinds import Metered, MeteredEntry, register
from eval_pipeline.files import Violation, content_hash
from eval_pipeline.files.models import refusal
from eval_pipeline.problems import bad_value
from eval_pipeline.project import Project
from eval_pipeline.prompts import Sampling
from eval_pipeline.prompts.sampling import RESPONSE_FORMAT, Effort, Share, StopWords, refused
from eval_pipeline.secrets import HIDDEN, forms_of, keep_secret, masked, pattern_of
from eval_pipeline.suite import Suite

if TYPE_CHECKING:
    from eval_pipeline.engines.connections import Connections, Received
    from eval_pipeline.engines.limits import Scope

LONGEST_MESSAGE = 300
FRAME_TOKENS = 10
"""What marks a message's role, beginning and end."""
OWN_FORMAT = "It follows from the suite's output; with structured_output: false you may send one of your own."


@register
class EndpointEntry(MeteredEntry):
    """A chat completions URL, the model to ask there, and within which limits."""

    kind: Literal["endpoint"] = "endpoint"
    url: str
    """The base, such as https://host/v1, without credentials."""
    model: str
    """The name of the model there."""
    key_variable: str | None = None
    """The environment variable that holds the key; keys stand in no file."""
    header_variables: dict[str, str] = Field(default_factory=dict)
    """Headers that are sent as well, each with the environment variable that holds its value."""
    temperature: float | None = 0.0
    """How much chance there is in an answer."""
    top_p: Share | None = None
    """Of the likely words, the share of probability to choose from."""
    stop: StopWords | None = None
    """Texts at which an answer ends."""
    seed: int | None = None
    """What chance starts from, where the endpoint knows such a thing."""
    structured_output: bool = True
    """Whether the suite's output schema is sent along."""
    max_tokens: AtLeastOne | None = None
    """How many tokens an answer may have."""
    reasoning_effort: Effort | None = None
    """How much a model thinks before it answers, in the endpoint's words."""
    timeouts: Timeouts = Timeouts()
    """How long a call may take, in seconds."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of the request."""
    concurrency: AtLeastOne = 8
    """How many calls are under way at once, over all processes."""
    requests_per_minute: Positive | None = None
    """How often all processes together may ask."""
    tokens_per_minute: Positive | None = None
    """How many tokens all processes together may use."""
    suites: dict[str, SuiteLimits] = Field(default_factory=dict)
    """What single suites may take of it at most."""
    attempts: AtLeastOne = 5
    """How often a call is tried."""
    prices: Prices | None = None
    """Dollars per million tokens."""
    budget: Budget | None = None
    """What a run may spend at most."""
    trials: Trials = 3
    """How often every case is asked."""
    description: str = ""

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        place = place_of(self.url)
        yield from ((None, place.bare if place else HIDDEN), (None, self.model))

    @field_validator("url")
    @classmethod
    def _usable(cls, url: str) -> str:
        """No message quotes the URL."""
        if place_of(url) is None:
            raise refusal(Violation((), "is not a usable URL", "Write https://host/v1."))
        if holds_credentials(url):
            remedy = "Name an environment variable as key_variable, or one for a header as header_variables."
            raise refusal(Violation((), "holds credentials, which stand in no file", remedy))
        return url

    @field_validator("extra_body")
    @classmethod
    def _of_ours_nothing(cls, body: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        format_ = {RESPONSE_FORMAT: OWN_FORMAT} if info.data.get("structured_output", True) else {}
        if wrong := refused(body, format_):
            raise refusal(*wrong)
        return body

    @field_validator("budget")
    @classmethod
    def _with_prices(cls, budget: Budget | None, info: ValidationInfo) -> Budget | None:
        limited = budget is not None and budget.dollars is not None
        if limited and "prices" in info.data and info.data["prices"] is None:
            raise refusal(Violation(("dollars",), "cannot be held without prices", "Add prices."))
        return budget

    def sampled(self, sampling: Sampling | None) -> EndpointEntry:
        """The same, sampled as a prompt wants it."""
        given = sampling.given if sampling else {}
        mine = {name: value for name, value in self.extra_body.items() if name not in given}
        return self.model_copy(update={**given, "extra_body": {**mine, **given.get("extra_body", {})}})

    def metered(
        self,
        name: str,
        project: Project,
        suite: Suite,
        schema: dict[str, Any] | None,
        sampling: Sampling | None = None,
    ) -> Metered:
        """What to ask for outputs of that schema; None for plain text. A prompt may sample in its own way."""
        from eval_pipeline.engines.metered import Limits

        place = f"engines.{name}"
        key = _secret(f"{place}.key_variable", self.key_variable) if self.key_variable else None
        headers = {
            header: _secret(f"{place}.header_variables", variable)
            for header, variable in self.header_variables.items()
        }
        own = self.suites.get(suite.name, SuiteLimits())
        limits = Limits(
            concurrency=min(self.concurrency, own.concurrency or self.concurrency),
            scopes=self._scopes(name, suite, own),
            attempts=self.attempts,
            prices=self.prices,
            budget=self.budget,
        )
        # The query of a URL may choose a model; who asks there does not change the answer.
        address = urlsplit(self.url)
        target = [address.netloc, address.path, address.query]
        options = [self.temperature, self.seed, self.max_tokens, self.structured_output, self.extra_body]
        model = f"{self.model}-{content_hash([*target, *options, *self._more_options()])[:8]}"
        client = EndpointClient(self.sampled(sampling), suite.name, schema, key, headers)
        return Metered(model, client, limits, self.trials)

    def _more_options(self) -> list[dict[str, Any]]:
        """Options that are part of what answers where they are set: without them it stays what it was."""
        more = {"top_p": self.top_p, "stop": self.stop, "reasoning_effort": self.reasoning_effort}
        return [given] if (given := {name: each for name, each in more.items() if each is not None}) else []

    def _scopes(self, name: str, suite: Suite, own: SuiteLimits) -> tuple[Scope, ...]:
        from eval_pipeline.engines.limits import Scope

        return (
            Scope(name, self.concurrency, self.requests_per_minute, self.tokens_per_minute),
            Scope(
                f"{name} of {suite.name}",
                own.concurrency,
                own.requests_per_minute or suite.requests_per_minute,
                own.tokens_per_minute,
            ),
        )


def _secret(field: str, variable: str) -> str:
    """The secret in an environment variable; from now on it is masked wherever it turns up."""
    value = os.environ.get(variable, "").strip()
    if not value:
        raise bad_value(field, f"{variable} is not set", f"Set the environment variable {variable}.")
    keep_secret(value)
    return value


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


_DENYING = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.PAYMENT_REQUIRED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED,
)
"""What is said to whoever asks, whatever the question."""
_COMPLETION = msgspec.json.Decoder(_Completion)


class EndpointClient:
    """Asks one model at one URL. Neither its key nor any other secret ever leaves it but in a header."""

    def __init__(
        self,
        entry: EndpointEntry,
        suite_name: str,
        schema: dict[str, Any] | None,
        key: str | None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        if key is not None and not re.fullmatch(r"[\x21-\x7e]+", key):
            where = entry.key_variable or "key"
            raise bad_value(where, "is not a key: it is empty or has spaces or special characters")
        for name, value in headers.items():
            if not re.fullmatch(r"[A-Za-z0-9-]+", name) or not re.fullmatch(r"[\x20-\x7e]+", value):
                raise bad_value(
                    f"header_variables.{name}", "is no header, or its value has special characters"
                )
        place = place_of(entry.url)
        assert place is not None
        self._entry = entry
        self._options = self._encoded_options(suite_name, schema)
        sent = self._options.get("response_format")
        self.overhead_tokens = FRAME_TOKENS + (estimated_tokens(bytes(sent).decode()) if sent else 0)
        self._key = key
        self._headers = headers
        self._place = place
        values = [place.query, *(pair.partition("=")[2] for pair in place.query.split("&"))]
        secrets = [*values, *headers.values(), *([key] if key else [])]
        self._secrets = pattern_of(frozenset().union(*map(forms_of, secrets)))
        self._connections: Connections | None = None

    def __repr__(self) -> str:
        return f"EndpointClient({self.url!r}, {self._entry.model!r})"

    @property
    def url(self) -> str:
        """Where the calls go, without credentials and query."""
        return self._place.bare

    @property
    def most_tokens(self) -> int | None:
        """How many tokens an answer has at most; None where nothing limits it."""
        given = {"max_tokens": self._entry.max_tokens, **self._entry.extra_body}
        limits = [given.get(name) for name in ("max_tokens", "max_completion_tokens")]
        return min((each for each in limits if isinstance(each, int)), default=None)

    def body(self, request: Request) -> bytes:
        """The exact body of the call: what is asked, of which model, how."""
        return msgspec.json.encode({"messages": request.messages, **self._options})

    def _encoded_options(self, suite_name: str, schema: dict[str, Any] | None) -> dict[str, msgspec.Raw]:
        """All of a body but its messages, encoded once, since it is the same in every call."""
        entry = self._entry
        options: dict[str, Any] = {
            "model": entry.model,
            "temperature": entry.temperature,
            "top_p": entry.top_p,
            "stop": entry.stop,
            "seed": entry.seed,
            "max_tokens": entry.max_tokens,
            "reasoning_effort": entry.reasoning_effort,
        }
        if entry.structured_output and schema is not None:
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
        """Get ready to open connections."""
        from eval_pipeline.engines.connections import Connections

        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        headers |= self._headers
        address = f"{self.url}/chat/completions" + (f"?{self._place.query}" if self._place.query else "")
        self._connections = Connections(address, headers, self._entry.timeouts, self._entry.concurrency)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close connections."""
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.close()

    async def _ask(self, body: bytes) -> Reply | CallFailed:
        """What a call comes to. An error status counts, however its body ended."""
        assert self._connections is not None, "calls are made inside of `async with`"
        received = await self._connections.post(body)
        if not received.status or received.good:
            return received.broken or self._reply(received.body)
        if received.broken:
            received.body.clear()  # it may end in the first half of a secret
        return self._failed(received)

    def _failed(self, received: Received) -> CallFailed:
        status = received.status
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            return CallFailed(DENIED, f"{status}: redirects are not followed; give the final URL")
        message = self._presentable(_message_in(received.body))
        detail = f"{status}: {message}" if message else str(status)
        delay = retry_delay(received.retry_after)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return CallFailed(RATE_LIMITED, detail, retry_after=delay)
        if status == HTTPStatus.REQUEST_TIMEOUT:
            return CallFailed(TIMEOUT, detail, retry_after=delay)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return CallFailed(SERVER, detail, retry_after=delay)
        if status in _DENYING:
            return CallFailed(DENIED, detail)
        return CallFailed(REJECTED, detail)

    def _reply(self, body: bytearray) -> Reply | CallFailed:
        try:
            completion = _COMPLETION.decode(body)
        except msgspec.ValidationError as error:
            return CallFailed(MALFORMED, f"not a chat completion: {error}")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return CallFailed(MALFORMED, "the answer is not JSON")
        if not completion.choices:
            detail = self._presentable(_message_in(body, fallback=False))
            return CallFailed(MALFORMED, f"the answer has no choice{detail and f': {detail}'}")
        choice = completion.choices[0]
        message, reason = choice.message or _Message(), choice.finish_reason or ""
        text, reason = (message.refusal, REFUSAL) if message.refusal else (message.text(), reason)
        if not text.strip() and not withheld(reason):
            return CallFailed(MALFORMED, "the choice is empty")
        usage = completion.usage if isinstance(completion.usage, dict) else {}
        return Reply(
            masked(text),
            masked(reason),
            _tokens(usage.get("prompt_tokens")),
            _tokens(usage.get("completion_tokens")),
        )

    def _presentable(self, message: str) -> str:
        """What an endpoint said, without secrets, on one line, and short."""
        return " ".join(masked(self._secrets.sub(HIDDEN, message)).split())[:LONGEST_MESSAGE]


def _message_in(body: bytearray, *, fallback: bool = True) -> str:
    """What an error's body says; where it has no known form, all of it or nothing."""
    text = body.decode("utf-8", "replace")
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text if fallback else ""
    for name in ("error", "message", "detail"):
        if isinstance(value, dict) and value.get(name):
            value = value[name]
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode() if fallback else ""


def _tokens(count: Any) -> int | None:
    """A count of tokens, or None where it cannot be one."""
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else None


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
