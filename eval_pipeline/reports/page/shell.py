"""A whole page in one file: it asks nobody for anything, and runs no script but its own."""

import base64
import hashlib
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.reports.page.html import Html, element, joined

COMPRESSION = 6


def document(
    title: str,
    body: Html,
    scripts: Sequence[str] = (),
    data: Mapping[str, Any] | None = None,
) -> str:
    """An HTML page with its style, its scripts and its data.

    Scripts are files of this package by name; `shell.js` runs before them. Each entry of the data is one
    node, which a script reads by `await data(name)`.
    """
    style = asset("style.css")
    programs = [asset(name) for name in ("shell.js", *scripts)]
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(programs, style)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("link", rel="icon", href="data:,"),
        element("style", Html(style)),
    ]
    nodes = [
        element("script", Html(packed(value)), type="text/plain", id=f"data-{name}")
        for name, value in (data or {}).items()
    ]
    running = [element("script", Html(program)) for program in programs]
    whole = element("html", element("head", *head), element("body", body, *nodes, *running), lang="en")
    return f"<!doctype html>\n{whole}\n"


def policy(scripts: Sequence[str], style: str) -> str:
    """What the page may do: run these scripts and show this style. No requests, no frames, no forms."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_source, scripts))}",
            f"style-src {_source(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class Packed(str):
    """A value as compressed JSON in base64: no character of it can end the element that it stands in."""

    __slots__ = ()


def packed(value: Any) -> Packed:
    """A value for a data node; what is large is packed piece by piece, before all of it is there."""
    if isinstance(value, Packed):
        return value
    return Packed(base64.b64encode(zlib.compress(msgspec.json.encode(value), COMPRESSION)).decode())


def unpacked(text: str) -> Any:
    """The value again."""
    return msgspec.json.decode(zlib.decompress(base64.b64decode(text)))


@cache
def asset(name: str) -> str:
    """A style sheet or a script of this package; one of somebody else comes with its licence."""
    text = _file(name)
    if name not in vendored():
        return text
    licence = _file(f"{name.partition('.')[0]}.LICENSE.txt")
    return f"/*!\n{licence}*/\n{text}"


def vendored() -> dict[str, dict[str, str]]:
    """The scripts that others published, each with its package, version and hashes."""
    known: dict[str, dict[str, str]] = msgspec.json.decode(_file("vendored.json"))
    return known


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def masthead(title: str, *content: str) -> Html:
    """The head of a page: its title, what stands beside it, and the button for light and dark."""
    toggle = element("button", "dark", type="button", id="theme", aria_pressed="false")
    skip = element("a", "Skip to content", href="#main", class_="skip")
    return joined([skip, element("header", element("h1", title), *content, toggle, class_="masthead")])


def main(*content: str) -> Html:
    """The content of a page."""
    return element("main", *content, id="main")
