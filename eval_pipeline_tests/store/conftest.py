"""Where a store may lie that machines share."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline_tests.object_storage import S3


@pytest.fixture(params=["file", pytest.param("s3", marks=pytest.mark.slow)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an object storage, on either kind."""
    if request.param == "file":
        return f"file://{tmp_path}/shared"
    running: S3 = request.getfixturevalue("s3")
    return running.new_folder()


@pytest.fixture
def _asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is asked again without the second that clients of S3 wait on average."""
    again = "botocore.retries.standard.ExponentialBackoff.delay_amount"
    monkeypatch.setattr(again, lambda *_: 0.01)
