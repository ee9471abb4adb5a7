"""A chat completions server on loopback that misbehaves on request.

A prompt that contains `FAULT:name` gets that fault every time, one that contains `FAULT:namex2` only the
first two times. Any other prompt gets a good answer. Names are those of `FAULTS`, and any status such as
`FAULT:500`, with a `Retry-After` header as `FAULT:500-after`.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

GOOD = '{"concepts": [], "relationships": []}'
LARGEST_REQUEST = 64 * 2**20
PIECE = b"a" * 65536

_FAULT = re.compile(r"FAULT:([a-z0-9-]+?)(?:x(\d+))?(?![a-z0-9-])")
_STATUS = re.compile(r"(\d{3})(-after)?")


@dataclass
class Received:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Any
    prompt: str


@dataclass
class FaultServer:
    """What the server does, and what it has seen. All of it may be changed while it runs."""

    answer: Callable[[str], str] = lambda prompt: GOOD
    delay: float = 0.0
    """How many seconds a good answer takes; faults come at once."""
    retry_after: str = "1"
    drip_seconds: float = 0.05
    keep: bool = True
    """Whether requests are kept; turn it off where there are very many."""

    url: str = ""
    calls: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    requests: list[Received] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    """How often each prompt was asked."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request, well or badly."""
        self.calls += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            body = json.loads(await request.read() or b"null")
            prompt = _prompt(body)
            if self.keep:
                self.requests.append(Received(request.path_qs, dict(request.headers), body, prompt))
            self.asked[prompt] += 1
            return await self._respond(request, prompt)
        finally:
            self.in_flight -= 1

    async def _respond(self, request: web.Request, prompt: str) -> web.StreamResponse:
        fault = _FAULT.search(prompt)
        if fault is None or (fault[2] and self.asked[prompt] > int(fault[2])):
            if self.delay:
                await asyncio.sleep(self.delay)
            return completion(prompt, self.answer(prompt))
        status = _STATUS.fullmatch(fault[1])
        if status:
            headers = {"Retry-After": self.retry_after} if status[2] else {}
            sent = request.headers.get("Authorization", "nothing")
            error = {"error": {"message": f"status {status[1]}; you sent {sent}", "type": "fault"}}
            return web.json_response(error, status=int(status[1]), headers=headers)
        return await FAULTS[fault[1]](self, request, prompt)


def _prompt(body: Any) -> str:
    try:
        return str(body["messages"][-1]["content"])
    except (KeyError, IndexError, TypeError):
        return ""


def completion(
    prompt: str, content: Any, *, finish_reason: str = "stop", refusal: str | None = None
) -> web.Response:
    """A chat completion; every character counts as a token."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    tokens = {"prompt_tokens": len(prompt), "completion_tokens": len(content or "")}
    return web.json_response(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
            "usage": {**tokens, "total_tokens": sum(tokens.values())},
        }
    )


Fault = Callable[[FaultServer, web.Request, str], Awaitable[web.StreamResponse]]


def _body(text: str) -> Fault:
    async def fault(server: FaultServer, request: web.Request, prompt: str) -> web.StreamResponse:
        return web.Response(text=text, content_type="application/json")

    return fault


def _content(content: Any, **how: Any) -> Fault:
    async def fault(server: FaultServer, request: web.Request, prompt: str) -> web.StreamResponse:
        return completion(prompt, content, **how)

    return fault


def _raw(data: bytes) -> Fault:
    async def fault(server: FaultServer, request: web.Request, prompt: str) -> web.StreamResponse:
        assert isinstance(request.transport, asyncio.Transport)
        request.transport.write(data)
        request.transport.close()
        return web.Response()

    return fault


async def _reset(server: FaultServer, request: web.Request, prompt: str) -> web.StreamResponse:
    assert request.transport is not None
    connection = request.transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()
    return web.Response()


async def _redirect(server: FaultServer, request: web.Request, prompt: str) -> web.StreamResponse:
    return web.Response(status=307, headers={"Location": f"{server.url}/elsewhere"})


async def _silent(server: FaultServer, request: web.Request, prompt: str) -> web.StreamResponse:
    await server.stopping.wait()
    return web.Response()


async def _pieces(
    server: FaultServer, request: web.Request, piece: bytes, pause: float
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b'{"choices": "')
    while not server.stopping.is_set():
        await response.write(piece)
        await asyncio.sleep(pause)
    return response


async def _endless(server: FaultServer, request: web.Request, prompt: str) -> web.StreamResponse:
    return await _pieces(server, request, PIECE, 0)


async def _drip(server: FaultServer, request: web.Request, prompt: str) -> web.StreamResponse:
    return await _pieces(server, request, b"a", server.drip_seconds)


FAULTS: dict[str, Fault] = {
    "reset": _reset,
    "closed-early": _raw(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"choices": ['),
    "not-http": _raw(b"\x00\xffgarbage\r\n\r\n"),
    "garbage": _body("<html>\x00 this is not JSON"),
    "truncated-json": _body('{"choices": [{"message": {"content": "{}"'),
    "wrong-shape": _body('{"choices": {"message": "no"}}'),
    "not-object": _body("[]"),
    "no-choice": _body('{"choices": [], "error": {"message": "all are busy"}}'),
    "empty-choice": _body('{"choices": [{}]}'),
    "empty-content": _content(""),
    "schema": _content('{"surprise": true}'),
    "not-json": _content("I would rather write prose."),
    "refusal": _content(None, refusal="I will not."),
    "content-filter": _content(None, finish_reason="content_filter"),
    "length": _content('{"concepts": [', finish_reason="length"),
    "endless": _endless,
    "drip": _drip,
    "silent": _silent,
    "redirect": _redirect,
}


@contextmanager
def fault_server(
    answer: Callable[[str], str] = lambda prompt: GOOD, *, delay: float = 0.0, keep: bool = True
) -> Iterator[FaultServer]:
    """A running server; its base URL is `url`. It runs in a thread, with a loop of its own."""
    server = FaultServer(answer=answer, delay=delay, keep=keep)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="fault-server")
    thread.start()

    async def start() -> web.AppRunner:
        application = web.Application(client_max_size=LARGEST_REQUEST)
        application.router.add_route("*", "/{path:.*}", server.handle)
        runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        return runner

    async def stop(runner: web.AppRunner) -> None:
        server.stopping.set()
        await runner.cleanup()

    try:
        runner = asyncio.run_coroutine_threadsafe(start(), loop).result(30)
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(stop(runner), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
