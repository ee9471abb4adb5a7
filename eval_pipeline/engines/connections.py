"""HTTP as engines need it: bodies posted to one URL, many at once, over connections that are kept."""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from urllib.request import getproxies, proxy_bypass

import aiohttp
import msgspec
from aiohttp.connector import Connection
from yarl import URL

from eval_pipeline.answers import TIMEOUT
from eval_pipeline.engines.calls import CONNECTION, MALFORMED, TOO_LARGE, CallFailed
from eval_pipeline.engines.fields import Timeouts
from eval_pipeline.problems import bad_value

LARGEST_REPLY = 8 * 2**20
LARGEST_ERROR = 64 * 2**10
LARGEST_HEADER = 64 * 2**10
"""What gateways say of themselves in one header may be more than the client takes by itself."""
LARGEST_AT_ONCE = 2**20
"""A larger body is sent in pieces, so that the loop goes on meanwhile, which costs more per call."""
LONGEST_IDLE = 30.0
"""A connection that was not used for longer may have been forgotten on the way without a word."""

AGENT = "eval-pipeline"
CLOSED = "the connection was closed before the answer was complete"
BROKEN = "the answer broke off, or its compression is damaged"

_FAILURES = (
    (aiohttp.ConnectionTimeoutError, CONNECTION, "no connection within {timeouts.connect:.3g} s"),
    (aiohttp.SocketTimeoutError, TIMEOUT, "nothing came for {timeouts.read:g} s"),
    (TimeoutError, TIMEOUT, "not complete after {timeouts.total:g} s"),
    (aiohttp.ClientHttpProxyError, CONNECTION, "the proxy does not connect: {error.status}"),
    (aiohttp.ClientResponseError, MALFORMED, "what came back is not HTTP"),
    (aiohttp.ClientConnectorDNSError, CONNECTION, "the host's name is not known"),
    (aiohttp.ClientSSLError, CONNECTION, "no secure connection: the host's certificate or TLS does not do"),
    (aiohttp.ClientProxyConnectionError, CONNECTION, "cannot connect to the proxy: {reason}"),
    (aiohttp.ClientConnectorError, CONNECTION, "cannot connect: {reason}"),
    (aiohttp.ClientPayloadError, CONNECTION, BROKEN),
    (aiohttp.ClientError, CONNECTION, CLOSED),
)
"""What the client raises, the first that fits, in words of our own: its words hold the URL."""


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
        self._url = _parsed("url", url, "http", "https")
        proxy = _proxy(self._url)
        self._headers = headers  # not the session's, which a proxy is sent, too
        self._timeouts = timeouts
        tls = ssl.create_default_context() if self._url.scheme == "https" else True
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=most, keepalive_timeout=LONGEST_IDLE, ssl=tls),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": AGENT},
            proxy=proxy,
            request_class=_Request,
            max_field_size=LARGEST_HEADER,
            timeout=aiohttp.ClientTimeout(
                total=timeouts.total,
                connect=timeouts.connect,
                sock_read=timeouts.read,
                ceil_threshold=timeouts.total,  # up to which none is rounded up
            ),
        )

    async def post(self, body: bytes) -> Received:
        """Send a body; what comes back."""
        received = Received()
        data = body if len(body) <= LARGEST_AT_ONCE else BytesIO(body)
        try:
            async with self._session.post(
                self._url, data=data, headers=self._headers, allow_redirects=False
            ) as response:
                received.status = response.status
                received.retry_after = response.headers.get("Retry-After")
                largest = LARGEST_REPLY if received.good else LARGEST_ERROR
                async for piece in response.content.iter_any():
                    received.body += piece
                    if len(received.body) > largest:
                        received.broken = CallFailed(TOO_LARGE, f"more than {largest:,} bytes")
                        break
        except (aiohttp.ClientError, TimeoutError) as error:
            received.broken = self._failed(error)
        return received

    async def close(self) -> None:
        """Close the connections that are kept."""
        await self._session.close()

    def _failed(self, error: Exception) -> CallFailed:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else "none of the host's addresses answers"
        kind, words = next((kind, words) for of, kind, words in _FAILURES if isinstance(error, of))
        return CallFailed(kind, words.format(error=error, timeouts=self._timeouts, reason=reason))


class _Request(aiohttp.ClientRequest):
    """A request that is not sent where something was said unasked, which would be taken for the answer."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        await asyncio.sleep(0)  # what came while the loop was busy is heard
        if conn.protocol is None or conn.protocol.should_close:
            raise aiohttp.ServerDisconnectedError
        return await super().send(conn)


def _proxy(url: URL) -> URL | None:
    """The proxy that the environment names for a URL; there is none to this machine itself."""
    names = (url.raw_host or "", f"{url.host_subcomponent}:{url.port}")
    if re.fullmatch(r"localhost|127\.[\d.]+|::1", names[0]) or any(map(proxy_bypass, names)):
        return None
    proxies = getproxies()
    variable = url.scheme if proxies.get(url.scheme) else "all"
    proxy = proxies.get(variable)
    if not proxy:
        return None
    return _parsed(f"{variable.upper()}_PROXY", proxy if "://" in proxy else f"http://{proxy}", "http")


def _parsed(name: str, url: str, *schemes: str) -> URL:
    """A URL that can be asked, or a problem that quotes nothing of it."""
    with suppress(ValueError):
        parsed = URL(url)
        (parsed.raw_host or "").encode("idna")  # as resolving it will, too late to say so
        aiohttp.encode_basic_auth(parsed.user or "", parsed.password or "", "latin-1")  # as it will be sent
        if parsed.scheme in schemes and parsed.host:
            return parsed
    remedy = f"Write {schemes[-1]}://host; in a user or password, percent-encode what has a meaning in URLs."
    raise bad_value(name, "is not a usable URL", remedy)
