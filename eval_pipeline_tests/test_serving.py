"""The server of reports: what it gives, to whom, and what it keeps to itself. Over real HTTP on loopback."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from eval_pipeline.serving import HEADERS

SECRET = b"nobody may read this"
PAGE, TEXT = b"<!doctype html><title>page</title>", "# v1.0: ✓ passes\n".encode()


class Served(NamedTuple):
    port: int
    state: Path

    def ask(
        self, path: str, method: str = "GET", host: str | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """The answer to a request, with its path to the letter."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            connection.putheader("Host", host or f"127.0.0.1:{self.port}")
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    state = tmp_path_factory.mktemp("served") / "state"
    versions = state / "evaluations" / "toy"
    for folder in (versions / "v1.0" / "abc", versions / "v1.0" / "old", versions / "v2.0" / "def"):
        folder.mkdir(parents=True)
    (versions / "v1.0" / "latest").write_text("abc")
    (versions / "v1.0" / "abc" / "report.html").write_bytes(PAGE)
    for name in ("abc", "old"):
        (versions / "v1.0" / name / "report.md").write_bytes(TEXT)
    (versions / "v2.0" / "latest").write_text("../../../secret")
    (state / "weekly" / "toy").mkdir(parents=True)
    (state / "weekly" / "toy" / "2026-W46.html").write_bytes(PAGE)
    (state / "dashboard.html").write_bytes(PAGE)
    for secret in (
        state.parent / "secret",
        state / "journal.sqlite",
        versions / "v1.0" / "abc" / "identity.json",
    ):
        secret.write_bytes(SECRET)
    (versions / "v2.0" / "def" / "report.html").symlink_to(state.parent / "secret")
    (versions / "linked").symlink_to(versions / "v1.0")
    (versions / "v2.0" / "folder" / "report.html").mkdir(parents=True)
    os.mkfifo(versions / "v2.0" / "def" / "report.md")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "eval_pipeline.serving", str(state), str(port)])
    try:
        for _ in range(600):
            assert process.poll() is None
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield Served(port, state)
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.parametrize(
    ("path", "kind", "content"),
    [
        ("/evaluations/toy/v1.0/abc/report.html", "text/html; charset=utf-8", PAGE),
        ("/evaluations/toy/v1.0/abc/report.md", "text/plain; charset=utf-8", TEXT),
        ("/evaluations/toy/v1.0/old/report.html", "text/plain; charset=utf-8", TEXT),
        ("/dashboard.html", "text/html; charset=utf-8", PAGE),
        ("/weekly/toy/2026-W46.html", "text/html; charset=utf-8", PAGE),
    ],
)
def test_reports_are_served_as_what_they_are(served: Served, path: str, kind: str, content: bytes) -> None:
    status, headers, body = served.ask(path)
    assert (status, headers["Content-Type"], body) == (200, kind, content)
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "sandbox" in policy
    assert "allow-same-origin" not in policy
    assert "connect-src" not in policy, "nothing is reached: it is as default-src says"
    head = served.ask(path, "HEAD")
    assert head[0] == 200
    assert head[1]["Content-Length"] == str(len(content))
    assert head[2] == b""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/evaluations/toy/v1.0/latest", "/evaluations/toy/v1.0/abc/report.html"),
        ("/evaluations/toy/v1.0/latest/report.html", "/evaluations/toy/v1.0/abc/report.html"),
        ("/evaluations/toy/v1.0/latest/report.md", "/evaluations/toy/v1.0/abc/report.md"),
    ],
)
def test_the_latest_report_has_an_address_of_its_own(served: Served, path: str, place: str) -> None:
    status, headers, _ = served.ask(path)
    assert (status, headers["Location"]) == (302, place)


NOT_SERVED = [
    "/evaluations/toy/v1.0/abc/identity.json",
    "/journal.sqlite",
    "/evaluations/toy",
    "/evaluations/toy/",
    "/evaluations/toy/v1.0",
    "/evaluations/toy/v1.0/abc",
    "/evaluations/toy/v1.0/abc/",
    "/evaluations/toy/v1.0/nothing/report.html",
    "/evaluations/toy/v2.0/latest",
    "/evaluations/toy/v2.0/def/report.html",
    "/evaluations/toy/v2.0/def/report.md",
    "/evaluations/toy/v2.0/folder/report.html",
    "/evaluations/toy/linked/abc/report.html",
    "/../secret",
    "/evaluations/toy/../../secret",
    "/evaluations/toy/v1.0/../../../../secret",
    "/evaluations/toy/v1.0/%2e%2e/report.html",
    "/evaluations/toy/v1.0/..%2f..%2f..%2f..%2fsecret/report.html",
    "/evaluations/toy/v1.0/abc%2f..%2fabc/report.html",
    "/evaluations/toy/v1.0/abc/report.html%00.md",
    "/evaluations/toy/v1.0/abc/..%5creport.html",
    "//etc/passwd",
    "/weekly/toy/..%2f..%2fjournal.sqlite",
    "/weekly/toy/.html",
    "/.lock",
]


@pytest.mark.parametrize("path", NOT_SERVED)
def test_nothing_else_is_served(served: Served, path: str) -> None:
    status, _, body = served.ask(path)
    assert status in (400, 404)
    assert SECRET not in body
    assert b"root:" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_reading_is_all_that_can_be_done(served: Served, method: str) -> None:
    for path in ("/", "/evaluations/toy/v1.0/abc/report.html", "/nothing"):
        assert served.ask(path, method)[0] == 405
    assert (served.state / "evaluations" / "toy" / "v1.0" / "abc" / "report.html").read_bytes() == PAGE


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost"]
)
def test_who_was_led_here_by_another_name_gets_nothing(served: Served, host: str) -> None:
    status, _, body = served.ask("/evaluations/toy/v1.0/abc/report.html", host=host.format(port=served.port))
    assert status == 421
    assert PAGE not in body


def test_the_loopback_has_two_names(served: Served) -> None:
    assert served.ask("/dashboard.html", host=f"localhost:{served.port}")[0] == 200


@pytest.mark.parametrize(
    "path", ["/", "/evaluations/toy/v1.0/abc/report.md", "/evaluations/toy/v1.0/latest", "/nothing"]
)
def test_every_answer_is_protected(served: Served, path: str) -> None:
    headers = served.ask(path)[1]
    assert HEADERS.keys() <= headers.keys()
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_first_page_lists_reports_and_nothing_else(served: Served) -> None:
    status, headers, body = served.ask("/")
    text = body.decode()
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert '<a href="/evaluations/toy/v1.0/latest">v1.0</a>' in text
    assert '<a href="/dashboard.html">' in text
    assert "journal" not in text
    assert "identity" not in text
