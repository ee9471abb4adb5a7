"""The tutorial, word for word: from the built wheel, in an empty folder, without this repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_pipeline_tests.conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "own-task.md"
BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
ANY_LINES = "…"
BLOCKED = "eval-pipeline run tickets --prompt classify-v1.1"
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy: building leaves things behind."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    shutil.copytree(
        REPOSITORY / "eval_pipeline",
        source / "eval_pipeline",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(REPOSITORY / name, source / name)
    subprocess.run([sys.executable, "-c", BUILD, built], cwd=source, check=True, capture_output=True)
    (file,) = built.iterdir()
    return file


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a fresh environment that has the wheel; what it needs is that of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    install = ("pip", "install", "--quiet", "--offline", "--no-index", "--no-deps", "--python")
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, *install, python, wheel], check=True, capture_output=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    # A path in such a file brings the packages there, and not the repository that one of them points to.
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    return folder / "bin"


def test_the_wheel_holds_the_program_and_no_data_of_this_project(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"eval_pipeline"}
    suffixes = {Path(name).suffix for name in names if "dist-info" not in name}
    assert suffixes <= {".py", ".yaml", ".tsv", ".csv", ".json", ".txt", ".css", ".js"}
    assert not [name for name in names if "/golden/cases" in name or "baseline/" in name]
    for needed in ("orchestration/dagster.yaml", "starting/gate.yaml", "starting/samples/classify.csv"):
        assert f"eval_pipeline/{needed}" in names


def blocks(kind: str) -> list[str]:
    return [block["text"] for block in BLOCK.finditer(PAGE.read_text()) if block["kind"] == kind]


def commands() -> Iterator[tuple[str, list[str]]]:
    """Every command of the page, with the lines that it shows."""
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield command, lines


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether lines are as shown; `…` alone stands for any lines."""
    pattern = "".join(r"(?:.*\n)*?" if line == ANY_LINES else re.escape(line) + r"\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def test_the_tutorial_is_true(programs: Path, tmp_path: Path) -> None:
    (table,) = blocks("csv")
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "tickets.csv").write_text(table)
    environment = {
        "PATH": os.pathsep.join((str(programs), os.environ["PATH"])),
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
    }
    tried = []
    for command, shown in commands():
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == (1 if command == BLOCKED else 0), f"{command}\n{done.stdout}{done.stderr}"
        assert matches(shown, done.stdout.splitlines()), f"{command}\n{done.stdout}"
        tried.append(command)
    assert [each.split()[1] for each in tried if each.startswith("eval-pipeline")][:4] == [
        "init",
        "run",
        "baseline",
        "gate",
    ]
    assert len((folder / "golden" / "tickets" / "suite.yaml").read_text().splitlines()) <= 15
