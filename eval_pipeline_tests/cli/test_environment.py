"""What the machine has against a command: it ends with 2 and the cause."""

from __future__ import annotations

import io
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.running import begin, command_line, ended, invoke


def without_room(*arguments: str) -> None:
    """Be a command on a disk on which no file gets large."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (300 * 1024, 300 * 1024))
    command_line(*arguments)


def in_ascii(*arguments: str) -> None:
    """Be a command whose output is neither a terminal's nor in UTF-8."""
    sys.stdout = io.TextIOWrapper(sys.stdout.buffer, "ascii", write_through=True)
    command_line(*arguments)


def done(
    project: Project, folder: Path, function: Callable[..., None], *given: str
) -> subprocess.CompletedProcess[str]:
    """What a command in such an environment came to."""
    out, err = folder / "out", folder / "err"
    code = ended(begin(project, function, *given, out=out, err=err))
    return subprocess.CompletedProcess(given, code, out.read_text(), err.read_text())


def test_a_disk_without_room_is_named(toy: Project, tmp_path: Path) -> None:
    told = done(toy, tmp_path, without_room, "run", "toy")
    assert told.returncode == 2
    assert "cannot be used: disk I/O error; see its disk and permissions." in told.stderr
    assert "Traceback" not in told.stderr


def test_output_that_is_not_utf_8(toy: Project, tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text('{"case_id": "é", "output": {}}\n')
    arguments = ("score", "toy", "--golden", str(toy.golden("toy")), "--outputs", str(outputs))
    told = done(toy, tmp_path, in_ascii, *arguments)
    assert told.returncode in (0, 1)
    assert told.stdout.isascii()
    report = done(toy, tmp_path, in_ascii, *arguments, "--json").stdout
    assert json.loads(report)["suite"] == "toy"


@pytest.mark.parametrize("name", [b"\xff.jsonl", b"\xff/cases.jsonl"])
def test_a_name_that_is_not_utf_8_is_a_problem(toy: Project, name: bytes) -> None:
    file = toy.golden("toy") / "cases" / os.fsdecode(name)
    file.parent.mkdir(exist_ok=True)
    file.write_text("{}\n")
    told = invoke(toy, "golden", "check", "toy")
    assert told.returncode == 2
    assert "\\udcff" in told.stderr
    assert "has a name that is not UTF-8" in told.stderr
