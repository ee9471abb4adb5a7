"""A golden folder to write to."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A golden folder in the working directory, so that problems name short paths."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden").mkdir()
    return tmp_path / "golden"
