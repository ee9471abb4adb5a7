"""The wheel in an empty environment, and in a project by create-dagster: scaffolded, launched, looked at."""

import shutil
from pathlib import Path

import pytest

from benchmarks.examples import SUITE, VERSION, new_stranger, scaffold_and_launch, take_pictures, webserver
from eval_pipeline.store import Store


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Debian's chromium: make browser")
def test_a_stranger_installs_scaffolds_runs_and_sees_it(tmp_path: Path) -> None:
    stranger = new_stranger(tmp_path)
    listed = scaffold_and_launch(stranger)
    assert f"{SUITE}/baseline_comparison" in listed
    assert f"{SUITE}_evaluation" in listed
    evaluation = Store(stranger.project / ".eval").evaluation(SUITE, VERSION)
    assert evaluation is not None
    assert evaluation.summary.cases == 5
    with webserver(stranger) as address:
        pictures = take_pictures(stranger, address, tmp_path)
    assert all(each.stat().st_size > 20_000 for each in pictures)
