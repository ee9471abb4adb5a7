"""`engines.yaml`: what it may say, and which engine a run gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from eval_pipeline import stages
from eval_pipeline.engines import Engine, MeteredEngine, Request, open_engine, read_engines
from eval_pipeline.engines.configuration import EnginesFile
from eval_pipeline.engines.embedded import EmbeddedEntry
from eval_pipeline.engines.endpoint import EndpointClient, EndpointEntry
from eval_pipeline.engines.kinds import output_schema
from eval_pipeline.engines.recorded import RecordedEntry
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import FrontMatter, Prompt, active_versions
from eval_pipeline.suite import Suite
from eval_pipeline.suites import find_suite
from eval_pipeline.suites.decomposition import SUITE

TWO = """default: own
engines:
  own: {kind: embedded, description: The suite's own}
  file: {kind: recorded, path: "recorded/{suite}/{version}.jsonl"}
"""


def read(path: Path, text: str) -> tuple[EnginesFile | None, list[tuple[int, str]]]:
    path.write_text(text)
    problems = Problems()
    file = read_engines(path, problems)
    return file, [(problem.line, problem.field) for problem in problems]


def test_a_good_file(tmp_path: Path) -> None:
    file, found = read(tmp_path / "engines.yaml", TWO)
    assert found == []
    assert file == EnginesFile(
        default="own",
        engines={
            "own": EmbeddedEntry(description="The suite's own"),
            "file": RecordedEntry(path="recorded/{suite}/{version}.jsonl"),
        },
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("engines: {}\n", [(1, "default")]),
        ("engines: {}\n\ndefault: own\n", [(3, "default")]),
        (TWO + "colour: red\n", [(5, "colour")]),
        (TWO + "  web: {kind: http}\n", [(5, "engines.web.kind")]),
        (TWO + "  web: {}\n  net: 3\n", [(5, "engines.web.kind"), (6, "engines.net")]),
        (TWO + "  web: {kind: recorded}\n", [(5, "engines.web.path")]),
        (TWO + "  web: {kind: embedded, path: x}\n", [(5, "engines.web.path")]),
        (TWO + "  web: {knd: embedded}\n", [(5, "engines.web.knd")]),
        (TWO + "  own: {kind: embedded}\n", [(5, "own")]),
        ("", [(1, "")]),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, text: str, found: list[tuple[int, str]]
) -> None:
    assert read(tmp_path / "engines.yaml", text) == (None, found)


def opened(root: Path, chosen: str | None, named: str | None, text: str = TWO) -> Engine:
    (root / "engines.yaml").write_text(text)
    front = FrontMatter(suite=SUITE.name, status="active", engine=named)
    prompt = Prompt("p-v1.0", root / "p-v1.0.md", front, SUITE.parameters(), "x", 5)
    return open_engine(Project(root, root / ".eval"), SUITE, prompt, chosen, None, "default")


@pytest.mark.parametrize(
    ("chosen", "named", "name"),
    [
        (None, None, "own"),
        (None, "file", "file"),
        ("own", "file", "own"),
        ("file", None, "file"),
        ("file", "nonsense", "file"),
    ],
)
def test_the_one_chosen_else_the_prompts_else_the_default(
    tmp_path: Path, chosen: str | None, named: str | None, name: str
) -> None:
    outputs = tmp_path / "recorded" / "decomposition" / "p-v1.0.jsonl"
    outputs.parent.mkdir(parents=True)
    outputs.write_text("".join(f'{{"case_id": "a", "trial": {trial}}}\n' for trial in (2, 4, 9)))
    engine = opened(tmp_path, chosen, named)
    assert (engine.name, engine.trials) == (name, 3 if name == "file" else 1)
    assert engine.model.startswith("recorded-" if name == "file" else "decomposition-")


@pytest.mark.parametrize(
    ("chosen", "named", "message"),
    [
        ("web", None, "'web' is not an engine.*own, file"),
        (None, "web", "'web' is not an engine.*own, file"),
        ("file", None, r"recorded/decomposition/p-v1\.0\.jsonl: does not exist"),
    ],
)
def test_an_engine_that_cannot_be_had_is_refused(
    tmp_path: Path, chosen: str | None, named: str | None, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        opened(tmp_path, chosen, named)


def test_a_broken_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"engines\.yaml:1: default: 'web' is not an engine"):
        opened(tmp_path, "own", None, TWO.replace("default: own", "default: web"))


@pytest.mark.parametrize(("name", "rate"), [("span_labeling", 10), ("suggestions", 20), ("optimization", 5)])
def test_a_suite_may_say_how_often_endpoints_are_asked(project: Project, name: str, rate: float) -> None:
    entry: dict[str, object] = {"kind": "endpoint", "url": "http://127.0.0.1:9/v1", "model": "m"}
    suite = find_suite(project, name)
    version = active_versions(suite, project.prompts(name))[0]
    for given, expected in (({}, rate), ({name: {"requests_per_minute": 99}}, 99)):
        engines = {"default": "e", "engines": {"e": {**entry, "suites": given}}}
        project.engines_file.write_text(yaml.safe_dump(engines))
        opened = stages.prepare_asking(stages.Workbench(project, suite), version).engine
        assert isinstance(opened, MeteredEngine)
        assert opened.limits.scopes[1].requests_per_minute == expected


def test_a_text_suite_asks_for_no_structured_output() -> None:
    entry = EndpointEntry(url="http://127.0.0.1:9/v1", model="m")
    bodies = {
        suite.name: json.loads(
            EndpointClient(entry, suite.name, output_schema(suite), None).body(Request("a", 1, None, "Hello"))
        )
        for suite in (SUITE, Suite("plain"))
    }
    assert bodies["decomposition"]["response_format"]["type"] == "json_schema"
    assert "response_format" not in bodies["plain"]
