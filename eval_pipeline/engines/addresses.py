"""The addresses of endpoints: taken apart, and without secrets."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

_SECRET_NAME = re.compile(r".*(key|token|secret|password|sig|signature|code)", re.IGNORECASE)
"""What a parameter of a URL is called that holds a secret."""


def holds_credentials(url: str) -> bool:
    """Whether somebody who reads a URL learns a secret."""
    parts = urlsplit(url)
    names = [pair.partition("=")[0] for pair in parts.query.split("&")]
    return "@" in parts.netloc or any(map(_SECRET_NAME.fullmatch, names))


class Place(NamedTuple):
    """A URL, taken apart."""

    bare: str
    query: str


def place_of(url: str) -> Place | None:
    """The parts of a base URL, or None where it is not usable as one."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        (parts.hostname or "").encode("idna")  # as resolving it will, too late to say so
    except ValueError:
        return None
    host = parts.netloc.rpartition("@")[2]
    # An "@" after the host: what looks like the host is the beginning of a password with a "/" in it.
    displaced = "@" in parts.path or "@" in parts.query or "@" in parts.fragment
    if not usable or displaced or re.search(r"[\s\x00-\x1f\x7f\\]", url):
        return None
    bare = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
    return Place(bare, parts.query)
