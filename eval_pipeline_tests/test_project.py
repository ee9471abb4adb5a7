"""Where things are, and where they cannot be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eval_pipeline.problems import BadInput
from eval_pipeline.project import ROOT_VARIABLE, STATE_VARIABLE, Project


@pytest.mark.parametrize("name", ["a%41b", "a?b", "a#b", os.fsdecode(b"a\xffb")])
def test_a_state_folder_whose_path_would_be_another_in_a_url_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / name))
    with pytest.raises(BadInput, match=STATE_VARIABLE):
        Project.find()
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "état 1"))
    assert Project.find() == Project(tmp_path, tmp_path / "état 1")
