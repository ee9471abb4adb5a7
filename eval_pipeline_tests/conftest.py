"""Projects to test on: copies, so that a test may break them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import dagster as dg
import pytest
from hypothesis import settings

from eval_pipeline import suites
from eval_pipeline.project import Project
from eval_pipeline_tests.running import instance_in

# How long an example takes says more about the machine than about the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

REPOSITORY = Path(__file__).resolve().parent.parent
TOY = Path(__file__).resolve().parent / "toy"
TEXT_TOY = TOY.with_name("text_toy")

SLOWEST = (
    "automation/test_daemon.py",
    "automation/test_schedules.py",
    "test_ui.py",
    "engines/test_kills.py",
    "cli/test_commands.py",
    "cli/test_gate.py",
    "engines/test_local.py",
    "engines/test_faults.py",
    "cli/test_prompt.py",
)
"""Modules that take longest come first: whatever begins last is what everybody waits for."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the slowest modules first."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def copy_project(root: Path) -> Project:
    """A copy of this repository's golden sets, prompts and engines, with a state folder of its own."""
    for name in ("golden", "prompts"):
        shutil.copytree(REPOSITORY / name, root / name)
    for name in ("engines.yaml", "dagster.yaml", "workspace.yaml"):
        shutil.copy(REPOSITORY / name, root / name)
    return Project(root, root / ".eval")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of this project that a test may break."""
    return copy_project(tmp_path / "project")


@contextmanager
def copied(folder: Path, root: Path) -> Iterator[Project]:
    """A copy of a project with suites of its own, which are forgotten afterwards."""
    shutil.copytree(folder, root, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "dagster.yaml", root / "dagster.yaml")
    yield Project(root, root / ".eval")
    suites.__path__[:] = [path for path in suites.__path__ if not path.startswith(str(root))]
    for name in [name for name, module in sys.modules.items() if _lies_in(module, root)]:
        del sys.modules[name]


def _lies_in(module: ModuleType, root: Path) -> bool:
    return str(getattr(module, "__file__", None)).startswith(str(root))


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Project]:
    """A project whose only own suite is the toy."""
    with copied(TOY, tmp_path / "toy") as project:
        yield project


@pytest.fixture
def text_toy(tmp_path: Path) -> Iterator[Project]:
    """A project whose only own suite compares texts."""
    with copied(TEXT_TOY, tmp_path / "text_toy") as project:
        yield project


@pytest.fixture
def instance(project: Project) -> Iterator[dg.DagsterInstance]:
    """A real Dagster instance in the project's state folder."""
    with instance_in(project) as opened:
        yield opened
