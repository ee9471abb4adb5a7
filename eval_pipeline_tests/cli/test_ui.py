"""`eval-pipeline ui` before it serves anything; the UI itself is looked at in the browser."""

from __future__ import annotations

import importlib.util
import socket

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.running import invoke


@pytest.mark.parametrize("option", ["--port", "--reports-port"])
def test_a_port_in_use_is_said_at_once(toy: Project, option: str) -> None:
    with socket.socket() as taken, socket.socket() as free:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        free.bind(("127.0.0.1", 0))
        other = {"--port": "--reports-port", "--reports-port": "--port"}[option]
        ports = str(taken.getsockname()[1]), str(free.getsockname()[1])
        free.close()
        done = invoke(toy, "ui", option, ports[0], other, ports[1])
    assert done.returncode == 2
    assert f"{option}: {ports[0]} cannot be used" in done.stderr
    assert not (toy.state / "reports.url").exists()


def test_two_servers_need_two_ports(toy: Project) -> None:
    done = invoke(toy, "ui", "--port", "4000", "--reports-port", "4000")
    assert done.returncode == 2
    assert "--reports-port: is that of the UI" in done.stderr


def test_a_missing_webserver_is_said_with_what_to_install(
    toy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "dagster_webserver" else find(name)
    )
    done = invoke(toy, "ui")
    assert done.returncode == 2
    assert "pip install 'eval-pipeline[ui]'" in done.stderr
