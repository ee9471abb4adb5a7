"""Whole runs with the journal on a real PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from eval_pipeline.project import Project
from eval_pipeline.store.database import URL_VARIABLE
from eval_pipeline_tests.engines.fault_server import FaultServer, fault_server
from eval_pipeline_tests.engines.test_metered import (
    PROMPT,
    VERSION,
    configure,
    run_in_background,
    write_cases,
)
from eval_pipeline_tests.postgres import PASSWORD, USER, Server, postgres_server
from eval_pipeline_tests.running import command, ended

CONCURRENCY = 6


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with postgres_server() as running:
        yield running


@pytest.fixture
def server(project: Project, postgres: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    """A project whose engine is a server on loopback and whose journal is on PostgreSQL."""
    monkeypatch.setenv(URL_VARIABLE, postgres.new_schema())
    (project.prompts("decomposition") / f"{VERSION}.md").write_text(PROMPT)
    with fault_server() as running:
        configure(project, running.url, concurrency=CONCURRENCY)
        yield running


def test_an_unchanged_run_makes_no_call(project: Project, server: FaultServer) -> None:
    write_cases(project, {f"case-{number}": f"Text {number}." for number in range(30)})
    for _ in range(2):
        done = command(project, "run", "decomposition", "--prompt", VERSION)
        assert done.returncode in (0, 1), done.stderr
        assert server.calls == 30
    shown = command(project, "journal", "stats", "--json")
    (usage,) = json.loads(shown.stdout)
    assert (usage["calls"], usage["hits"]) == (30, 30)
    assert not (project.state / "journal.sqlite").exists()
    for secret in (PASSWORD, USER):
        assert secret not in done.stdout + done.stderr + shown.stdout
        assert not any(
            secret.encode() in file.read_bytes() for file in project.state.rglob("*") if file.is_file()
        )


def test_two_runs_at_once_make_each_call_once(project: Project, server: FaultServer) -> None:
    server.delay = 0.05
    write_cases(project, {f"case-{number:03}": f"Text {number}." for number in range(150)})
    both = [run_in_background(project) for _ in range(2)]
    assert {ended(process) for process in both} <= {0, 1}
    assert server.calls == 150
    assert max(server.asked.values()) == 1
    assert server.most_in_flight <= CONCURRENCY
