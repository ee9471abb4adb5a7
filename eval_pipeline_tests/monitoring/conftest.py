"""Production is taken in for every suite that there is."""

from __future__ import annotations

import pytest

from eval_pipeline.project import Project


@pytest.fixture
def project(whole_project: Project) -> Project:
    """A copy of this project that a test may break, with every suite."""
    return whole_project
