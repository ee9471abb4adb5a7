"""A project's state in another database: everything arrives, once, however often it is moved."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, inspect, text

from eval_pipeline.decisions import Finding, Incidents, Moved, move_database
from eval_pipeline.engines import Journal
from eval_pipeline.monitoring import Delivery, EventStore, Refusal, event_table
from eval_pipeline.monitoring.strata import KeptRates, Sampling, first_rates
from eval_pipeline.problems import BadInput
from eval_pipeline.store import History, Proposal, ProposalFiles, Store, embedded_database
from eval_pipeline.store.database import DATABASE_VARIABLE, SCHEMA
from eval_pipeline_tests.engines.journals import claim, record
from eval_pipeline_tests.store.test_history import evaluation

BAD = [Finding("gates", "critical", "too low")]
MONDAY = datetime.datetime(2026, 3, 2, 9, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)
PROPOSAL = Proposal("toy", "v2", "v1", "e", "It is better.", "2026-03-02")


@pytest.fixture
def moved_to(journal_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the state is moved to, as the environment says."""
    monkeypatch.setenv(DATABASE_VARIABLE, journal_url)
    return journal_url


def fill(state: Path, first: int, url: str = "") -> None:
    """Leave something of every kind in a database: by default that of the state folder."""
    url = url or embedded_database(state)
    with Journal.open(url) as journal:
        journal.record([record(f"key-{first}", "a \0 text")])
        claim(journal, [f"claimed-{first}"])
    with History(url) as history:
        history.append(f"run-{first}", evaluation())
    with Incidents(url, lambda: 1000.0 + first) as incidents:
        incidents.look_at(f"run-{first}", f"toy v{first}", BAD)
        for message in incidents.undelivered():
            incidents.note(message, dict.fromkeys(incidents.claim(message, ["mail"]), True), ["mail"])
    with EventStore(state, url) as events:
        row = {"request_id": str(first), "at": MONDAY, "suite": "toy"}
        events.keep(event_table([row]), name=f"file-{first}")
        refusals = (Refusal(first, "bad", "{"),)
        with events.staging() as staging:
            delivery = Delivery(f"digest-{first}", "bad.jsonl", 1, "flat", 0, 0, 0, (), refusals)
            assert events.publish(delivery, staging)
        events.ledger.key("pseudonyms", "secret")
    with KeptRates(url) as rates:
        rates.fix("toy", MONDAY.date() + first * 7 * DAY, first_rates(Sampling()))


def rows(url: str) -> dict[str, list[Any]]:
    """Everything that a database holds, but for claims and the numbers of rows."""
    engine = create_engine(url)
    found = {}
    with engine.connect() as connection:
        for name in inspect(engine).get_table_names():
            columns = [each["name"] for each in inspect(engine).get_columns(name)]
            kept = ", ".join(f'"{each}"' for each in sorted(columns) if each not in ("number", "taken_at"))
            where = " WHERE answered_at IS NOT NULL" if name == "journal_calls" else ""
            all_rows = connection.execute(text(f'SELECT {kept} FROM "{name}"{where}'))  # noqa: S608
            found[name] = sorted(repr([_plain(each) for each in row]) for row in all_rows)
    engine.dispose()
    return {name: each for name, each in found.items() if name not in ("journal_holders", "store_pointers")}


def _plain(value: Any) -> Any:
    """A value as SQLite has it."""
    return int(value) if isinstance(value, bool) else value


def count(moved: list[Moved], number: Callable[[Moved], int]) -> dict[str, int]:
    return {each.kind: number(each) for each in moved if number(each)}


def test_everything_arrives_once_however_often_it_is_moved(tmp_path: Path, moved_to: str) -> None:
    state = tmp_path / "here"
    fill(state, 1)
    ProposalFiles(state).keep("toy", "v2", PROPOSAL)
    first = move_database(state, moved_to)
    assert rows(moved_to) == rows(embedded_database(state))
    everything = count(first, lambda each: each.rows)
    assert everything == {
        "journal_calls": 1,
        "history_evaluations": 1,
        "alert_incidents": 1,
        "alert_runs": 1,
        "events_files": 2,
        "events_segments": 1,
        "events_quarantine": 1,
        "events_keys": 2,
        "production_rates": 1,
        "proposals": 1,
    }
    again = move_database(state, moved_to)
    assert count(again, lambda each: each.rows) == {}
    assert count(again, lambda each: each.known) == everything
    assert Store(state).proposals("toy") == [PROPOSAL]
    fill(state, 2)
    later = move_database(state, moved_to)
    assert count(later, lambda each: each.rows) == {
        name: number for name, number in everything.items() if name not in ("events_keys", "proposals")
    }
    assert rows(moved_to) == rows(embedded_database(state))


def test_what_was_used_meanwhile_stays_and_numbers_go_on(tmp_path: Path, moved_to: str) -> None:
    state = tmp_path / "here"
    fill(tmp_path / "other", 7, moved_to)
    fill(state, 1)
    (incidents,) = [each for each in move_database(state, moved_to) if each.kind == "alert_incidents"]
    assert incidents.renamed == ("incident-1 is incident-2",)
    with Incidents(moved_to) as shown:
        assert {each.subject: each.number for each in shown.all()} == {"toy v7": 1, "toy v1": 2}
        shown.look_at("run-9", "toy v9", BAD)
        assert max(each.number for each in shown.all()) == 3
        assert [each.incident.subject for each in shown.undelivered()] == ["toy v9"]


def test_an_incident_that_ended_since_ends_there_too(tmp_path: Path, moved_to: str) -> None:
    state = tmp_path / "here"
    fill(state, 1)
    move_database(state, moved_to)
    with Incidents(embedded_database(state), lambda: 5000.0) as incidents:
        incidents.look_at("healthy", "toy v1", [])
    for _ in range(2):
        move_database(state, moved_to)
        with Incidents(moved_to) as shown:
            (incident,) = shown.all()
            assert incident.closed_at == 5000.0
            assert [each.kind for each in shown.undelivered()] == ["recovered"]


def test_a_claim_there_gives_way_to_an_answer(tmp_path: Path, moved_to: str) -> None:
    state = tmp_path / "here"
    fill(state, 1)
    with Journal.open(moved_to) as journal:
        assert claim(journal, ["key-1"]) == {"key-1": True}
    move_database(state, moved_to)
    with Journal.open(moved_to) as journal:
        assert journal.answered(["key-1", "claimed-1"]) == {"key-1"}


def test_a_newer_schema_is_refused(tmp_path: Path, journal_url: str) -> None:
    with Journal.open(journal_url) as journal:
        journal.record([record("x")])
    engine = create_engine(journal_url)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE state_schema SET version = {SCHEMA + 1}"))  # noqa: S608
    for _ in range(2):
        with pytest.raises(BadInput, match=f"has schema {SCHEMA + 1}, and this eval-pipeline knows"):
            Journal.open(journal_url)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE state_schema SET version = {SCHEMA - 1}"))  # noqa: S608
    with Journal.open(journal_url) as journal:
        assert journal.answered(["x"]) == {"x"}
    engine.dispose()
