"""An endpoint that misbehaves in one answer: the others arrive, and so does everything the next time."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import yaml

from benchmarks.hostile.commands import attempt
from benchmarks.hostile.projects import BEFORE, Pristine
from benchmarks.hostile.tally import Tried, ended
from eval_pipeline.project import Project
from eval_pipeline.store import Store
from eval_pipeline_tests.cli import recorded_toy

CASES = 6
SHORT, LONG = 5.0, 60.0
"""Seconds that an answer may take: one that never ends, and one that a busy machine gives late."""
FAULTY = "FAULT"
"""What the sound of one case is."""
NONE = "none"
"""After all the faults, everything is as it was."""
RUN = ("run", "toy", "--prompt", BEFORE)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
GOODBYE = b"Connection: close"
"""Whoever is not told sends its next request over a connection that is just being closed."""
DIGITS = "9" * 400


class Fault(NamedTuple):
    """What is sent in place of an answer, and then again and again until nobody listens."""

    start: bytes
    endless: bytes = b""


def _body(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> Fault:
    lines = b"".join(header + b"\r\n" for header in headers)
    return Fault(b"HTTP/1.1 %b\r\n%bContent-Length: %d\r\n\r\n%b" % (status, lines, len(body), body))


def _text(text: str, *headers: bytes) -> Fault:
    return _body(text.encode("utf-8", "surrogatepass"), *headers)


def _completion(content: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content}, "finish_reason": "stop"}], **more}


def _said(content: Any, **more: Any) -> Fault:
    return _text(json.dumps(_completion(content, **more)))


def _usage(tokens: str) -> Fault:
    usage = f'"usage": {{"prompt_tokens": {tokens}, "completion_tokens": {tokens}}}'
    return _text(json.dumps(_completion("{}"))[:-1] + f", {usage}}}")


def _busy(after: str, status: bytes = b"429 Too Many Requests") -> Fault:
    return _body(b"{}", b"Retry-After: " + after.encode(), status=status)


FAULTS: dict[str, Fault] = {
    "nothing": Fault(b""),
    "half a status": Fault(b"HTTP/1.1 2"),
    "no HTTP": Fault(b"\x00\xff garbage\r\n\r\n"),
    "HTTP/2": Fault(b"HTTP/2 200 OK\r\n\r\n"),
    "a status without end": Fault(b"HTTP/1.1 200 ", b"a" * 65_536),
    "a header without end": Fault(OK + b"X-Long: ", b"a" * 65_536),
    "headers without end": Fault(OK, b"X-More: yes\r\n" * 1000),
    "trailers without end": Fault(CHUNKED + b"2\r\n{}\r\n0\r\n", b"X-More: yes\r\n" * 1000),
    "a trailer without end": Fault(CHUNKED + b"2\r\n{}\r\n0\r\nX-Long: ", b"a" * 65_536),
    "an extension without end": Fault(CHUNKED + b"2;", b"a" * 65_536),
    "a chunk's size without end": Fault(CHUNKED, b"0" * 65_536),
    "a chunk too large": Fault(CHUNKED + b"ffffffffffffffff\r\n", b"a" * 65_536),
    "a body without end": Fault(OK + b"\r\n", b"a" * 65_536),
    "blanks without end": Fault(OK + b"\r\n", b" " * 65_536),
    "hints without end": Fault(b"", b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" * 100),
    "a length that lies": Fault(OK + b"Content-Length: 999\r\n\r\n{}"),
    "a length that is none": Fault(OK + b"Content-Length: many\r\n\r\n{}"),
    "a negative length": Fault(OK + b"Content-Length: -1\r\n\r\n{}"),
    "two lengths": Fault(OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} "),
    "two answers": Fault(_said("{}").start * 2),
    "a bomb": _body(gzip.compress(bytes(64 * 2**20)), b"Content-Encoding: gzip"),
    "damaged compression": _body(b"not gzip", b"Content-Encoding: gzip"),
    "an unknown encoding": _body(b"{}", b"Content-Encoding: odd"),
    "a redirect": _body(b"", b"Location: http://127.0.0.1:9/", status=b"307 Elsewhere"),
    "a redirect to a file": _body(b"", b"Location: file:///etc/passwd", status=b"302 Elsewhere"),
    "another protocol": Fault(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    "no content": Fault(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "status 999": _body(b"{}", status=b"999 Odd"),
    "500": _body(b"oh no", status=b"500 Oh no"),
    "500 with a page": _body(b"<html>" * 100_000, status=b"500 Oh no"),
    "401": _body(b'{"error": {"message": "who?"}}', status=b"401 Who"),
    "404": _body(b'{"error": "nothing here"}', status=b"404 Nothing"),
    "an error that acts": _body(b'{"error": {"message": "[/red]\\u001b[2J"}}', status=b"400 Bad"),
    "an error of brackets": _body(b'{"error": ' + b"[" * 50_000, status=b"400 Bad"),
    "busy for a day": _busy("86400"),
    "busy for ever": _busy(DIGITS),
    "busy since yesterday": _busy("-86400"),
    "busy until 9999": _busy("Fri, 31 Dec 9999 23:59:59 GMT"),
    "busy until NaN": _busy("nan"),
    "busy until soon": _busy("soon"),
    "busy and broken": _busy("1e400", b"503 Busy"),
    "no JSON": _text("<html>\x00"),
    "half a JSON": _text('{"choices": [{"message": {"content": "{}"'),
    "a list": _text("[]"),
    "null": _text("null"),
    "brackets": _text("[" * 100_000),
    "objects": _text('{"a":' * 100_000),
    "a key twice": _text('{"choices": [], "choices": [{"message": {"content": "{}"}}]}'),
    "a byte order mark": _text("\ufeff" + json.dumps(_completion("{}"))),
    "UTF-16": _body(json.dumps(_completion("{}")).encode("utf-16")),
    "half a character": _text(json.dumps(_completion("{}")).replace("{}", "\\ud800")),
    "a lone surrogate": _text('{"choices": [{"message": {"content": "\ud800"}}]}'),
    "NUL": _said("\x00"),
    "no choice": _text('{"choices": []}'),
    "no message": _text('{"choices": [{}]}'),
    "another shape": _text('{"choices": {"message": "no"}}'),
    "content of numbers": _said(17),
    "content of lists": _said([[["a"]]] * 100),
    "no content at all": _said(None),
    "a refusal": _said(None, refusal="no"),
    "a megabyte of content": _said("a" * 1_000_000),
    "content of brackets": _said("[" * 100_000),
    "content of huge numbers": _said(f'{{"animal": {DIGITS}, "hints": []}}'),
    "content with a key twice": _said('{"animal": "dog", "animal": "cat", "hints": []}'),
    "content that acts": _said('{"animal": "\u001b[2J[/red]\u202e", "hints": ["<script>"]}'),
    "400 digits of tokens": _usage(DIGITS),
    "as many tokens as there are": _usage("9223372036854775807"),
    "more tokens than there are": _usage("18446744073709551616"),
    "fewer tokens than none": _usage("-9223372036854775808"),
    "tokens as a text": _usage('"many"'),
    "tokens as a list": _usage("[1]"),
    "tokens of 1e308": _usage("1e308"),
    "tokens of 1e400": _usage("1e400"),
    "half a token": _usage("0.5"),
    "no usage": _said("{}", usage=None),
    "usage as a list": _said("{}", usage=[1]),
    "an odd reason to finish": _text(
        '{"choices": [{"message": {"content": "{}"}, "finish_reason": {"a": 1}}]}'
    ),
}


class Server:
    """Answers rightly, but for one sound."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the one request of a connection."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            prompt = json.loads(await reader.readexactly(length))["messages"][-1]["content"]
            if self.fault is not None and FAULTY in prompt:
                writer.write(self.fault.start)
                while self.fault and self.fault.endless:
                    writer.write(self.fault.endless)
                    await writer.drain()
                    await asyncio.sleep(0)  # what is read at once would keep the loop from all others
            else:
                writer.write(_text(json.dumps(_completion(right(prompt))), GOODBYE).start)
            await writer.drain()
        writer.close()


def right(prompt: str) -> str:
    """What a good answer says."""
    return json.dumps({"animal": "cat" if "meow" in prompt else "dog", "hints": []})


@contextmanager
def serving() -> Iterator[Server]:
    """A running server, in a thread with a loop of its own."""
    made, loop = Server(), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    starting = asyncio.run_coroutine_threadsafe(asyncio.start_server(made.serve, "127.0.0.1", 0), loop)
    server = starting.result(30)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"

    async def stop() -> None:
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    try:
        yield made
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def misbehave(pristine: Pristine, names: tuple[str, ...] = tuple(FAULTS)) -> list[Tried]:
    """Run the toy with one fault after the other, whose traces stay, and at the end once without."""
    tried = []
    project = pristine.project
    with serving() as server:
        for name in (*names, NONE):
            server.fault = FAULTS.get(name)
            _configure(project, server.url, SHORT if server.fault else LONG)
            run = attempt(project, *RUN, "--sample", name.replace(" ", "-"))
            trouble = run.trouble or _lost(project, CASES - bool(server.fault))
            tried.append(ended("HTTP fault", name, trouble))
            if trouble:
                pristine.restore()
    return tried


def _configure(project: Project, url: str, seconds: float) -> None:
    """A few cases, one of which will meet the fault, on an engine with every kind of limit."""
    file = recorded_toy.cases_file(project)
    rows = [json.loads(line) for line in file.read_text().splitlines()[:CASES]]
    rows[1]["sound"] = FAULTY
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    limits = {
        "requests_per_minute": 6000,
        "tokens_per_minute": 600_000,
        "budget": {"calls": 1000, "dollars": 5},
    }
    prices = {"prompt": 0.15, "completion": 0.6}
    engine = {"kind": "endpoint", "url": url, "model": "m", "trials": 1, "attempts": 1, "prices": prices}
    timeouts = dict.fromkeys(("connect", "read", "total"), seconds)
    engines = {"default": "e", "engines": {"e": {**engine, **limits, "timeouts": timeouts}}}
    project.engines_file.write_text(yaml.safe_dump(engines))
    prompt = recorded_toy.prompt_file(project, BEFORE)
    prompt.write_text(prompt.read_text().replace("engine: recorded\n", ""))


def _lost(project: Project, most: int) -> str:
    """What is wrong with the answers of the last run, of which so many have to be right."""
    answers = Store(project.state).outputs("toy", BEFORE)
    if answers is None:
        return "there are no answers"
    good = sum(each.error is None and each.text in (right("meow"), right("woof")) for each in answers)
    return "" if good >= most else f"only {good} of {CASES} answers arrived"
