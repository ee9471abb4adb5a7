"""A real PostgreSQL server on loopback, in a temporary folder, for tests that need one."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

USER = "journal_tester"
PASSWORD = "s3cr3t/p@ss:w%rd"
SYSTEM_USER = "postgres"


class Server:
    """A running server."""

    def __init__(self, port: int) -> None:
        self.port = port

    def url(self, database: str, *, password: str = PASSWORD) -> str:
        """The URL of a database."""
        from sqlalchemy import URL

        made = URL.create("postgresql+psycopg", USER, password, "127.0.0.1", self.port, database)
        return made.render_as_string(hide_password=False)

    def new_schema(self, driver: str = "postgresql+psycopg") -> str:
        """The URL of a schema that is new and empty: quicker to make than a database."""
        from sqlalchemy import create_engine, make_url

        name, url = f"test_{uuid4().hex}", self.url("postgres")
        engine = create_engine(url)
        try:
            with engine.begin() as connection:
                connection.exec_driver_sql(f"CREATE SCHEMA {name}")
        finally:
            engine.dispose()
        inside = make_url(url).update_query_dict({"options": f"-csearch_path={name}"})
        return inside.set(drivername=driver).render_as_string(hide_password=False)


@contextmanager
def postgres_server() -> Iterator[Server]:
    """A server with password authentication; skips the test where one cannot be had."""
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("the Python package psycopg is not installed")
    initdb, pg_ctl = _binary("initdb"), _binary("pg_ctl")
    prefix = _as_ordinary_user()
    folder = Path(tempfile.mkdtemp(prefix="eval-postgres-"))
    try:
        secret = folder / "password"
        secret.write_text(PASSWORD)
        if prefix:
            for path in (folder, secret):
                shutil.chown(path, SYSTEM_USER)
        data = folder / "data"
        # SCRAM lets every client hash 4,096 times, and Dagster opens a connection for each query.
        creation = ["--username", USER, "--pwfile", str(secret), "--auth", "md5"]
        _run(folder, [*prefix, initdb, "-D", str(data), "--no-sync", "--encoding", "UTF8", *creation])
        port = _free_port()
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        control = [*prefix, pg_ctl, "-D", str(data), "-w"]
        _run(folder, [*control, "-l", str(folder / "log"), "-o", options, "start"])
        try:
            yield Server(port)
        finally:
            _run(folder, [*control, "-m", "fast", "stop"])
    finally:
        shutil.rmtree(folder)


def _binary(name: str) -> str:
    installed = Path("/usr/lib/postgresql").glob(f"*/bin/{name}")
    newest = max(installed, key=lambda path: int(path.parts[4]), default=None)
    found = shutil.which(name) or (newest and str(newest))
    if not found:
        pytest.skip(f"PostgreSQL's {name} is not installed")
    return found


def _as_ordinary_user() -> list[str]:
    """What to put before a command, since PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    try:
        pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        pytest.skip(f"PostgreSQL does not run as root, and there is no user {SYSTEM_USER}")
    runuser = shutil.which("runuser")
    if not runuser:
        pytest.skip("PostgreSQL does not run as root, and there is no runuser")
    return [runuser, "-u", SYSTEM_USER, "--"]


def _run(folder: Path, arguments: list[str]) -> None:
    # The server inherits standard output: a pipe would never be closed.
    with (folder / "commands").open("a") as output:
        done = subprocess.run(arguments, cwd=folder, stdout=output, stderr=output, check=False)
    log = folder / "log"
    told = (folder / "commands").read_text() + (log.read_text() if log.exists() else "")
    assert done.returncode == 0, f"{' '.join(arguments)}:\n{told}"


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
