"""Databases that cannot be used: the reason is given, and no credential."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.engines import Journal
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.store import database_file, database_url
from eval_pipeline.store.database import URL_VARIABLE
from eval_pipeline_tests.engines.journals import record
from eval_pipeline_tests.postgres import PASSWORD, USER, Server

WRONG = "wr0ng-one"


def raised(action: Callable[[], Any]) -> str:
    """Everything that a person or a log would see of an error."""
    with pytest.raises(BadInput) as caught:
        action()
    return "".join(traceback.format_exception(caught.value))


def test_a_wrong_password_is_reported_without_the_password(postgres: Server) -> None:
    address = postgres.url("postgres", password=WRONG)
    message = raised(lambda: Journal.open(address))
    assert "127.0.0.1/postgres cannot be used" in message
    assert "password authentication failed" in message
    assert WRONG not in message
    assert USER not in message


@pytest.mark.parametrize("dead", [False, True])
def test_a_missing_database_or_server_is_reported_without_credentials(postgres: Server, dead: bool) -> None:
    address = postgres.url("nowhere")
    message = raised(lambda: Journal.open(address.replace(f":{postgres.port}/", ":1/") if dead else address))
    assert "127.0.0.1/nowhere cannot be used" in message
    assert ("refused" if dead else "does not exist") in message
    assert not any(secret in message for secret in (PASSWORD, "s3cr3t", USER))


def test_a_failure_in_the_middle_is_reported_without_credentials_or_content(postgres: Server) -> None:
    from sqlalchemy import create_engine

    address = postgres.new_schema()
    with Journal.open(address) as journal:
        engine = create_engine(address)
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE journal_calls")
        engine.dispose()
        answer = record("x", "what a model wrote")
        message = raised(lambda: journal.record([answer]))
    assert 'relation "journal_calls" does not exist' in message
    assert not any(secret in message for secret in (PASSWORD, "s3cr3t", USER, "what a model wrote"))


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("s3cr3t", "is not a database's URL"),
        ("/path/s3cr3t.sqlite", "is not a database's URL"),
        ("postgresql://user:name:s3cr3t@host:s3cr3t/database", "is not a database's URL"),
        ("postgresql://user:p@s3cr3t@host/database", "is not a database's URL"),
        ("postgresql://user:p@s3cr3t/s3cr3t@host/database", "is not a database's URL"),
        ("postgresql://us/er:s3cr3t@host/database", "is not a database's URL"),
        ("postgresql+asyncpg://user:s3cr3t@host/database", "names another driver"),
        ("mysql://user:s3cr3t@host/database", "is neither a SQLite file nor a PostgreSQL database"),
        ("sqlite://user:s3cr3t@host/database", "is neither a SQLite file nor a PostgreSQL database"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
    ],
)
def test_a_url_that_cannot_be_used_is_reported_without_repeating_it(address: str, reason: str) -> None:
    message = raised(lambda: Journal.open(address))
    assert reason in message
    assert "s3cr3t" not in message


def test_a_missing_driver_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "needs the package psycopg" in raised(lambda: Journal.open("postgresql://user@host/database"))


def test_a_file_that_is_no_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite").write_text("not a database, " * 100)
    assert "file is not a database" in raised(lambda: Journal.open(f"sqlite:///{tmp_path}/journal.sqlite"))
    inside = f"sqlite:///{tmp_path}/journal.sqlite/journal.sqlite"
    assert "cannot be used" in raised(lambda: Journal.open(inside))


def test_the_url_is_the_environment_s_or_a_file_in_the_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path, tmp_path / "a b?c%41#d@e")
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    file = project.state / "journal.sqlite"
    assert database_file(database_url(project)) == file
    with Journal.open(database_url(project)) as journal:
        journal.record([record("x")])
    assert file.exists()
    monkeypatch.setenv(URL_VARIABLE, "postgresql://user:password@host/database")
    assert database_url(project) == "postgresql://user:password@host/database"
    assert database_file(database_url(project)) is None
