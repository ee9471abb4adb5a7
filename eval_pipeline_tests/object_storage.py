"""A real S3-compatible server on loopback, which fails when a test tells it to."""

from __future__ import annotations

import importlib.util
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest

BUCKET = "evaluations"
_FOLDERS = itertools.count(1)
"""Servers of one process have the same objects, so that no two of them may use a folder."""
Environment = dict[str, Any]
Respond = Callable[..., Callable[[bytes], object]]
Application = Callable[[Environment, Respond], Iterable[bytes]]


class Faulty:
    """An application whose next responses are lost, late, refused or cut off."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._lock = threading.Lock()
        self._next: list[tuple[str, str]] = []
        self.requests: list[tuple[str, str]] = []

    def fail(self, method: str, *faults: str) -> None:
        """Let the next requests of a method fail so, one after the other."""
        self._next += [(method, fault) for fault in faults]

    def __call__(self, environment: Environment, respond: Respond) -> Iterable[bytes]:
        method = environment["REQUEST_METHOD"]
        with self._lock:
            self.requests.append((method, environment["PATH_INFO"]))
            fault = next((each for each in self._next if each[0] == method), None)
            if fault:
                self._next.remove(fault)
        kind = fault[1] if fault else ""
        if kind == "refused":
            environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0))
            respond("503 Slow Down", [("Content-Type", "application/xml")])
            return [b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"]
        if kind == "late":
            time.sleep(0.2)
        if kind == "lost":  # it is done, but nobody is told
            b"".join(self._application(environment, lambda *_: lambda _: None))
            respond("500 Internal Server Error", [("Content-Type", "application/xml")])
            return [b"<Error><Code>InternalError</Code><Message>Try again.</Message></Error>"]
        content = self._application(environment, respond)
        if kind == "cut off":
            whole = b"".join(content)
            return [whole[: len(whole) // 2]]
        return content


class S3:
    """A running server."""

    def __init__(self, port: int, faults: Faulty) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.faults = faults

    @property
    def environment(self) -> dict[str, str]:
        """What lets programs find it."""
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": "tester",
            "AWS_SECRET_ACCESS_KEY": "no-secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def new_folder(self) -> str:
        """The URL of a folder that is empty."""
        return f"s3://{BUCKET}/folder-{next(_FOLDERS)}"


@contextmanager
def s3_server() -> Iterator[S3]:
    """A server with one bucket, and an environment that leads there; skips where it cannot be had."""
    for package in ("moto", "s3fs", "flask"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the Python package {package} is not installed")
    import boto3
    import s3fs
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log(self, *_: Any, **__: Any) -> None:
            """Say nothing."""

    faults = Faulty(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, faults, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    running = S3(server.server_port, faults)
    try:
        with mock.patch.dict(os.environ, running.environment):
            s3fs.S3FileSystem.clear_instance_cache()
            client = boto3.client("s3")
            client.create_bucket(Bucket=BUCKET)
            client.close()
            yield running
    finally:
        s3fs.S3FileSystem.clear_instance_cache()
        server.shutdown()
        thread.join()
        server.server_close()
