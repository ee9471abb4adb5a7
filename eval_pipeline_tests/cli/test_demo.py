"""The demo: a line for each version, a table, the UI beside them, and nothing left when it ends."""

from __future__ import annotations

import datetime
import importlib.util
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_pipeline.cli.demo import simulate_week
from eval_pipeline.decisions import Incidents
from eval_pipeline.improvement import week_of
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import EventStore, figures_of, read_production
from eval_pipeline.project import Project
from eval_pipeline.store import database_url
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.running import environment, invoke

PATIENCE = 240
DAY = datetime.timedelta(days=1)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.slow
def test_the_simulated_week_has_one_incident_with_the_right_alerts_and_no_others(project: Project) -> None:
    simulate_week(project, "decomposition")
    with EventStore.of(project) as store:
        (day, *_, last) = store.days("decomposition")
        week = figures_of(store, "decomposition", at(day), at(last) + DAY, 7)
    with Incidents(database_url(project)) as incidents:
        found = incidents.all()
    assert (week[0].requests, week[0].simulated) == (7000, 7000)
    assert {(each.subject, each.severity) for each in found} == {
        ("decomposition production error_rate", "critical"),
        ("decomposition production latency_p95_ms", "warning"),
    }
    for each in found:
        opened = datetime.datetime.fromtimestamp(each.opened_at, datetime.UTC)
        assert (opened.date(), opened.hour) == (day + 4 * DAY, 11), each
        assert each.closed_at is not None
    suite, production = find_suite(project, "decomposition"), read_production(project)
    told = week_of(project, suite, production, at(last) + DAY).to_look_at
    for name in ("error_rate", "latency_p95_ms"):
        assert f"{name} was beyond its limit for 4 hours, first from {day + 4 * DAY} 10:00 UTC." in told
    page = (project.state / "dashboard.html").read_text()
    assert "Production (1 suite with events)" in page
    before = sorted((project.root / "production" / "drop").iterdir())
    simulate_week(project, "decomposition")
    assert sorted((project.root / "production" / "drop").iterdir()) == before


def at(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(), datetime.UTC)


@pytest.mark.slow
def test_without_the_ui_it_evaluates_all_and_ends_with_a_table(toy: Project) -> None:
    done = invoke(toy, "demo", "toy", "--no-ui")
    assert done.returncode in (0, 1), done.stderr
    versions = sorted(file.stem for file in toy.prompts("toy").glob("*-v*.md"))
    lines = done.stdout.splitlines()
    table = lines[next(number for number, line in enumerate(lines) if line.startswith("suite ")) + 1 :]
    for version in versions:
        assert sum(f"toy: {version} " in line for line in lines) == 1
        assert sum(line.split()[:2] == ["toy", version] for line in table) == 1
    assert "http" not in done.stdout
    dashboard = f"Dashboard: {(toy.state / 'dashboard.html').resolve().as_uri()}"
    assert lines[-2:] == ["Reports:   eval-pipeline report SUITE VERSION --open", dashboard]
    assert (toy.state / "dashboard.html").is_file()


def test_a_port_in_use_is_said_at_once(toy: Project) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = invoke(toy, "demo", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "cannot be used" in done.stderr
    assert not done.stdout


def test_a_missing_webserver_is_said_with_what_to_install(
    toy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "dagster_webserver" else find(name)
    )
    done = invoke(toy, "demo")
    assert done.returncode == 2
    assert "pip install 'eval-pipeline[ui]'" in done.stderr


@pytest.fixture
def demo(toy: Project, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int, int, Path]]:
    port, reports_port, out = free_port(), free_port(), tmp_path / "out"
    log = out.open("wb")
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "eval_pipeline", "demo", "toy"),
            *("--port", str(port), "--reports-port", str(reports_port)),
        ],
        cwd=toy.root,
        env={**environment(toy), "PYTHONPATH": str(REPOSITORY)},
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process, port, reports_port, out
    finally:
        process.terminate()
        process.wait(60)
        log.close()


@pytest.mark.slow
def test_the_ui_is_there_meanwhile_and_ctrl_c_ends_everything(
    demo: tuple[subprocess.Popen[bytes], int, int, Path],
) -> None:
    process, port, reports_port, out = demo
    deadline = time.monotonic() + PATIENCE
    while not (served(port) and b"Ctrl-C ends it" in out.read_bytes()):
        assert process.poll() is None, out.read_text()
        assert time.monotonic() < deadline, out.read_text()
        time.sleep(0.5)
    links = [line.split() for line in out.read_text().splitlines() if "http" in line]
    assert ["UI:", f"http://127.0.0.1:{port}"] in links
    assert ["Reports:", f"http://127.0.0.1:{reports_port}"] in links
    latest = f"http://127.0.0.1:{reports_port}/evaluations/toy/guess-v1.0/latest"
    with urllib.request.urlopen(latest, timeout=30) as answer:
        assert "guess-v1.0" in answer.read().decode()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) in (0, 1)
    assert not served(port)
    assert not served(reports_port)


def served(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/server_info", timeout=5).close()
    except OSError:
        return False
    return True
