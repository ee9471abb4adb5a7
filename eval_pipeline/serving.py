"""Reports on loopback, read-only: `eval-pipeline ui` starts this beside Dagster, as an origin of its own.

Whoever reads a report runs what stands in it, and what stands in it a model may have written. So it is served
from another port than Dagster's, in a sandbox, without a way to the network; to GET and HEAD alone, and to
nobody who came here by another name than the loopback's. Nothing is served but files that are reports, and on
the way to them no link is followed.
"""

from __future__ import annotations

import asyncio
import os
import re
import stat
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import NoReturn

from aiohttp import web

from eval_pipeline.problems import BadInput
from eval_pipeline.store import DASHBOARD, PAGE, TWIN, WEEKLY, Store

HOST = "127.0.0.1"
STATE: web.AppKey[Path] = web.AppKey("state", Path)
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}")
_NAMED = f"evaluations/{{suite:{NAME.pattern}}}/{{version:{NAME.pattern}}}"
PAGES = f"{{page:{re.escape(PAGE)}|{re.escape(TWIN)}}}"

NOTHING_ELSE = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
PAGE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    f"font-src data:; {NOTHING_ELSE}; sandbox allow-scripts allow-modals allow-downloads allow-popups "
    "allow-popups-to-escape-sandbox"
)
"""Pages bring a policy along that names their scripts by hash; both must allow what runs."""
TEXT_POLICY = f"default-src 'none'; {NOTHING_ELSE}; sandbox"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": TEXT_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
READING = ("GET", "HEAD")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def build_server(state: Path, port: int) -> web.Application:
    """The server of a state folder's reports."""
    hosts = {f"{name}:{port}" for name in (HOST, "localhost")}

    @web.middleware
    async def refuse_others(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse who does more than read, and who was led here by a name that is not the loopback's."""
        if request.host not in hosts:
            raise web.HTTPMisdirectedRequest
        if request.method not in READING:
            raise web.HTTPMethodNotAllowed(request.method, READING)
        return await handler(request)

    async def protect(_: web.Request, response: web.StreamResponse) -> None:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)

    server = web.Application(middlewares=[refuse_others])
    server[STATE] = state
    server.on_response_prepare.append(protect)
    server.add_routes(
        [
            web.get("/", _contents),
            web.get(f"/{DASHBOARD}", _dashboard),
            web.get(f"/{WEEKLY}/{{suite:{NAME.pattern}}}/{{page:{NAME.pattern}\\.html}}", _weekly),
            # Pages link to each other as their files lie, so that they do so also without a server.
            web.get(f"/{_NAMED}/latest", _latest),
            web.get(f"/{_NAMED}/latest/{PAGES}", _latest),
            web.get(f"/{_NAMED}/{{evaluation:{NAME.pattern}}}/{PAGES}", _report),
        ]
    )
    return server


async def _dashboard(request: web.Request) -> web.Response:
    return await _page(request.app[STATE], DASHBOARD)


async def _weekly(request: web.Request) -> web.Response:
    names = request.match_info
    return await _page(request.app[STATE], WEEKLY, names["suite"], names["page"])


async def _report(request: web.Request) -> web.Response:
    names = request.match_info
    place = names["suite"], names["version"], names["evaluation"]
    with suppress(BadInput):  # what is here can be served without the store that machines share
        await asyncio.to_thread(Store(request.app[STATE]).bring_report, *place)
    try:
        return await _page(request.app[STATE], "evaluations", *place, names["page"])
    except web.HTTPNotFound:
        if names["page"] != PAGE:
            raise
        return await _page(
            request.app[STATE], "evaluations", *place, TWIN
        )  # one from before there were pages


async def _latest(request: web.Request) -> NoReturn:
    names = request.match_info
    store = Store(request.app[STATE])
    folder = store.evaluations_folder(names["suite"], names["version"])
    latest = await asyncio.to_thread(_latest_name, store, folder)
    if not NAME.fullmatch(latest):
        raise web.HTTPNotFound
    place = "evaluations", names["suite"], names["version"], latest, names.get("page", PAGE)
    raise web.HTTPFound("/" + "/".join(place))


async def _contents(request: web.Request) -> web.Response:
    """All reports that there are: the latest of every version."""
    lines = await asyncio.to_thread(lambda: list(_lines(request.app[STATE])))
    body = "\n".join(lines) or "<p>Nothing was evaluated yet: <code>eval-pipeline run all</code></p>"
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        f"<title>Reports</title><h1>Reports</h1>\n{body}\n</html>\n"
    )
    return _of_page(text.encode())


def _latest_name(store: Store, folder: Path) -> str:
    try:
        return store.latest_in(folder)
    except BadInput:
        return ""


def _lines(state: Path) -> Iterator[str]:
    store = Store(state)
    if (state / DASHBOARD).is_file():
        yield f'<p><a href="/{DASHBOARD}">Dashboard: all suites</a></p>'
    for suite in store.suites():
        folders = [folder for folder in store.version_folders(suite) if _latest_name(store, folder)]
        above, names = f"/evaluations/{escape(suite)}", (escape(folder.name) for folder in folders)
        links = "".join(
            f'<li><a href="{above}/{name}/latest">{name}</a></li>' for name in names if NAME.fullmatch(name)
        )
        if links and NAME.fullmatch(suite):
            yield f"<h2>{escape(suite)}</h2><ul>{links}</ul>"


async def _page(state: Path, *parts: str) -> web.Response:
    content = await asyncio.to_thread(_content, state, *parts)
    if parts[-1].endswith(".html"):
        return _of_page(content)
    return web.Response(body=content, content_type="text/plain", charset="utf-8")


def _of_page(content: bytes) -> web.Response:
    policy = {"Content-Security-Policy": PAGE_POLICY}
    return web.Response(body=content, content_type="text/html", charset="utf-8", headers=policy)


def _content(state: Path, *parts: str) -> bytes:
    """What a file below the state folder holds; links are not followed, and lead nowhere."""
    if not all(NAME.fullmatch(part) for part in parts):
        raise web.HTTPNotFound
    opened = os.open(state, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts:
            inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=opened)
            os.close(opened)
            opened = inner
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise web.HTTPNotFound
        with os.fdopen(opened, "rb", closefd=False) as file:
            return file.read()
    except OSError:
        raise web.HTTPNotFound from None
    finally:
        os.close(opened)


if __name__ == "__main__":
    folder, number = Path(sys.argv[1]), int(sys.argv[2])
    web.run_app(build_server(folder, number), host=HOST, port=number, print=None, access_log=None)
