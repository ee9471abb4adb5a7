"""Kinds of engines: each registers itself, and nothing else needs to know it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from eval_pipeline.engines import Engine, kinds, read_engines
from eval_pipeline.engines.embedded import EmbeddedEngine
from eval_pipeline.engines.kinds import EngineEntry, Use, register
from eval_pipeline.problems import Problems


def test_every_module_that_registers_a_kind_is_found() -> None:
    assert list(kinds.kinds()) == ["callable", "embedded", "endpoint", "local", "recorded"]


def test_a_kind_that_registers_itself_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "_registered", dict(kinds.kinds()))

    @register
    class EchoEntry(EngineEntry):
        kind: Literal["echo"] = "echo"
        times: int = 1

        def open(self, name: str, use: Use) -> Engine:
            return EmbeddedEngine(name, use.suite, use.prompt.parameters, use.resources)

    path = tmp_path / "engines.yaml"
    path.write_text("default: e\nengines:\n  e: {kind: echo, times: 2}\n")
    problems = Problems()
    file = read_engines(path, problems)
    assert list(problems) == []
    assert file is not None
    assert file.engines == {"e": EchoEntry(times=2)}


def test_importing_the_package_loads_no_client_and_no_database() -> None:
    program = "import sys, eval_pipeline.engines; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"aiohttp", "sqlalchemy", "dagster"} & set(done.stdout.split())
