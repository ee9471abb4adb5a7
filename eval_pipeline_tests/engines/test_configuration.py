"""`engines.yaml`: what it may say, and which engine a run gets."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

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
def test_a_suite_may_say_how_often_endpoints_are_asked(
    whole_project: Project, name: str, rate: float
) -> None:
    entry: dict[str, object] = {"kind": "endpoint", "url": "http://127.0.0.1:9/v1", "model": "m"}
    suite = find_suite(whole_project, name)
    version = active_versions(suite, whole_project.prompts(name))[0]
    for own, expected in (({}, rate), ({name: {"requests_per_minute": 99}}, 99)):
        engines = {"default": "e", "engines": {"e": {**entry, "suites": own}}}
        whole_project.engines_file.write_text(yaml.safe_dump(engines))
        opened = stages.prepare_asking(stages.Workbench(whole_project, suite), version).engine
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


FIVE = """default: gtp
engines:
  own: {kind: embeded}
  gpt:
    kind: endpoint
    model: 3
    concurrency: 0
    temprature: 0.5
    budget: {dollars: 5}
    extra_body: {model: x, messages: []}
    trials: {min: 3, max: 2}
    suites:
      toy: {requests_per_minute: fast}
  file:
    kind: recorded
    path: "{folder}/x.jsonl"
  fn:
    knd: callable
    concurrency: -1
"""


def test_every_mistake_is_one_problem_over_all_engines_and_across_fields(tmp_path: Path) -> None:
    path, problems = tmp_path / "engines.yaml", Problems()
    path.write_text(FIVE)
    assert read_engines(path, problems) is None
    assert [str(each).removeprefix(f"{path}:") for each in problems] == [
        "1: default: 'gtp' is not an engine. Did you mean gpt? Engines: own, gpt, file, fn.",
        "3: engines.own.kind: 'embeded' is not a kind of engine. Did you mean embedded? "
        "Kinds: callable, embedded, endpoint, local, recorded.",
        "4: engines.gpt.url: is missing. Add it.",
        "6: engines.gpt.model: is a whole number, not a text. Put it in quotes.",
        "7: engines.gpt.concurrency: is less than 1. Write 1 or more.",
        "8: engines.gpt.temprature: is not a known field. Did you mean temperature?",
        "9: engines.gpt.budget.dollars: cannot be held without prices. Add prices.",
        "10: engines.gpt.extra_body.messages: cannot be set here. "
        "What is asked comes from the prompt and the case.",
        "10: engines.gpt.extra_body.model: cannot be set here. The model is a field of the engine.",
        "11: engines.gpt.trials.max: is less than min. Let min be the smaller number.",
        "13: engines.gpt.suites.toy.requests_per_minute: is a text, not a number. "
        "Write a number, without quotes.",
        "16: engines.file.path: has a placeholder that nobody fills in. "
        "Only {suite} and {version} are filled in.",
        "17: engines.fn.function: is missing. Add it.",
        "18: engines.fn.knd: is not a known field. Did you mean kind?",
        "19: engines.fn.concurrency: is less than 1. Write 1 or more.",
    ]


GOOD_LINES = {
    "url": "https://host/v1",
    "model": "tiny",
    "concurrency": "4",
    "temperature": "0.5",
    "structured_output": "true",
    "attempts": "3",
    "requests_per_minute": "60",
    "timeouts": "{total: 5}",
    "trials": "{min: 1, max: 3}",
    "prices": "{prompt: 1, completion: 2}",
    "budget": "{dollars: 3}",
    "suites": "{toy: {concurrency: 2}}",
}
MISTAKES = {
    "url": ("url", "ftp://host"),
    "model": ("model", "[tiny]"),
    "concurrency": ("concurrency", "0"),
    "temperature": ("temprature", "0.5"),
    "structured_output": ("structured_output", "3"),
    "attempts": ("attempts", "many"),
    "requests_per_minute": ("requests_per_minute", "-1"),
    "timeouts": ("timeouts", "{totl: 5}"),
    "trials": ("trials", "{min: 4, max: 3}"),
    "prices": ("prices", "{prompt: -1, completion: 2}"),
    "budget": ("budget", "{dollars: x}"),
    "suites": ("suites", "{toy: {concurrency: 0}}"),
}
"""What is wrong with a field by itself, whatever the others say."""


@given(
    st.lists(st.sets(st.sampled_from(sorted(MISTAKES))), min_size=1, max_size=3), st.booleans(), st.randoms()
)
def test_independent_mistakes_are_as_many_problems_each_on_its_line(
    engines: list[set[str]], known: bool, random: Random
) -> None:
    lines, expected = [f"default: {'e0' if known else 'nobody'}", "engines:"], [] if known else [1]
    for number, wrong in enumerate(engines):
        lines += [f"  e{number}:", "    kind: endpoint"]
        fields = list(GOOD_LINES)
        random.shuffle(fields)
        for field in fields:
            name, value = MISTAKES[field] if field in wrong else (field, GOOD_LINES[field])
            lines.append(f"    {name}: {value}")
            expected += [len(lines)] if field in wrong else []
    with TemporaryDirectory() as folder:
        file, found = read(Path(folder, "engines.yaml"), "\n".join(lines))
    assert [line for line, _ in found] == expected
    assert (file is None) == bool(expected)


def test_an_endpoint_is_identified_as_it_always_was(project: Project) -> None:
    """What is configured in the same way is the same model, in the journal and in evaluations."""
    text = """default: a
engines:
  a: {kind: endpoint, url: "https://host/v1?x=1", model: m, temperature: 0, seed: 3, max_tokens: 5,
      extra_body: {a: [1, 2.0, null]}, trials: {min: 1, max: 5}, requests_per_minute: 5}
  b: {kind: endpoint, url: "https://host/v1", model: m, temperature: null}
"""
    project.engines_file.write_text(text)
    file = read_engines(project.engines_file, Problems())
    assert file is not None
    models = []
    for name, entry in file.engines.items():
        assert isinstance(entry, EndpointEntry)
        models.append(entry.metered(name, project, SUITE, {"type": "object"}).model)
    assert models == ["m-fec19bec", "m-5abac036"]
