"""Alerts: one message per incident, to real targets, with no credential in any log."""

from __future__ import annotations

import json
import logging
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from eval_pipeline.automation.alerts import TARGETS, build_alerts, deliver, look_at_runs, text_of
from eval_pipeline.decisions.incidents import (
    CLAIM_SECONDS,
    MOST_ATTEMPTS,
    QUIET_SECONDS,
    Finding,
    Incidents,
    Message,
)
from eval_pipeline.definitions import build_definitions
from eval_pipeline.files import content_hash
from eval_pipeline.orchestration import evaluation_job, partitions_of
from eval_pipeline.project import Project
from eval_pipeline.store import database_url
from eval_pipeline.timetable import Automation
from eval_pipeline_tests.running import QUIET, instance_in

SECRET = "pass-word-in-url"
LOG = logging.getLogger("alerts under test")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def incidents(tmp_path: Path, clock: Clock) -> Iterator[Incidents]:
    with Incidents(f"sqlite:///{tmp_path / 'state.sqlite'}", clock) as opened:
        yield opened


WARNING = Finding("gate_recall", "warning", "recall 61 % is between", "http://ui/assets/toy/metrics")
CRITICAL = Finding("gate_recall", "critical", "recall 40 % fails", "http://ui/assets/toy/metrics")


def kinds(incidents: Incidents) -> list[str]:
    """What is told now."""
    messages = incidents.undelivered()
    for message in messages:
        incidents.claim(message, ["log"])
        incidents.note(message, {"log": True}, ["log"])
    return [message.kind for message in messages]


def test_one_message_when_it_opens_and_one_when_it_recovers(incidents: Incidents) -> None:
    assert incidents.look_at("r1", "toy v1", [WARNING])
    assert kinds(incidents) == ["opened"]
    for run in ("r2", "r3", "r4"):
        incidents.look_at(run, "toy v1", [WARNING])
    assert kinds(incidents) == []
    assert incidents.look_at("r5", "toy v1", [])
    assert kinds(incidents) == ["recovered"]
    assert not incidents.look_at("r6", "toy v1", [])
    assert kinds(incidents) == []


def test_a_run_counts_once(incidents: Incidents) -> None:
    incidents.look_at("r1", "toy v1", [WARNING])
    assert not incidents.look_at("r1", "toy v1", [])
    assert incidents.all()[0].closed_at is None


def test_what_gets_worse_is_told(incidents: Incidents) -> None:
    incidents.look_at("r1", "toy v1", [WARNING])
    incidents.look_at("r2", "toy v1", [WARNING, CRITICAL])
    incidents.look_at("r3", "toy v1", [CRITICAL])
    assert kinds(incidents) == ["opened", "worse"]


def test_a_flapping_check_floods_nobody(incidents: Incidents, clock: Clock) -> None:
    told = []
    for number in range(40):
        clock.now += 3600
        incidents.look_at(f"r{number}", "toy v1", [WARNING] if number % 2 == 0 else [])
        told += kinds(incidents)
    assert told == ["opened", "recovered"]
    (incident,) = incidents.all()
    assert incident.relapses == 19
    clock.now += QUIET_SECONDS + 1
    incidents.look_at("later", "toy v1", [WARNING])
    assert kinds(incidents) == ["opened"]
    assert len(incidents.all()) == 2


def test_others_are_other_incidents(incidents: Incidents) -> None:
    incidents.look_at("r1", "toy v1", [WARNING])
    incidents.look_at("r2", "toy v2", [WARNING])
    assert kinds(incidents) == ["opened", "opened"]
    incidents.look_at("r3", "toy v1", [])
    assert [incident.subject for incident in incidents.all()] == ["toy v2", "toy v1"]


def test_a_run_by_hand_closes_but_does_not_open(incidents: Incidents) -> None:
    assert not incidents.look_at("r1", "toy v1", [CRITICAL], may_open=False)
    incidents.look_at("r2", "toy v1", [CRITICAL])
    assert kinds(incidents) == ["opened"]
    incidents.look_at("r3", "toy v1", [], may_open=False)
    assert kinds(incidents) == ["recovered"]


def test_what_cannot_be_delivered_is_tried_again_but_not_for_ever(incidents: Incidents) -> None:
    incidents.look_at("r1", "toy v1", [WARNING])
    for _ in range(MOST_ATTEMPTS):
        (message,) = incidents.undelivered()
        assert incidents.claim(message, ["a", "b"]) == ["a", "b"]
        incidents.note(message, {"a": False, "b": False}, ["a", "b"])
    assert incidents.undelivered() == []


def test_a_message_arrives_once_per_target(
    incidents: Incidents, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One of two targets is down for a while, and several processes look at once."""
    sent: list[str] = []
    down = {"json://down"}

    def send(url: str, *_: Any) -> str | None:
        assert incidents.claim(message, names) == []  # nobody else sends meanwhile
        sent.append(url)
        return "cannot be reached" if url in down else None

    monkeypatch.setenv(TARGETS["critical"], "json://up json://down json://up")
    monkeypatch.setattr("eval_pipeline.automation.alerts._send", send)
    names = [content_hash(url) for url in ("json://up", "json://down")]
    message = message_of(incidents)
    for _ in range(3):
        deliver(message, incidents, LOG)
    assert sent == ["json://up", "json://down", "json://down", "json://down"]
    assert len(incidents.undelivered()) == 1
    down.clear()
    deliver(message, incidents, LOG)
    assert sent[4:] == ["json://down"]
    assert incidents.undelivered() == []


def test_who_dies_while_sending_keeps_others_from_it_for_a_while_only(
    incidents: Incidents, clock: Clock
) -> None:
    message = message_of(incidents)
    assert incidents.claim(message, ["a"]) == ["a"]
    assert incidents.claim(message, ["a"]) == []
    clock.now += CLAIM_SECONDS
    assert incidents.claim(message, ["a"]) == ["a"]


def message_of(incidents: Incidents, finding: Finding = CRITICAL) -> Message:
    incidents.look_at("r1", "toy guess-v1.0", [finding, WARNING])
    return incidents.undelivered()[0]


def test_a_message_has_severity_numbers_and_a_link(incidents: Incidents) -> None:
    title, text = text_of(message_of(incidents))
    assert title == "Critical: toy guess-v1.0"
    assert "recall 40 % fails" in text
    assert "http://ui/assets/toy/metrics" in text


@contextmanager
def webhook() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A webhook on loopback, and what it received."""
    received: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_real_webhook_receives_it(
    incidents: Incidents, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with webhook() as (place, received):
        monkeypatch.setenv(TARGETS["critical"], f"json://user:{SECRET}@{place}/hook")
        with caplog.at_level(logging.DEBUG):
            deliver(message_of(incidents), incidents, LOG)
    assert received[0]["title"] == "Critical: toy guess-v1.0"
    assert "recall 40 % fails" in received[0]["message"]
    assert SECRET not in caplog.text


def test_a_real_mail_server_receives_it(
    incidents: Incidents, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from aiosmtpd.controller import Controller

    class Box:
        def __init__(self) -> None:
            self.mails: list[bytes] = []

        async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
            self.mails.append(envelope.content)
            return "250 OK"

    box = Box()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        target = f"mailto://127.0.0.1:{port}?from=eval@example.org&to=team@example.org&mode=insecure&smtp=127.0.0.1"
        monkeypatch.setenv(TARGETS["warning"], target)
        with caplog.at_level(logging.DEBUG):
            deliver(message_of(incidents, WARNING), incidents, LOG)
    finally:
        controller.stop()
    mail = message_from_bytes(box.mails[0], policy=default)
    assert mail["Subject"] == "Warning: toy guess-v1.0"
    assert "recall 61 % is between" in str(mail)


@pytest.mark.parametrize(
    "target", [f"json://user:{SECRET}@127.0.0.1:9/hook", f"nonsense://user:{SECRET}@host", f"{SECRET}"]
)
def test_a_target_that_fails_is_told_without_its_credentials(
    incidents: Incidents, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, target: str
) -> None:
    monkeypatch.setenv(TARGETS["critical"], target)
    with caplog.at_level(logging.DEBUG):
        deliver(message_of(incidents), incidents, LOG)
    assert len(incidents.undelivered()) == 1
    assert "was not delivered" in caplog.text
    assert SECRET not in caplog.text


def test_without_a_target_it_goes_to_the_log(
    incidents: Incidents, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv(TARGETS["critical"], raising=False)
    deliver(message_of(incidents), incidents, LOG)
    assert incidents.undelivered() == []
    assert "recall 40 % fails" in caplog.text


def run(project: Project, instance: dg.DagsterInstance, **tags: str) -> dg.ExecuteInProcessResult:
    instance.add_dynamic_partitions(str(partitions_of("toy").name), ["guess-v1.0"])
    job = build_definitions(project).resolve_job_def(evaluation_job("toy"))
    return job.execute_in_process(
        instance=instance, partition_key="guess-v1.0", run_config=QUIET, tags=tags, raise_on_error=False
    )


def test_from_checks_of_a_run_to_an_incident_and_back(toy: Project) -> None:
    with instance_in(toy) as instance, Incidents(database_url(toy)) as incidents:
        run(toy, instance)
        assert not look_at_runs(instance, incidents, "http://ui")  # by hand: whoever did it sees it
        run(toy, instance, **{"dagster/schedule_name": "toy_nightly"})
        assert look_at_runs(instance, incidents, "http://ui")
        (incident,) = incidents.all()
        assert incident.subject == "toy guess-v1.0"
        named = {finding.check: finding for finding in incident.findings}
        assert "wolf: dog" in named["gate_accuracy"].text
        assert named["gate_accuracy"].link == "http://ui/assets/toy/metrics?view=checks&partition=guess-v1.0"
        assert not look_at_runs(instance, incidents, "http://ui")  # nothing is looked at twice


@pytest.mark.parametrize("days_off", [(400, 0), (0, -3)])
def test_a_clock_that_is_wrong_for_a_night_hides_nothing(toy: Project, days_off: tuple[int, int]) -> None:
    """A run that ended in the future does not hide the next one, nor one that ended in the past itself."""
    by_schedule = {"dagster/schedule_name": "toy_nightly"}
    sensor, cursor = build_alerts(toy, Automation()), None
    seen = []
    with instance_in(toy) as instance:
        for off in days_off:
            ended = run(toy, instance, **by_schedule)
            assert ended.success
            with sqlite3.connect(toy.state / "history" / "runs.db") as runs:
                moved = "UPDATE runs SET update_timestamp = datetime(update_timestamp, ?) WHERE run_id = ?"
                assert runs.execute(moved, (f"{off} days", ended.run_id)).rowcount == 1
            cursor = sensor.evaluate_tick(dg.build_sensor_context(instance, cursor=cursor)).cursor
            with Incidents(database_url(toy)) as incidents:
                seen.append(incidents.unknown([ended.run_id]))
    assert seen == [set(), set()]


def test_a_run_that_crashes_is_an_incident(toy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: Any, **__: Any) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr("eval_pipeline.stages.score_answers", crash)
    with instance_in(toy) as instance, Incidents(database_url(toy)) as incidents:
        assert not run(toy, instance, **{"dagster/sensor_name": "prompt_files"}).success
        look_at_runs(instance, incidents, "http://ui")
        (incident,) = incidents.all()
    assert incident.severity == "critical"
    crashed = [finding for finding in incident.findings if finding.check == "run"]
    assert [finding.text for finding in crashed] == ["The run failed; see its log."]


def test_the_sensor_shows_incidents_as_an_asset(toy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in TARGETS.values():
        monkeypatch.delenv(variable, raising=False)
    with instance_in(toy) as instance:
        run(toy, instance, **{"dagster/schedule_name": "toy_nightly"})
        sensor = build_alerts(toy, Automation())
        tick = sensor.evaluate_tick(dg.build_sensor_context(instance))
        (event,) = tick.asset_events
        assert isinstance(event, dg.AssetMaterialization)
        assert event.metadata["open"].value == 1
        assert "guess" in str(event.metadata["incidents"].value)
        again = sensor.evaluate_tick(dg.build_sensor_context(instance, cursor=tick.cursor))
        assert not again.asset_events
