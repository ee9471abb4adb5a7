"""The client of OpenAI-compatible endpoints: what it sends, makes of answers, and keeps to itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from eval_pipeline.engines import Request
from eval_pipeline.engines.calls import CallFailed, Client, Reply, withheld
from eval_pipeline.engines.connections import LARGEST_REPLY
from eval_pipeline.engines.endpoint import LONGEST_MESSAGE, EndpointClient, EndpointEntry, retry_delay
from eval_pipeline.engines.fields import Budget, Prices, Timeouts
from eval_pipeline.files import FieldPath
from eval_pipeline.files.models import violations_in
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.prompts import Message, Sampling
from eval_pipeline.prompts.sampling import NOT_TO_BE_SET
from eval_pipeline.secrets import keep_secret
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.engines.fault_server import FAULTS, GOOD, FaultServer, fault_server
from eval_pipeline_tests.test_imports import modules_after

KEY = 'sk-very/secret"0123456789'
SCHEMA = {"type": "object"}
SHORT = Timeouts(connect=0.3, read=0.3, total=0.3)
PATIENT = Timeouts(connect=20.0, read=20.0, total=60.0)


@pytest.fixture(scope="module")
def shared() -> Iterator[FaultServer]:
    with fault_server() as server:
        yield server


@pytest.fixture
def server(shared: FaultServer) -> FaultServer:
    shared.requests.clear()
    shared.answer = lambda prompt: GOOD
    shared.retry_after = "1"
    return shared


PLAIN = {"kind": "endpoint", "url": "https://host/v1", "model": "tiny"}


def wrong(**settings: Any) -> list[FieldPath]:
    """Where an entry with such settings is wrong."""
    return [each.path for each in violations_in({**PLAIN, **settings}, EndpointEntry)]


def entry_for(url: str, **settings: Any) -> EndpointEntry:
    return EndpointEntry(url=url, model="tiny", **{"timeouts": PATIENT, **settings})


def client_for(url: str, key: str | None = KEY, **settings: Any) -> EndpointClient:
    return EndpointClient(entry_for(url, **settings), "decomposition", SCHEMA, key)


def asking(prompt: str) -> Request:
    return Request("case", 1, None, prompt)


def ask(client: Client, *prompts: str) -> list[Reply | CallFailed]:
    """What becomes of each prompt, all asked at once in one session."""

    async def one(prompt: str) -> Reply | CallFailed:
        try:
            return await client.call(client.body(asking(prompt)))
        except CallFailed as failed:
            return failed

    async def together() -> list[Reply | CallFailed]:
        async with client:
            return await asyncio.gather(*map(one, prompts))

    return asyncio.run(together())


def reply(client: Client, prompt: str) -> Reply:
    (outcome,) = ask(client, prompt)
    assert isinstance(outcome, Reply), outcome
    return outcome


def failure(client: Client, prompt: str) -> CallFailed:
    (outcome,) = ask(client, prompt)
    assert isinstance(outcome, CallFailed), outcome
    return outcome


KINDS = {
    "429": "rate_limited",
    "429-after": "rate_limited",
    "500": "server",
    "503-after": "server",
    "408": "timeout",
    "400": "rejected",
    "401": "denied",
    "403": "denied",
    "404": "denied",
    "reset": "connection",
    "closed-early": "connection",
    "not-http": "malformed",
    "garbage": "malformed",
    "truncated-json": "malformed",
    "wrong-shape": "malformed",
    "not-object": "malformed",
    "no-choice": "malformed",
    "empty-choice": "malformed",
    "empty-content": "malformed",
    "endless": "too_large",
    "redirect": "denied",
}
WITHHELD = {"refusal": "refused", "content-filter": "refused", "length": "truncated"}
AFTER_A_WHILE = {"silent": "timeout", "drip": "timeout"}
GOOD_TO_A_CLIENT = {"schema": '{"surprise": true}', "not-json": "I would rather write prose."}


def test_every_fault_is_tried() -> None:
    assert set(FAULTS) <= {*KINDS, *WITHHELD, *AFTER_A_WHILE, *GOOD_TO_A_CLIENT}


@pytest.mark.parametrize(("fault", "kind"), KINDS.items())
def test_each_fault_has_its_kind(server: FaultServer, fault: str, kind: str) -> None:
    assert failure(client_for(server.url), f"FAULT:{fault}").kind == kind


@pytest.mark.parametrize(("fault", "kind"), WITHHELD.items())
def test_what_is_withheld_is_an_answer_that_was_paid_for(server: FaultServer, fault: str, kind: str) -> None:
    answer = reply(client_for(server.url), f"FAULT:{fault}")
    told = withheld(answer.finish_reason)
    assert told is not None
    assert told[0] == kind
    assert answer.prompt_tokens is not None


@pytest.mark.parametrize(("fault", "kind"), AFTER_A_WHILE.items())
def test_what_never_ends_is_ended(server: FaultServer, fault: str, kind: str) -> None:
    assert failure(client_for(server.url, timeouts=SHORT), f"FAULT:{fault}").kind == kind


def test_the_read_timeout_ends_silence_and_the_total_timeout_ends_a_drip(server: FaultServer) -> None:
    impatient_reader = Timeouts(read=0.3, total=60.0)
    assert failure(client_for(server.url, timeouts=impatient_reader), "FAULT:silent").detail == (
        "nothing came for 0.3 s"
    )
    patient_reader = Timeouts(read=60.0, total=0.3)
    for fault in ("silent", "drip"):
        assert failure(client_for(server.url, timeouts=patient_reader), f"FAULT:{fault}").detail == (
            "not complete after 0.3 s"
        )


def test_the_connect_timeout() -> None:
    with contextlib.ExitStack() as sockets:
        deaf = sockets.enter_context(socket.socket())
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for _ in range(4):  # nobody takes these, so that the next one is not let in
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(deaf.getsockname())
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        failed = failure(client_for(url, timeouts=Timeouts(connect=0.3)), "hello")
    assert (failed.kind, failed.detail) == ("connection", "no connection within 0.3 s")


def test_faults_harm_no_other_call(server: FaultServer) -> None:
    faults = [*KINDS, "schema", "fine", *KINDS, "not-json"]
    prompts = [f"FAULT:{fault}" if fault != "fine" else "hello" for fault in faults]
    outcomes = ask(client_for(server.url, concurrency=5), *prompts)
    kinds = [outcome.kind if isinstance(outcome, CallFailed) else outcome.text for outcome in outcomes]
    assert kinds == [{**KINDS, **GOOD_TO_A_CLIENT, "fine": GOOD}[fault] for fault in faults]


def test_a_fault_for_the_first_times_only(server: FaultServer) -> None:
    client = client_for(server.url)
    outcomes = [ask(client, "FAULT:500x2")[0] for _ in range(3)]
    assert [isinstance(outcome, Reply) for outcome in outcomes] == [False, False, True]


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        failed = failure(client_for(f"http://127.0.0.1:{taken.getsockname()[1]}/v1"), "hello")
    assert failed.kind == "connection"
    assert failed.transient


def test_nobody_knows_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr("asyncio.base_events.BaseEventLoop.getaddrinfo", unknown)
    assert failure(client_for("http://nowhere.invalid/v1"), "hello").kind == "connection"


def test_not_tls(server: FaultServer) -> None:
    assert failure(client_for(server.url.replace("http:", "https:")), "hello").kind == "connection"


def test_a_good_answer(server: FaultServer) -> None:
    assert reply(client_for(server.url), "hello") == Reply(GOOD, "stop", len("hello"), len(GOOD))
    assert server.requests[0].path == "/v1/chat/completions"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"choices": [{"message": {"content": "a"}}]}, Reply("a")),
        ({"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]}, Reply("a")),
        (
            {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}]},
            Reply("ab"),
        ),
        (
            {"choices": [{"message": {"content": [{"type": "thinking"}, {"type": "text", "text": "b"}]}}]},
            Reply("b"),
        ),
        ({"choices": [{"message": {"content": "a", "refusal": ""}}], "usage": 3}, Reply("a")),
        (
            {
                "choices": [{"message": {"content": "a"}}],
                "usage": {"prompt_tokens": 0, "completion_tokens": 7},
            },
            Reply("a", "", 0, 7),
        ),
        (
            {
                "choices": [{"message": {"content": "a"}}],
                "usage": {"prompt_tokens": -1, "completion_tokens": 0.5},
            },
            Reply("a"),
        ),
        (
            {
                "choices": [{"message": {"content": "a"}}],
                "usage": {"prompt_tokens": True, "completion_tokens": "1"},
            },
            Reply("a"),
        ),
        (
            {
                "choices": [{"message": {"content": "a"}}],
                "usage": {"prompt_tokens": 10**400, "completion_tokens": 2**63 - 1},
            },
            Reply("a"),
        ),
        ({"choices": [{"message": {"content": []}}]}, "malformed"),
        ({"choices": [{"message": {"content": " \n"}}]}, "malformed"),
        ({"choices": [{"message": {"content": 3}}]}, "malformed"),
        ({"choices": [{"message": None, "finish_reason": "tool_calls"}]}, "malformed"),
        ({"choices": None}, "malformed"),
        ({}, "malformed"),
        ({"choices": [{"message": {"content": None}, "finish_reason": "length"}]}, Reply("", "length")),
        ({"choices": [{"message": {"content": "a", "refusal": "No."}}]}, Reply("No.", "refusal")),
    ],
)
def test_forms_of_answers(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch, body: Any, expected: Reply | str
) -> None:
    monkeypatch.setitem(FAULTS, "special", answering(json.dumps(body).encode()))
    (outcome,) = ask(client_for(server.url), "FAULT:special")
    assert (outcome.kind if isinstance(outcome, CallFailed) else outcome) == expected


def answering(body: bytes, status: int = 200) -> Any:
    async def fault(*_: Any) -> Any:
        from aiohttp import web

        return web.Response(body=body, status=status)

    return fault


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe", b'{"choices": "\xff"}', b"[" * 100_000, b'{"a": "\\ud800"}']
)
def test_bodies_that_are_no_json(server: FaultServer, monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    monkeypatch.setitem(FAULTS, "special", answering(body))
    monkeypatch.setitem(FAULTS, "rejecting", answering(body, 400))
    client = client_for(server.url)
    assert failure(client, "FAULT:special").kind == "malformed"
    assert failure(client, "FAULT:rejecting").kind == "rejected"


def test_an_answer_may_be_large_but_not_too_large(server: FaultServer) -> None:
    server.answer = lambda prompt: "a" * int(prompt)
    fits, too_much = ask(client_for(server.url), str(LARGEST_REPLY - 2000), str(LARGEST_REPLY))
    assert isinstance(fits, Reply)
    assert len(fits.text) == LARGEST_REPLY - 2000
    assert isinstance(too_much, CallFailed)
    assert too_much.kind == "too_large"


def test_a_large_prompt_arrives(server: FaultServer) -> None:
    prompt = "größer " * 400_000
    assert reply(client_for(server.url), prompt).prompt_tokens == len(prompt)
    assert server.requests[0].prompt == prompt


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "no  such\\n model"}}', "400: no such model"),
        (b'{"error": "no such model"}', "400: no such model"),
        (b'{"message": "no such model"}', "400: no such model"),
        (b'{"detail": [{"loc": "body"}]}', '400: [{"loc":"body"}]'),
        (b"<p>no such model</p>", "400: <p>no such model</p>"),
        (b"", "400"),
        (b"a" * 1000, "400: " + "a" * LONGEST_MESSAGE),
        (b"a" * 2**20, "400"),
    ],
)
def test_what_a_rejection_says(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch, body: bytes, message: str
) -> None:
    monkeypatch.setitem(FAULTS, "special", answering(body, 400))
    failed = failure(client_for(server.url), "FAULT:special")
    assert failed.detail == message
    assert not failed.transient


def test_the_status_of_an_error_counts_even_if_its_body_never_ends(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stuck(_: Any, request: Any, __: str) -> Any:
        from aiohttp import web

        response = web.StreamResponse(status=429, headers={"Retry-After": "7"})
        await response.prepare(request)
        await response.write(f"you sent {KEY[:12]}".encode())
        await asyncio.Event().wait()

    monkeypatch.setitem(FAULTS, "special", stuck)
    failed = failure(client_for(server.url, timeouts=Timeouts(read=1.0)), "FAULT:special")
    assert (failed.kind, failed.detail, failed.retry_after) == ("rate_limited", "429", 7.0)


def sent(client: EndpointClient) -> Any:
    return json.loads(client.body(asking("hello")))


def test_body() -> None:
    assert sent(client_for("http://host/v1")) == {
        "model": "tiny",
        "messages": [{"role": "user", "content": "hello"}],
        "temperature": 0.0,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "decomposition", "schema": SCHEMA},
        },
    }


@pytest.mark.parametrize(
    ("settings", "changed"),
    [
        ({"temperature": None}, {"temperature": None}),
        ({"temperature": 0.7}, {"temperature": 0.7}),
        ({"seed": 0}, {"seed": 0}),
        ({"max_tokens": 100}, {"max_tokens": 100}),
        ({"top_p": 0.5, "stop": ["a"]}, {"top_p": 0.5, "stop": ["a"]}),
        ({"reasoning_effort": "low"}, {"reasoning_effort": "low"}),
        ({"structured_output": False}, {"response_format": None}),
        ({"extra_body": {"top_k": 1}}, {"top_k": 1}),
        ({"extra_body": {"temperature": 1}, "temperature": 0.5}, {"temperature": 1}),
        ({"concurrency": 3, "attempts": 1, "description": "x"}, {}),
    ],
)
def test_what_changes_the_body(
    server: FaultServer, settings: dict[str, Any], changed: dict[str, Any]
) -> None:
    plain = sent(client_for(server.url))
    expected = {name: value for name, value in {**plain, **changed}.items() if value is not None}
    client = client_for(server.url, **settings)
    assert sent(client) == expected
    reply(client, "hello")
    assert server.requests[0].body == expected


@pytest.mark.parametrize(
    "name", [*NOT_TO_BE_SET, "X-Api-Key", "Authorization", "Extra-Headers", "response_format"]
)
def test_the_extra_body_cannot_change_what_is_asked_of_whom(name: str) -> None:
    assert wrong(extra_body={name: "other"}) == [("extra_body", name)]
    assert wrong(extra_body={name: 1, "top_k": 1, "prompt_cache_key": "x"}) == [("extra_body", name)]


def test_an_own_format_may_be_sent_where_ours_is_not() -> None:
    own = {"response_format": {"type": "json_object"}}
    assert wrong(extra_body=own, structured_output=False) == []
    assert sent(client_for("http://host/v1", extra_body=own, structured_output=False))["response_format"] == {
        "type": "json_object"
    }


@pytest.mark.parametrize(
    "settings",
    [{"top_p": 0}, {"top_p": 1.5}, {"stop": []}, {"stop": "x"}, {"stop": [""]}, {"reasoning_effort": ""}],
)
def test_sampling_that_makes_no_sense_is_refused(settings: dict[str, Any]) -> None:
    assert [path[0] for path in wrong(**settings)] == list(settings)


@pytest.mark.parametrize(
    ("engine", "prompt", "expected"),
    [
        ({}, {"temperature": 0.7}, {"temperature": 0.7}),
        ({}, {"temperature": None}, {}),
        ({"top_p": 0.5, "seed": 3}, {"top_p": 0.9}, {"temperature": 0.0, "top_p": 0.9, "seed": 3}),
        (
            {"max_tokens": 50, "stop": ["a"]},
            {"max_tokens": 20, "stop": None},
            {"temperature": 0.0, "max_tokens": 20},
        ),
        (
            {"extra_body": {"top_k": 1, "a": 2}},
            {"extra_body": {"top_k": 5}},
            {"temperature": 0.0, "top_k": 5, "a": 2},
        ),
        ({"extra_body": {"temperature": 1}}, {"temperature": 0.2}, {"temperature": 0.2}),
        (
            {"reasoning_effort": "low"},
            {"reasoning_effort": "high"},
            {"temperature": 0.0, "reasoning_effort": "high"},
        ),
    ],
)
def test_a_prompt_samples_in_its_own_way(
    engine: dict[str, Any], prompt: dict[str, Any], expected: dict[str, Any]
) -> None:
    entry = entry_for("http://host/v1", structured_output=False, **engine).sampled(Sampling(**prompt))
    body = sent(EndpointClient(entry, "decomposition", SCHEMA, None))
    assert body == {"model": "tiny", "messages": [{"role": "user", "content": "hello"}], **expected}


def test_messages_arrive_as_they_are(server: FaultServer) -> None:
    chat = tuple(Message(role, f"{role} says\n## user") for role in ("system", "user", "assistant", "user"))
    request = Request("case", 1, None, chat)

    async def ask_it(client: EndpointClient) -> Reply:
        async with client:
            return await client.call(client.body(request))

    asyncio.run(ask_it(client_for(server.url)))
    assert server.requests[0].body["messages"] == [
        {"role": each.role, "content": each.content} for each in chat
    ]


def everything_told(client: EndpointClient, failed: CallFailed) -> str:
    """All that a crash could print about a failed call, and more."""
    frames = "".join(traceback.TracebackException.from_exception(failed, capture_locals=True).format())
    assert failed.__cause__ is None
    assert failed.__context__ is None
    return f"{frames} {failed!r} {failed.args} {vars(failed)} {client!r} {client.url}"


@pytest.mark.parametrize("fault", [*KINDS, *AFTER_A_WHILE])
def test_the_key_is_in_one_header_and_nowhere_else(server: FaultServer, fault: str) -> None:
    client = client_for(server.url, timeouts=Timeouts(read=0.3, total=5.0 if fault in KINDS else 1.0))
    failed = failure(client, f"FAULT:{fault}")
    assert KEY not in everything_told(client, failed)
    assert "secret" not in everything_told(client, failed)
    (request,) = server.requests
    assert request.headers.pop("Authorization") == f"Bearer {KEY}"
    assert "secret" not in f"{request}"


def test_what_the_endpoint_says_about_the_key_is_hidden(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_for(server.url)
    assert failure(client, "FAULT:401").detail == "401: status 401; you sent Bearer [hidden]"
    escaped = json.dumps({"unknown form": KEY}).replace("/", "\\/").replace("k", "\\u006b")
    monkeypatch.setitem(FAULTS, "special", answering(escaped.encode(), 403))
    assert failure(client, "FAULT:special").detail == '403: {"unknown form":"[hidden]"}'
    keep_secret(KEY)
    server.answer = lambda prompt: f"your key is {KEY}"
    assert reply(client, "hello").text == "your key is [hidden]"


def test_no_key_no_header(server: FaultServer) -> None:
    reply(client_for(server.url, key=None), "hello")
    assert "Authorization" not in server.requests[0].headers


@pytest.mark.parametrize("key", ["", "two words", "line\n", "schlüssel"])
def test_what_cannot_be_a_key_is_not_shown(key: str) -> None:
    with pytest.raises(BadInput) as caught:
        client_for("http://host/v1", key=key, key_variable="THE_KEY")
    assert "THE_KEY" in str(caught.value)
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["http://alice:sesame@host/v1", "http://alice@host/v1", "http://host/v1?a=b&api_key=sesame"],
)
def test_credentials_in_the_url_are_refused_and_not_quoted(url: str) -> None:
    (violation,) = violations_in({**PLAIN, "url": url}, EndpointEntry)
    assert "header_variables" in violation.remedy
    with pytest.raises(ValidationError, match="holds credentials") as caught:
        entry_for(url)
    assert not {"alice", "sesame"} & set(re.findall(r"\w+", f"{violation}{caught.value}{caught.value!r}"))


def test_a_header_comes_from_a_variable_and_its_value_is_hidden(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY", "open sesame/2")
    entry = entry_for(server.url, header_variables={"X-Gateway": "GATEWAY"})
    project = Project.find()
    client = entry.metered("remote", project, find_suite(project, "decomposition"), SCHEMA).client
    server.answer = lambda prompt: "the header is open sesame/2, or open%20sesame%2F2"
    assert reply(client, "hello").text == "the header is [hidden], or [hidden]"
    assert server.requests[0].headers["X-Gateway"] == "open sesame/2"
    monkeypatch.delenv("GATEWAY")
    with pytest.raises(BadInput, match="Set the environment variable GATEWAY"):
        entry.metered("remote", project, find_suite(project, "decomposition"), SCHEMA)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "place/v1",
        "ftp://host/v1",
        "http://",
        "http://:80/v1",
        "http://host:port/v1",
        "http://host:99999/v1",
        "http://ho st/v1",
        "http://host/v1\n",
        "http://user:pass/word@host/v1",
        "http://user:12/word@host/v1",
        "http://user:12?word@host/v1",
        "http://user:12#word@host/v1",
        "http://[::1/v1",
        "http://a..b/v1",
        f"http://{'a' * 70}.com/v1",
    ],
)
def test_urls_that_cannot_be_used_are_not_quoted(url: str) -> None:
    assert wrong(url=url) == [("url",)]
    with pytest.raises(ValidationError, match="is not a usable URL") as caught:
        entry_for(url)
    assert not url or url not in f"{caught.value}{caught.value!r}"
    assert "word@" not in f"{caught.value}{caught.value!r}"


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("https://host/v1/", "https://host/v1"),
        ("https://Host:8443", "https://Host:8443"),
        ("http://[::1]:80/v1#x", "http://[::1]:80/v1"),
        ("http://host/v1?a=b", "http://host/v1"),
    ],
)
def test_urls_are_shown_bare(url: str, bare: str) -> None:
    assert client_for(url).url == bare
    assert repr(client_for(url)) == f"EndpointClient({bare!r}, 'tiny')"
    assert repr(entry_for(url)) == f"EndpointEntry({bare!r}, 'tiny')"


def test_a_redirect_is_not_followed(server: FaultServer) -> None:
    failed = failure(client_for(server.url), "FAULT:redirect")
    assert failed.kind == "denied"
    assert [request.path for request in server.requests] == ["/v1/chat/completions"]


@pytest.mark.parametrize(
    ("header", "delay"),
    [
        (None, None),
        ("3", 3.0),
        (" 0.5 ", 0.5),
        ("-3", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0.0),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("1e999", None),
        ("Wed, 99 Oct 2015 07:28:00 GMT", None),
    ],
)
def test_retry_after(header: str | None, delay: float | None) -> None:
    assert retry_delay(header) == delay


def test_retry_after_a_date() -> None:
    delay = retry_delay(format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True))
    assert delay is not None
    assert 3000 < delay <= 3600


@given(st.text() | st.from_regex(r"\w{3}, \d+ (Jan|Oct) \d+ \d+:\d+:\d+ [+-]?\w+"))
def test_no_header_is_too_strange(header: str) -> None:
    delay = retry_delay(header)
    assert delay is None or delay >= 0


@pytest.mark.parametrize(
    ("fault", "delay"),
    [("429", None), ("429-after", 2.5), ("500", None), ("503-after", 2.5), ("400-after", None)],
)
def test_retry_after_is_passed_on(server: FaultServer, fault: str, delay: float | None) -> None:
    server.retry_after = "2.5"
    assert failure(client_for(server.url), f"FAULT:{fault}").retry_after == delay


def test_calls_at_once_share_a_few_connections() -> None:
    with fault_server(delay=0.01) as server:
        outcomes = ask(client_for(server.url, concurrency=7), *(f"hello {number}" for number in range(50)))
    assert all(isinstance(outcome, Reply) for outcome in outcomes)
    assert server.calls == len(set(server.asked)) == 50
    assert 1 < server.most_in_flight <= 7


def test_a_client_can_be_opened_again(server: FaultServer) -> None:
    client = client_for(server.url)
    assert reply(client, "hello") == reply(client, "hello")


def test_a_call_that_is_cancelled_leaves_nothing_behind(server: FaultServer) -> None:
    async def cancel() -> None:
        async with client_for(server.url) as client:
            task = asyncio.create_task(client.call(client.body(asking("FAULT:silent"))))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await client.call(client.body(asking("hello")))).text == GOOD

    asyncio.run(cancel())


def test_an_entry_as_it_is_written() -> None:
    entry = EndpointEntry.model_validate(
        {
            **PLAIN,
            "timeouts": {"total": 5},
            "prices": {"prompt": 1, "completion": 2},
            "budget": {"dollars": 3},
        }
    )
    assert entry == EndpointEntry(
        url="https://host/v1",
        model="tiny",
        timeouts=Timeouts(total=5),
        prices=Prices(prompt=1, completion=2),
        budget=Budget(dollars=3),
    )


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"timeouts": {"read": 0}}, ("timeouts", "read")),
        ({"timeouts": {"write": 1}}, ("timeouts", "write")),
        ({"concurrency": 0}, ("concurrency",)),
        ({"attempts": 0}, ("attempts",)),
        ({"trials": 0}, ("trials",)),
        ({"trials": {"min": 3, "max": 2}}, ("trials", "max")),
        ({"requests_per_minute": 0}, ("requests_per_minute",)),
        ({"suites": {"decomposition": {"concurrency": 0}}}, ("suites", "decomposition", "concurrency")),
        ({"prices": {"prompt": 1}}, ("prices", "completion")),
        ({"budget": {"euros": 1}}, ("budget", "euros")),
        ({"budget": {"dollars": 1}}, ("budget", "dollars")),
        ({"key": "sk-1"}, ("key",)),
    ],
)
def test_entries_that_are_wrong(settings: dict[str, Any], path: FieldPath) -> None:
    assert wrong(**settings) == [path]


def test_dollars_need_prices_as_far_as_prices_can_be_read() -> None:
    assert wrong(budget={"dollars": 1}, prices={"prompt": -1, "completion": 1}) == [("prices", "prompt")]


def test_importing_it_does_not_load_the_http_client() -> None:
    assert "aiohttp" not in modules_after("import eval_pipeline.engines.endpoint")
