"""The embedded engine's model: other code behind it is another model, and nothing else is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from eval_pipeline.answers import Answer
from eval_pipeline.engines import Request
from eval_pipeline.engines.embedded import EmbeddedEngine
from eval_pipeline.loading import load_suites, suite_names
from eval_pipeline.project import Project
from eval_pipeline.scoring import engine_version, scorer_version
from eval_pipeline.suite import Suite


def test_the_model_is_the_suite_and_the_code_of_its_engine() -> None:
    for suite in load_suites(Project.find(), suite_names(Project.find()))[0]:
        model = EmbeddedEngine("embedded", suite, None, None).model
        assert model == f"{suite.name}-{engine_version(suite)[:8]}"
        assert engine_version(suite) != scorer_version(suite)


@pytest.mark.parametrize(
    ("returned", "text", "error"),
    [("Paris", "Paris", None), ('{"a": 1}', '{"a": 1}', None), ("\ud800", None, "engine")],
)
def test_a_text_is_answered_as_it_stands(returned: str, text: str | None, error: str | None) -> None:
    async def requests() -> AsyncIterator[Request]:
        yield Request("a", 1, None)

    async def answer() -> Answer:
        suite = Suite("plain", embedded=lambda prepared, parameters, resources: returned)
        return await anext(EmbeddedEngine("embedded", suite, None, None).answer(requests()))

    answered = asyncio.run(answer())
    assert (answered.text, answered.error) == (text, error)
