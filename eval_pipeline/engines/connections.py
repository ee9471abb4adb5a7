"""HTTP/1.1 as engines need it: bodies posted to one URL, many at once, over connections that are kept.

It runs in the event loop and parses in C. A client with a thread of its own costs a switch of threads for
every call, and one that parses in Python costs more than all the rest of a call (`make bench`).
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
import ssl
from base64 import b64encode
from collections.abc import Mapping
from ipaddress import ip_address
from typing import NamedTuple, cast
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from eval_pipeline.engines.calls import CONNECTION, MALFORMED, TIMEOUT, TOO_LARGE, CallFailed, Timeouts
from eval_pipeline.problems import bad_value

LARGEST_REPLY = 8 * 2**20
LARGEST_ERROR = 64 * 2**10
LARGEST_HEAD = 64 * 2**10
"""Of the bytes in a row that are no part of an answer's body."""
LONGEST_IDLE = 30.0
"""A connection that was not used for longer may have been forgotten on the way without a word."""

AGENT = "eval-pipeline"
CLOSED = "the connection was closed before the answer was complete"

_PORTS = {"http": 80, "https": 443}
_PLAIN = "!$&'()*+,;=:@/?%~"
"""What needs no encoding in a path or query beside letters and digits."""


class Received(msgspec.Struct):
    """What came back from one exchange as far as it came, and what broke it off, if anything did."""

    status: int = 0
    retry_after: str | None = None
    body: bytearray = msgspec.field(default_factory=bytearray)
    broken: CallFailed | None = None

    @property
    def good(self) -> bool:
        """Whether the status tells of success."""
        return self.status // 100 == 2


class Connections:
    """Connections to one URL, at most so many at once. Nothing that it says holds a part of the URL."""

    def __init__(self, url: str, headers: Mapping[str, str], timeouts: Timeouts, most: int) -> None:
        parts = urlsplit(url)
        self._scheme = parts.scheme
        self._host = (parts.hostname or "").encode("idna").decode()
        self._port = parts.port or _PORTS[parts.scheme]
        self._name = f"[{self._host}]" if ":" in self._host else self._host
        self._proxy = _proxy(parts.scheme, self._host, self._name, self._port)
        target = quote(f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}", _PLAIN)
        host = self._name if parts.port is None else f"{self._name}:{parts.port}"
        self._head = self._encoded_head(
            target, {"Host": host, "User-Agent": AGENT, "Accept-Encoding": "identity", **headers}
        )
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._timeouts = timeouts
        self._idle: list[_Connection] = []
        self._places = asyncio.Semaphore(most)

    def _encoded_head(self, target: str, headers: Mapping[str, str]) -> bytes:
        """All of a request before the length of its body."""
        if self._proxy is not None and self._scheme == "http":
            target = f"http://{headers['Host']}{target}"
            headers = {**headers, **self._proxy.headers}
        return _head(f"POST {target}", headers) + b"Content-Length: "

    async def post(self, body: bytes) -> Received:
        """Send a body; what comes back."""
        async with self._places:
            now = asyncio.get_running_loop().time()
            connection = self._kept(now) or await self._connect()
            if isinstance(connection, CallFailed):
                return Received(broken=connection)
            if not connection.is_ready:  # it said something before it was asked
                return Received(broken=CallFailed(CONNECTION, CLOSED))
            try:
                message = b"%b%d\r\n\r\n%b" % (self._head, len(body), body)
                return await connection.exchange(message, self._timeouts, now)
            finally:
                if connection.is_ready:
                    self._idle.append(connection)
                else:
                    connection.close()

    async def close(self) -> None:
        """Close the connections that are kept."""
        while self._idle:
            self._idle.pop().close()
        await asyncio.sleep(0)  # they are closed in the loop's next round

    def _kept(self, now: float) -> _Connection | None:
        """The connection that was used last, if it can still be used."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_silent and now - connection.heard_at < LONGEST_IDLE:
                return connection
            connection.close()
        return None

    async def _connect(self) -> _Connection | CallFailed:
        """A new connection, or why there is none, in words of our own: the system's may hold the host."""
        longest = min(self._timeouts.connect, self._timeouts.total)
        try:
            async with asyncio.timeout(longest):
                return await self._open()
        except TimeoutError:
            return CallFailed(TIMEOUT, f"no connection within {longest:.3g} s")
        except socket.gaierror:
            return CallFailed(CONNECTION, "the host's name is not known")
        except ssl.SSLError:
            reason = "no secure connection: the host's certificate or TLS does not do"
            return CallFailed(CONNECTION, reason)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else "none of the host's addresses answers"
            return CallFailed(CONNECTION, f"cannot connect: {reason}")

    async def _open(self) -> _Connection | CallFailed:
        loop = asyncio.get_running_loop()
        if self._proxy is not None and self._tls is not None:
            return await self._open_through(self._proxy, self._tls)
        place = (self._proxy.host, self._proxy.port) if self._proxy is not None else (self._host, self._port)
        _, connection = await loop.create_connection(_Connection, *place, ssl=self._tls)
        return connection

    async def _open_through(self, proxy: _Proxy, tls: ssl.SSLContext) -> _Connection | CallFailed:
        """A connection through a proxy that sees nothing of what is said."""
        loop = asyncio.get_running_loop()
        plain, tunnel = await loop.create_connection(_Tunnel, proxy.host, proxy.port)
        try:
            place = f"{self._name}:{self._port}"
            plain.write(_head(f"CONNECT {place}", {"Host": place, **proxy.headers}) + b"\r\n")
            status = await tunnel.status
            if status != b"200":
                plain.abort()
                reason = f": {status.decode()}" if status.isdigit() else ""
                return CallFailed(CONNECTION, f"the proxy does not connect{reason}")
            connection = _Connection()
            transport = await loop.start_tls(plain, connection, tls, server_hostname=self._host)
        except BaseException:
            plain.abort()
            raise
        assert transport is not None
        connection.connection_made(transport)
        return connection


class _Tunnel(asyncio.Protocol):
    """What a proxy says before it leads on."""

    def __init__(self) -> None:
        self.status: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        """Empty where it says nothing that can be understood."""
        self._head = b""

    def data_received(self, data: bytes) -> None:
        self._head += data
        if b"\r\n\r\n" in self._head or len(self._head) > LARGEST_HEAD:
            self._tell(b"".join(self._head.split(maxsplit=2)[1:2])[:3])

    def connection_lost(self, error: Exception | None) -> None:
        self._tell(b"")

    def _tell(self, status: bytes) -> None:
        if not self.status.done():
            self.status.set_result(status)


class _Connection(asyncio.Protocol):
    """One connection, for one exchange after another."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[Received] | None = None
        self._parser = HttpResponseParser(self)
        self._received = Received()
        self._timeouts = Timeouts()
        self._deadline = self._due = self.heard_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._poll = select.poll()
        self._unused = 0
        self._says_where_it_ends = False

    @property
    def is_ready(self) -> bool:
        """Whether another exchange can begin."""
        return self._transport is not None and self._waiting is None

    @property
    def is_silent(self) -> bool:
        """Whether another exchange can begin, and nothing has come that the loop has not seen yet.

        It may be the end, or an answer to nobody that would be taken for that of the next call.
        """
        return self.is_ready and not self._poll.poll(0)

    def close(self) -> None:
        """Break off."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()
        if self._timer is not None:
            self._timer.cancel()

    def exchange(self, message: bytes, timeouts: Timeouts, started: float) -> asyncio.Future[Received]:
        """Send a message; what comes back."""
        assert self._transport is not None
        self._received = Received()
        self._parser = HttpResponseParser(self)
        self._unused = 0
        self._says_where_it_ends = False
        self._timeouts = timeouts
        self._deadline = started + timeouts.total
        self.heard_at = self._loop.time()
        self._due = min(self._deadline, self.heard_at + timeouts.read)
        self._timer = self._loop.call_at(self._due, self._look)
        self._waiting = self._loop.create_future()
        self._transport.write(message)
        return self._waiting

    def _look(self) -> None:
        """End what has taken too long; come back later where something was heard meanwhile."""
        due = min(self._deadline, self.heard_at + self._timeouts.read)
        if due > self._due:
            self._due = due
            self._timer = self._loop.call_at(due, self._look)
        elif due == self._deadline:
            self._end(CallFailed(TIMEOUT, f"not complete after {self._timeouts.total:g} s"))
        else:
            self._end(CallFailed(TIMEOUT, f"nothing came for {self._timeouts.read:g} s"))

    def _end(self, broken: CallFailed | None) -> None:
        waiting, self._waiting = self._waiting, None
        if self._timer is not None:
            self._timer.cancel()
        received, self._received = self._received, Received()  # what may still come is not part of it
        received.broken = broken
        unsent = self._transport is not None and self._transport.get_write_buffer_size()
        if broken is not None or unsent or not self._parser.should_keep_alive():
            self.close()
        if waiting is not None and not waiting.done():
            waiting.set_result(received)

    # What the transport calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are none by name
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        if self._waiting is None:  # nobody asked
            self.close()
            return
        self.heard_at = self._loop.time()
        self._unused += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._end_as_no_http()
        if self._unused > LARGEST_HEAD:
            self._end_as_no_http()

    def _end_as_no_http(self) -> None:
        if self._waiting is not None:
            self._end(CallFailed(MALFORMED, "what came back is not HTTP"))

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        if self._waiting is not None:
            complete = error is None and self._received.status and not self._says_where_it_ends
            self._end(None if complete else CallFailed(CONNECTION, CLOSED))

    # What the parser calls

    def on_message_begin(self) -> None:
        if self._waiting is None:  # nobody asked
            self.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name == b"retry-after":
            self._received.retry_after = value.decode("latin-1")
        elif name == b"content-length" or (name == b"transfer-encoding" and b"chunked" in value.lower()):
            self._says_where_it_ends = True

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= 200:
            self._received.status = status
        else:  # the answer is still to come
            self._received.retry_after = None
            self._says_where_it_ends = False

    def on_body(self, data: bytes) -> None:
        received = self._received
        if self._waiting is None:
            return
        self._unused = 0
        received.body += data
        largest = LARGEST_REPLY if received.good else LARGEST_ERROR
        if len(received.body) > largest:
            self._end(CallFailed(TOO_LARGE, f"more than {largest:,} bytes"))

    def on_message_complete(self) -> None:
        if self._waiting is not None and self._received.status:
            self._end(None)


def _head(request: str, headers: Mapping[str, str]) -> bytes:
    """The first lines of a request."""
    lines = [f"{request} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "".join(f"{line}\r\n" for line in lines).encode("ascii")


class _Proxy(NamedTuple):
    host: str
    port: int
    headers: dict[str, str]

    def __repr__(self) -> str:
        return f"_Proxy({self.host!r}, {self.port})"


def _proxy(scheme: str, host: str, name: str, port: int) -> _Proxy | None:
    """The proxy that the environment names for a host; there is none to this machine itself."""
    if _is_loopback(host) or any(map(proxy_bypass, (host, name, f"{name}:{port}"))):
        return None
    proxies = getproxies()
    variable = scheme if proxies.get(scheme) else "all"
    proxy = _parsed_proxy(proxies.get(variable) or "")
    if proxy is None and proxies.get(variable):
        remedy = "Write http://host:port; in a user or password, percent-encode what has a meaning in URLs."
        raise bad_value(f"{variable.upper()}_PROXY", "names no usable proxy", remedy)
    return proxy


def _parsed_proxy(url: str) -> _Proxy | None:
    """A proxy, or None where there is none to be used."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host = (parts.hostname or "").encode("idna").decode()
        port = parts.port or _PORTS["http"]
    except ValueError:
        return None
    if parts.scheme != "http" or not host:
        return None
    headers = {}
    if parts.username or parts.password:
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        headers["Proxy-Authorization"] = f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"
    return _Proxy(host, port, headers)


def _is_loopback(host: str) -> bool:
    """Whether a host is this machine, where no proxy leads to."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
