"""The one database of a project: journal and limits, history, incidents, proposals, the ledger of production.

SQLite in the state folder by default; PostgreSQL by a URL in the environment, with Dagster's own storage.
"""

from __future__ import annotations

import atexit
import functools
import os
import sqlite3
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from eval_pipeline.problems import BadInput, bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.secrets import keep_secret

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection, Engine, MetaData, Table
    from sqlalchemy.dialects import postgresql, sqlite
    from sqlalchemy.engine import URL
    from sqlalchemy.types import TypeEngine

DATABASE_VARIABLE = "EVAL_PIPELINE_DATABASE"
"""Names the database of everything, Dagster's storage included."""
URL_VARIABLE = "EVAL_PIPELINE_JOURNAL"
"""Names the database of everything but Dagster's storage."""
LOCK_SECONDS = 60
CONNECT_SECONDS = 10
SCHEMA = 1
"""What the tables mean. A program that changes it so that older ones would misread them counts it up."""
MOST_POOLS = 4
"""Databases whose connections a process keeps open for the next use."""

_LOCK_NAMESPACE = 0x6A6F7572
_ONLY_READS = "journal_only_reads"
_POSTGRES_DRIVER, _DAGSTER_DRIVER = "postgresql+psycopg", "postgresql+psycopg2"


def database_url(project: Project) -> str:
    """The database of the environment, or the one in the project's state folder."""
    return shared_database() or embedded_database(project.state)


def embedded_database(state: Path) -> str:
    """The database in a state folder."""
    return f"sqlite:///{quote(str(state / 'journal.sqlite'))}"


def shared_database() -> str:
    """The database that the environment names, and others may use, too; blank where it names none."""
    return os.environ.get(URL_VARIABLE) or os.environ.get(DATABASE_VARIABLE) or ""


def is_database_shared() -> bool:
    """Whether the environment names a database that others may use, too."""
    return bool(shared_database())


def is_dagster_shared() -> bool:
    """Whether Dagster's own storage, too, lies in a PostgreSQL that the environment names."""
    named = os.environ.get(DATABASE_VARIABLE)
    if not named or not _is_postgres(_parsed(named)):
        return False
    if not named.startswith(f"{_DAGSTER_DRIVER}://"):
        remedy = f"Write {_DAGSTER_DRIVER}://user:password@host/database: Dagster knows that driver alone."
        raise bad_value(DATABASE_VARIABLE, "names no driver that Dagster knows", remedy)
    return True


def database_file(url: str) -> Path | None:
    """The file that holds a database, or None where a server does."""
    parsed = _parsed(url)
    return None if _is_postgres(parsed) else Path(str(parsed.database))


def text_type() -> TypeEngine[str]:
    """Text whose order does not depend on a server's language."""
    from sqlalchemy import Text

    return Text().with_variant(Text(collation="C"), "postgresql")


class Database:
    """A database with some tables. Any number of processes may open it at once."""

    def __init__(self, url: str, metadata: MetaData) -> None:
        self._engine = _engine(_parsed(url))
        self._reading_engine = self._engine.execution_options(**{_ONLY_READS: True})
        self.is_postgres = _is_postgres(self._engine.url)
        try:
            with self.writing("schema") as connection:
                _stop_if_newer(connection)
                metadata.create_all(connection)
                _add_columns(connection, metadata)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; connections to a server stay in the pool of this process."""
        if not self.is_postgres:
            self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        with _told(self._engine.url), self._reading_engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self, what: str) -> Iterator[Connection]:
        """A transaction that is the only one to write, as to SQLite; on a server, the only one to write that.

        A lock on the whole is what makes look-then-write safe, and batches in any order free of deadlocks.
        """
        from sqlalchemy import func, select

        with _told(self._engine.url), self._engine.begin() as connection:
            if self.is_postgres:
                number = zlib.crc32(what.encode()) - 2**31
                connection.execute(select(func.pg_advisory_xact_lock(_LOCK_NAMESPACE, number)))
            yield connection

    def go_on_from_largest(self, connection: Connection, column: Column[int]) -> None:
        """Let new rows have larger numbers than those that were given their own."""
        from sqlalchemy import func, select

        if self.is_postgres:  # SQLite does so by itself
            sequence = func.pg_get_serial_sequence(column.table.name, column.name)
            largest = select(func.coalesce(func.max(column), 0) + 1).scalar_subquery()
            connection.execute(select(func.setval(sequence, largest, False)))

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """An insert that can say what to do where the row is there already."""
        from sqlalchemy.dialects import postgresql, sqlite

        return postgresql.insert(table) if self.is_postgres else sqlite.insert(table)


def _stop_if_newer(connection: Connection) -> None:
    """Note which schema the tables have, and refuse one that only a newer program understands."""
    from sqlalchemy import select

    table = _schema()
    table.create(connection, checkfirst=True)
    version = connection.execute(select(table.c.version)).scalar()
    if version is None:
        connection.execute(table.insert().values(version=SCHEMA))
    elif version > SCHEMA:
        reason = f"has schema {version}, and this eval-pipeline knows schemas up to {SCHEMA}"
        raise _refused(connection.engine.url, reason, "Upgrade eval-pipeline on this machine.")
    elif version < SCHEMA:
        connection.execute(table.update().values(version=SCHEMA))


@functools.cache
def _schema() -> Table:
    from sqlalchemy import Column, Integer, MetaData, Table

    return Table(
        "state_schema", MetaData(), Column("version", Integer, primary_key=True, autoincrement=False)
    )


def _add_columns(connection: Connection, metadata: MetaData) -> None:
    """Give tables that are older than this program the columns they lack; those have defaults."""
    from sqlalchemy import inspect
    from sqlalchemy.schema import CreateColumn

    there = inspect(connection)
    for table in metadata.tables.values():
        known = {column["name"] for column in there.get_columns(table.name)}
        for column in table.columns:
            if column.name not in known:
                definition = CreateColumn(column).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f'ALTER TABLE "{table.name}" ADD COLUMN {definition}')


class Stored:
    """Something that is kept in a database; its block closes the connections."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()


def _parsed(text: str) -> URL:
    """A URL that can be used. The text is never repeated: a password may stand anywhere in a mistyped one."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    remedy = f"Set {_variable()} to sqlite:////path/to/file or postgresql://user:password@host/database."
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise bad_value("journal", "is not a database's URL", remedy) from None
    keep_secret(str(url.password or ""))
    if _is_postgres(url):
        if text.count("@") > 1 or "@" in f"{url.host}{url.database}":
            percent = "Write @, : and / in a user's name or password as %40, %3A and %2F."
            raise bad_value("journal", "is not a database's URL", percent)
        if url.drivername not in ("postgres", "postgresql", _POSTGRES_DRIVER, _DAGSTER_DRIVER):
            raise bad_value(
                "journal", "names another driver than psycopg", "Write postgresql://… without it."
            )
        return url.set(drivername=_POSTGRES_DRIVER)
    if url.get_backend_name() != "sqlite" or url.host or url.username or url.query:
        raise bad_value("journal", "is neither a SQLite file nor a PostgreSQL database", remedy)
    if url.database in (None, "", ":memory:"):
        raise bad_value("journal", "names no file", remedy)
    return url


def _is_postgres(url: URL) -> bool:
    return url.get_backend_name() in ("postgres", "postgresql")


def _engine(url: URL) -> Engine:
    from sqlalchemy import create_engine, event

    if not _is_postgres(url):
        try:
            Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unusable(url, str(error.strerror)) from None
        engine = create_engine(url, hide_parameters=True, connect_args={"timeout": LOCK_SECONDS})
        event.listen(engine, "connect", _configure_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    return _POOLS.engine(url)


class _Pools:
    """Connections to servers, which a process keeps for whoever opens the same database next.

    Of a pool that is put out, connections in use are closed when they are given back.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, str], Engine] = OrderedDict()
        self._lock = threading.Lock()
        atexit.register(self._close)

    def engine(self, url: URL) -> Engine:
        """The pool of a database. A process that was forked has its own: a connection has one user."""
        key = os.getpid(), url.render_as_string(hide_password=False)
        with self._lock:
            engine = self._kept.pop(key, None) or _postgres_engine(url)
            self._kept[key] = engine
            while len(self._kept) > MOST_POOLS:
                (process, _), oldest = self._kept.popitem(last=False)
                oldest.dispose(close=process == os.getpid())
            return engine

    def _close(self) -> None:
        for (process, _), engine in self._kept.items():
            engine.dispose(close=process == os.getpid())


_POOLS = _Pools()


def _postgres_engine(url: URL) -> Engine:
    from sqlalchemy import create_engine, event

    try:
        engine = create_engine(
            url,
            hide_parameters=True,
            pool_pre_ping=True,
            pool_timeout=LOCK_SECONDS,
            connect_args={} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_SECONDS},
        )
    except ImportError:
        remedy = "Run: pip install 'eval-pipeline[postgres]'"
        raise bad_value("journal", "is on PostgreSQL, which needs the package psycopg", remedy) from None
    event.listen(engine, "connect", _configure_postgres)
    return engine


def _configure_sqlite(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # transactions begin in `_begin_sqlite`
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
            break
        except sqlite3.OperationalError as error:
            # SQLite does not wait where several processes switch a new file over at once.
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous=NORMAL").close()


def _begin_sqlite(connection: Connection) -> None:
    only_reads = connection.get_execution_options().get(_ONLY_READS, False)
    connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")


def _configure_postgres(connection: Any, _: object) -> None:
    """Wait for others no longer than with SQLite, and let no process that hangs hold a lock for ever."""
    with connection.cursor() as cursor:
        for setting in ("lock_timeout", "idle_in_transaction_session_timeout"):
            cursor.execute(f"SET {setting} = '{LOCK_SECONDS}s'")
    connection.commit()


@contextmanager
def _told(url: URL) -> Iterator[None]:
    """Tell what is wrong with a database without the credentials of its URL, and without what was stored."""
    from sqlalchemy.exc import DBAPIError

    try:
        yield
    except DBAPIError as error:
        raise _unusable(url, _reason(url, error)) from None


def _reason(url: URL, error: Exception) -> str:
    text = str(getattr(error, "orig", error)).strip().partition("\n")[0]
    query = [value for name, value in url.query.items() if "pass" in name]
    for secret in (str(url.password or ""), *map(str, query)):
        text = text.replace(secret, "***") if secret else text
    for name in (url.username, url.query.get("user")):
        text = text.replace(f'"{name}"', '"***"')
    return text


def _unusable(url: URL, reason: str) -> BadInput:
    if _is_postgres(url):
        remedy = f"See that the server runs, and that {_variable()} names its user and password."
    else:
        remedy = f"See that the file can be written, or name another with {_variable()}."
    return _refused(url, f"cannot be used: {reason}", remedy)


def _refused(url: URL, reason: str, remedy: str) -> BadInput:
    is_server = _is_postgres(url)
    server = f"{url.host or url.query.get('host') or 'localhost'}/{url.database or ''}"
    return bad_value("journal", f"{server if is_server else shown_path(str(url.database))} {reason}", remedy)


def _variable() -> str:
    """The variable that names the database, or would."""
    is_old = os.environ.get(URL_VARIABLE) or not os.environ.get(DATABASE_VARIABLE)
    return URL_VARIABLE if is_old else DATABASE_VARIABLE
