"""The embedded engine's model: other code behind it is another model, and nothing else is."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from eval_pipeline.answers import Answer
from eval_pipeline.engines import Request, embedded
from eval_pipeline.engines.embedded import EmbeddedEngine, code_behind
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite
from eval_pipeline.suites import find_suite, suite_names

FILES = {
    "__init__.py": "",
    "engine/__init__.py": "from made.engine import parts\nfrom made.shared import words\n",
    "engine/parts.py": "def late() -> None:\n    import made.shared.late\n",
    "engine/unused.py": "",
    "shared/__init__.py": "",
    "shared/words.py": "from made.shared.deep import LIST\nfrom made.other import thing\n",
    "shared/deep.py": "LIST = 1\n",
    "shared/late.py": "from .deep import LIST\nfrom made.shared import words\n",
    "shared/never.py": "",
    "other.py": "thing = 1\n",
}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in FILES.items():
        file = tmp_path / "made" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield tmp_path / "made"
    for name in [each for each in sys.modules if each == "made" or each.startswith("made.")]:
        del sys.modules[name]


def found() -> dict[str, str]:
    return code_behind(["made.engine"], ["made.engine", "made.shared"])


def test_an_engine_is_its_own_modules_and_what_they_import_of_the_project(made: Path) -> None:
    assert set(found()) == {
        "made.engine",
        "made.engine.parts",
        "made.engine.unused",
        "made.shared",
        "made.shared.words",
        "made.shared.deep",
        "made.shared.late",
    }


@pytest.mark.parametrize(
    ("name", "matters"),
    [("shared/deep.py", True), ("engine/parts.py", True), ("shared/never.py", False), ("other.py", False)],
)
def test_shared_code_that_changes_is_another_model(made: Path, name: str, matters: bool) -> None:
    before = found()
    (made / name).write_text("changed = True\n" + FILES[name])
    assert (found() != before) is matters


def test_every_suite_names_its_shared_code() -> None:
    suites = {name: find_suite(Project.find(), name) for name in suite_names(Project.find())}
    models = {name: EmbeddedEngine("embedded", suite, None, None).model for name, suite in suites.items()}
    assert all(model.startswith(f"{name}-") for name, model in models.items())
    suite = suites["grounded_qa"]
    behind = code_behind([suite.embedded.__module__], [*embedded._SHARED, "eval_pipeline.suites.grounded_qa"])
    assert {"eval_pipeline.language.bm25", "eval_pipeline.metrics.text"} <= set(behind)


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
