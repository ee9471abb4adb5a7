"""HTTP as engines speak it, with servers that say exactly what a test wants said."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import socket
import ssl
import subprocess
import time
import traceback
import tracemalloc
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import pytest
import uvloop

from eval_pipeline.engines.calls import CallFailed
from eval_pipeline.engines.connections import (
    BROKEN,
    CLOSED,
    LARGEST_ERROR,
    LARGEST_REPLY,
    Connections,
    Received,
)
from eval_pipeline.engines.fields import Timeouts
from eval_pipeline.problems import BadInput

PATIENT = Timeouts(connect=20.0, read=20.0, total=60.0)
GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nRetry-After: 7\r\n\r\n"
    b"2\r\ngo\r\n1;some=extension\r\no\r\n1\r\nd\r\n0\r\nTrailer: yes\r\n\r\n"
)
NO_HTTP = "what came back is not HTTP"


@dataclass
class Server:
    """A server on loopback that gives every request the same pieces."""

    pieces: Sequence[bytes] = (GOOD,)
    closes: bool = False
    """Whether it hangs up after each answer."""
    port: int = 0
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(length))
                for piece in self.pieces:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
                if self.closes:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def to(url: str, timeouts: Timeouts = PATIENT, most: int = 1) -> AsyncIterator[Connections]:
    connections = Connections(url, {"X-Mine": "yes"}, timeouts, most)
    yield connections
    await connections.close()


@asynccontextmanager
async def connected(server: Server, url: str = "http://127.0.0.1:{port}/v1") -> AsyncIterator[Connections]:
    async with (
        listening(server.serve) as server.port,
        to(url.format(port=server.port), most=10) as connections,
    ):
        yield connections


def exchange(server: Server, times: int = 1) -> list[Received]:
    """What comes back, one request after another."""

    async def ask() -> list[Received]:
        async with connected(server) as connections:
            return [await connections.post(b"hello") for _ in range(times)]

    return uvloop.run(ask())


def exchange_once(serve: Serve, timeouts: Timeouts = PATIENT) -> Received:
    async def ask() -> Received:
        async with listening(serve) as port, to(f"http://127.0.0.1:{port}/", timeouts) as connections:
            return await connections.post(b"hello")

    return uvloop.run(ask())


def told(received: Received) -> tuple[int, bytes, str | None]:
    return received.status, bytes(received.body), received.broken.detail if received.broken else None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (GOOD, (200, b"good", None)),
        (CHUNKED, (200, b"good", None)),
        (b"HTTP/1.0 200 OK\r\n\r\ngood", (200, b"good", None)),  # it ends where the connection does
        (b"HTTP/1.1 100 Continue\r\n\r\n" + GOOD, (200, b"good", None)),
        (b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" + CHUNKED, (200, b"good", None)),
        (b"HTTP/1.1 204 No Content\r\n\r\n", (204, b"", None)),
        (b"HTTP/1.1 500 Oh no\r\nContent-Length: 2\r\n\r\nno", (500, b"no", None)),
        (b"", (0, b"", CLOSED)),
        (b"HTTP/1.1 200", (0, b"", CLOSED)),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ngood", (200, b"good", BROKEN)),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ngood", (200, b"good", BROKEN)),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\ngood", (0, b"", NO_HTTP)),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", (101, b"", None)),
        (
            b"HTTP/1.1 200 OK\r\nPolicy: %b\r\nContent-Length: 4\r\n\r\ngood" % (b"a" * 50_000),
            (200, b"good", None),
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\ngood", (200, b"", BROKEN)),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: odd\r\nContent-Length: 4\r\n\r\ngood", (200, b"good", None)),
        (b"<html>", (0, b"", NO_HTTP)),
        (b"HTTP/2 200 OK\r\n\r\n", (0, b"", NO_HTTP)),
    ],
)
def test_what_comes_back(answer: bytes, expected: tuple[int, bytes, str | None]) -> None:
    (received,) = exchange(Server([answer], closes=True))
    assert told(received) == expected


def test_a_header_is_read_whatever_its_case() -> None:
    answer = b"HTTP/1.1 429 Slow down\r\nretry-AFTER: 3.5\r\nContent-Length: 0\r\n\r\n"
    assert exchange(Server([answer]))[0].retry_after == "3.5"


TOO_LATE = "not complete after 1 s"
MOST_MEMORY = 8 * 2**20
CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("start", "piece", "details"),
    [
        (b"HTTP/1.1 200 ", b"a" * 1000, {NO_HTTP}),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", b"a" * 1000, {NO_HTTP}),
        (b"HTTP/1.1 200 OK\r\n", b"X-More: yes\r\n" * 100, {NO_HTTP}),
        # Which of the two depends on where the pieces were cut on their way.
        (CHUNKS + b"4\r\ngood\r\n0\r\nX-Trailer: ", b"a" * 1000, {NO_HTTP, TOO_LATE}),
        (CHUNKS + b"4\r\ngood\r\n0\r\n", b"X-More: yes\r\n" * 100, {NO_HTTP, TOO_LATE}),
        (CHUNKS + b"5;", b"a" * 1000, {TOO_LATE}),
        (CHUNKS, b"0" * 1000, {NO_HTTP, TOO_LATE}),
    ],
)
def test_what_is_no_part_of_a_body_is_ended(start: bytes, piece: bytes, details: set[str]) -> None:
    """And it takes no memory meanwhile."""
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(start)
        with suppress(ConnectionError):
            while True:
                writer.write(piece)
                await writer.drain()
                sent += len(piece)
        writer.close()

    tracemalloc.start()
    try:
        received = exchange_once(flood, Timeouts(total=1.0) if TOO_LATE in details else PATIENT)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < MOST_MEMORY, f"{most:,} bytes for {sent:,} that were sent"
    assert received.broken is not None
    assert received.broken.detail in details
    assert told(received)[1] in (b"", b"good")


@pytest.mark.parametrize(("status", "largest"), [(b"200", LARGEST_REPLY), (b"400", LARGEST_ERROR)])
def test_what_is_small_only_while_compressed_is_not_unpacked(status: bytes, largest: int) -> None:
    bomb = gzip.compress(bytes(64 * 2**20))
    head = b"HTTP/1.1 %b -\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    (received,) = exchange(Server([head % (status, len(bomb)) + bomb]))
    assert told(received)[::2] == (int(status), f"more than {largest:,} bytes")
    assert len(received.body) <= largest + 2**20


def test_a_compressed_answer_is_unpacked() -> None:
    body = gzip.compress(b"good")
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    assert told(exchange(Server([head + body]))[0]) == (200, b"good", None)


def test_one_connection_serves_many_exchanges() -> None:
    server = Server()
    assert {told(received) for received in exchange(server, times=20)} == {(200, b"good", None)}
    assert server.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\ngood",
        b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\ngood",
        GOOD + GOOD,  # what was not asked for must not be taken for the next answer
    ],
)
def test_connections_that_are_not_used_again(answer: bytes) -> None:
    server = Server([answer])
    assert {told(received) for received in exchange(server, times=3)} == {(200, b"good", None)}
    assert server.connections == 3


def test_a_connection_that_was_closed_meanwhile_is_not_used() -> None:
    async def ask() -> list[Received]:
        server = Server()
        async with connected(server) as connections:
            first = await connections.post(b"hello")
            server.writers[0].close()
            await asyncio.sleep(0.1)
            return [first, await connections.post(b"hello")]

    assert {told(received) for received in uvloop.run(ask())} == {(200, b"good", None)}


def test_a_connection_that_was_idle_for_long_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_pipeline.engines.connections.LONGEST_IDLE", 0.0)
    server = Server()
    exchange(server, times=3)
    assert server.connections == 3


def test_what_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> None:
        async with connected(server, "http://127.0.0.1:{port}/v1/größe?q=a%20b%2Bc&r=ü") as connections:
            for _ in range(2):
                await connections.post("grün".encode())

    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server = Server([b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"])
    uvloop.run(ask())
    head, body = server.requests[0].split(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    assert first == b"POST /v1/gr%C3%B6%C3%9Fe?q=a%20b%2Bc&r=%C3%BC HTTP/1.1"
    assert set(headers) == {
        f"Host: 127.0.0.1:{server.port}".encode(),
        b"User-Agent: eval-pipeline",
        b"X-Mine: yes",
        b"Accept: */*",
        b"Accept-Encoding: gzip, deflate",
        b"Content-Length: 5",
        b"Content-Type: application/octet-stream",
    }
    assert body == "grün".encode()
    assert server.requests[1] == server.requests[0]  # no cookie is kept


def test_the_host_of_an_address_in_brackets() -> None:
    async def ask() -> tuple[Received, bytes]:
        server = Server()
        listener = await asyncio.start_server(server.serve, "::1", 0)
        async with to(f"http://[::1]:{listener.sockets[0].getsockname()[1]}/") as connections:
            received = await connections.post(b"hello")
        listener.close()
        return received, server.requests[0]

    try:
        received, request = uvloop.run(ask())
    except OSError:
        pytest.skip("this machine has no IPv6")
    assert told(received) == (200, b"good", None)
    assert b"Host: [::1]:" in request


def test_a_host_that_cannot_be_is_not_quoted() -> None:
    url = "http://sec_\u200dret/"
    with pytest.raises(BadInput) as caught:
        Connections(url, {}, PATIENT, 1)
    assert "sec_" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("greeting", [b"220 welcome\r\n", b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"])
def test_who_speaks_before_being_asked_is_not_listened_to(greeting: bytes) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        with suppress(ConnectionError):
            await reader.read(1)
        writer.close()

    async def ask() -> list[Received]:
        async with listening(greet) as port, to(f"http://127.0.0.1:{port}/", most=5) as connections:
            return await asyncio.gather(*(connections.post(b"hello") for _ in range(20)))

    for received in uvloop.run(ask()):
        assert told(received) in ((0, b"", CLOSED), (0, b"", NO_HTTP), (503, b"", None))


@pytest.mark.parametrize("ending", [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nextra", None])
def test_what_came_while_the_loop_was_busy_is_not_taken_for_an_answer(ending: bytes | None) -> None:
    port_known: Future[int] = Future()

    def serve() -> None:  # in a thread: it goes on while the client's loop does something else
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port_known.set_result(listener.getsockname()[1])
            while True:
                client, _ = listener.accept()
                with client, suppress(ConnectionError):
                    while data := client.recv(10_000):
                        if b"stop" in data:
                            return
                        client.sendall(GOOD)
                        time.sleep(0.005)
                        if ending is None:
                            break
                        client.sendall(ending)

    async def ask() -> list[Received]:
        received = []
        async with to(f"http://127.0.0.1:{port_known.result()}/") as connections:
            for _ in range(20):
                received.append(await connections.post(b"hello"))
                time.sleep(0.02)
            while (await connections.post(b"stop")).broken is None:
                pass
        return received

    server = Thread(target=serve)
    server.start()
    assert {told(received) for received in uvloop.run(ask())} <= {(200, b"good", None), (0, b"", CLOSED)}
    server.join()


def test_a_connection_with_something_unsent_is_not_used_again() -> None:
    async def impatient(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too much\r\nContent-Length: 0\r\n\r\n")
        await over.wait()
        writer.transport.abort()

    over = asyncio.Event()

    async def ask() -> list[int]:
        timeouts = Timeouts(connect=2.0, read=2.0, total=2.0)
        async with listening(impatient) as port, to(f"http://127.0.0.1:{port}/", timeouts) as connections:
            statuses = [(await connections.post(b"a" * 20_000_000)).status for _ in range(3)]
            over.set()
            await asyncio.sleep(0.05)
            return statuses

    assert uvloop.run(ask()) == [413, 413, 413]


def test_headers_before_the_answer_say_nothing_about_it() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\nRetry-After: 9\r\n\r\n"
    (received,) = exchange(Server([hints + b"HTTP/1.1 200 OK\r\n\r\ngood"], closes=True))
    assert told(received) == (200, b"good", None)
    assert received.retry_after is None


# Proxies


@dataclass
class Proxy:
    """A proxy that leads everything to one port, or turns everybody away."""

    port: int = 0
    status: bytes = b"200 Connection established"
    heads: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        there, back = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            if head.startswith(b"CONNECT"):
                writer.write(b"HTTP/1.1 " + self.status + b"\r\n\r\n" if self.status else b"")
                if not self.status.startswith(b"200"):
                    return
            else:
                back.write(head)
            await asyncio.gather(self._pass_on(reader, back), self._pass_on(there, writer))
        except ConnectionError:
            pass
        finally:
            writer.close()
            back.close()

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(1000):
            target.write(data)
            await target.drain()
        target.close()


def through(
    proxy: Proxy, server: Server, url: str, tls: ssl.SSLContext | None, monkeypatch: pytest.MonkeyPatch
) -> list[Received]:
    """What comes back from a host that only the proxy knows, twice."""

    async def ask() -> list[Received]:
        async with listening(server.serve, tls) as proxy.port, listening(proxy.serve) as port:
            scheme = url.partition(":")[0]
            monkeypatch.setenv(f"{scheme}_proxy", f"http://me:p%40ss@127.0.0.1:{port}")
            async with to(url) as connections:
                return [await connections.post(b"hello") for _ in range(2)]

    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    return uvloop.run(ask())


CREDENTIALS = b"Proxy-Authorization: Basic " + b64encode(b"me:p@ss")


def test_http_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, server = Proxy(), Server()
    received = through(proxy, server, "http://model.test/v1?a=b", None, monkeypatch)
    assert [told(each) for each in received] == [(200, b"good", None)] * 2
    assert proxy.heads[0].startswith(b"POST http://model.test/v1?a=b HTTP/1.1\r\nHost: model.test\r\n")
    assert CREDENTIALS in proxy.heads[0]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, which makes the certificate")
    folder = tmp_path_factory.mktemp("tls")
    made = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=model.test",
    ]
    names = ["-addext", "subjectAltName=DNS:model.test,IP:127.0.0.1"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")]
    subprocess.run([*made, *names, *files], check=True, capture_output=True)
    return folder / "certificate.pem"


def serving_as(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return context


def test_https_through_a_proxy_that_sees_nothing(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    proxy, server = Proxy(), Server()
    received = through(proxy, server, "https://model.test/v1", serving_as(certificate), monkeypatch)
    assert [told(each) for each in received] == [(200, b"good", None)] * 2
    assert len(proxy.heads) == 1
    assert proxy.heads[0].startswith(b"CONNECT model.test:443 HTTP/1.1\r\nHost: model.test\r\n")
    assert b"User-Agent: eval-pipeline\r\n" in proxy.heads[0]
    assert b"X-Mine" not in proxy.heads[0]
    assert CREDENTIALS in proxy.heads[0]
    assert b"Proxy-Authorization" not in server.requests[0]


@pytest.mark.parametrize(
    ("status", "detail"),
    [
        (b"407 Who are you?", "the proxy does not connect: 407"),
        (b"502", "the proxy does not connect: 502"),
        (b"", CLOSED),
    ],
)
def test_a_proxy_that_does_not_connect(status: bytes, detail: str, monkeypatch: pytest.MonkeyPatch) -> None:
    received = through(Proxy(status=status), Server(), "https://model.test/v1", None, monkeypatch)
    assert [told(each) for each in received] == [(0, b"", detail)] * 2
    assert isinstance(received[0].broken, CallFailed)
    assert received[0].broken.kind == "connection"


def test_a_proxy_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> Received:
        async with to("http://model.test/") as connections:
            return await connections.post(b"hello")

    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and nobody listens
        for name, value in (
            ("no_proxy", ""),
            ("http_proxy", f"http://me:pw@127.0.0.1:{held.getsockname()[1]}"),
        ):
            monkeypatch.setenv(name, value)
        assert told(uvloop.run(ask())) == (0, b"", "cannot connect to the proxy: Connection refused")


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}/", "http://localhost:{port}/"])
def test_no_proxy_leads_to_this_machine(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> Received:
        async with connected(Server(), url) as connections:
            return await connections.post(b"hello")

    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert told(uvloop.run(ask())) == (200, b"good", None)


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
@pytest.mark.parametrize(
    "url",
    [
        "socks5://secret:word@proxy:1",
        "http://secret:w℀rd@proxy:1",
        "http://secret:w[rd@proxy:1",
        "http://secret:word@proxy:port",
        "http://secret:word@a..b:1",
        "http://secret:word@",
        "http://sec%3Aret:word@proxy:1",
        "http://secret:w%E2%82%ACrd@proxy:1",
    ],
)
def test_proxies_that_cannot_be_used(url: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, url)
    monkeypatch.setenv("no_proxy", "model.test,ported.test:8000,[fd00::5]")

    async def open_exempt() -> None:
        for exempt in ("model.test", "ported.test:8000", "[fd00::5]"):
            async with to(f"http://{exempt}/"):
                pass

    uvloop.run(open_exempt())
    with pytest.raises(BadInput) as caught:
        Connections("http://other.test/", {}, PATIENT, 1)
    told = "".join(traceback.format_exception(caught.value))
    assert variable.upper() in told
    assert "secret" not in told
    assert "rd@" not in told


# TLS


def secured(certificate: Path) -> Received:
    async def ask() -> Received:
        tls = serving_as(certificate)
        async with listening(Server().serve, tls) as port, to(f"https://127.0.0.1:{port}/") as connections:
            return await connections.post(b"hello")

    return uvloop.run(ask())


def test_a_certificate_that_is_trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert told(secured(certificate)) == (200, b"good", None)


def test_a_certificate_that_is_not_trusted(certificate: Path) -> None:
    words = "no secure connection: the host's certificate or TLS does not do"
    assert told(secured(certificate)) == (0, b"", words)
