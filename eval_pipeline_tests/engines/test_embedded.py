"""The embedded engine's model: other code behind it is another model, and nothing else is."""

from __future__ import annotations

from eval_pipeline.engines.embedded import EmbeddedEngine
from eval_pipeline.project import Project
from eval_pipeline.scoring import engine_version, scorer_version
from eval_pipeline.suites import load_suites, suite_names


def test_the_model_is_the_suite_and_the_code_of_its_engine() -> None:
    for suite in load_suites(Project.find(), suite_names(Project.find()))[0]:
        model = EmbeddedEngine("embedded", suite, None, None).model
        assert model == f"{suite.name}-{engine_version(suite)[:8]}"
        assert engine_version(suite) != scorer_version(suite)
