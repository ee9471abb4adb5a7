"""A new Dagster instance is a copy of one that was created once: its tables take a tenth of a run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import dagster as dg

FOLDER = "EVAL_PIPELINE_TESTS_INSTANCE"
"""The variable that names where it is kept; without it, every instance is created."""
DATABASES = ("history", "schedules")

_open = dg.DagsterInstance.local_temp


def _opened(state: str | None = None, overrides: Mapping[str, Any] | None = None) -> dg.DagsterInstance:
    embedded = "event_log_storage" in (overrides or {})  # and on no other database
    if (
        state
        and embedded
        and FOLDER in os.environ
        and not any(Path(state, name).exists() for name in DATABASES)
    ):
        created = Path(os.environ[FOLDER])
        if not created.exists():
            aside = created.with_suffix(f".{os.getpid()}")
            _open(state, overrides=overrides).dispose()
            for name in DATABASES:
                shutil.copytree(Path(state, name), aside / name)
            with suppress(OSError):  # another process was first
                aside.replace(created)
        else:
            shutil.copytree(created, state, dirs_exist_ok=True)
    return _open(state, overrides=overrides)


def _there(state: str) -> bool:
    return any(Path(state, name).exists() for name in DATABASES)


def share_instance() -> None:
    """Let this process and those that it forks copy what another one has created."""
    dg.DagsterInstance.local_temp = staticmethod(_opened)  # type: ignore[assignment]
