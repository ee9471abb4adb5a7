"""From cases to what engines read: conversations through the real stages, to a server on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval_pipeline import stages
from eval_pipeline.engines import Request
from eval_pipeline.engines.endpoint import EndpointEntry
from eval_pipeline.engines.estimates import estimated_tokens
from eval_pipeline.engines.kinds import output_schema
from eval_pipeline.engines.metered import MESSAGE_TOKENS, MeteredEngine
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.store import AnswerTable
from eval_pipeline.suite import ConversationInput, Suite
from eval_pipeline.suites.decomposition import SUITE as DECOMPOSITION
from eval_pipeline_tests.engines.fault_server import FaultServer, fault_server

SUITE = Suite(name="talk", input=ConversationInput)
VERSION = "reply-v1.0"
HEAD = "---\nsuite: talk\nstatus: active\n---\n"
BODY = "## system\nBe brief.\n## user\n{{ text }}\n"
HELLO = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "## system\nHi"}]
SEEN: list[Any] = []


def remember(prompt: Any, variables: dict[str, Any]) -> str:
    SEEN.append((prompt, variables))
    return "yes"


@pytest.fixture
def talk(tmp_path: Path) -> Project:
    """A project with two cases, one of which carries earlier turns."""
    project = Project(tmp_path, tmp_path / ".eval")
    project.prompts("talk").mkdir(parents=True)
    write_prompt(project, HEAD + BODY)
    write_cases(project, {"a": {"text": "Why?", "messages": HELLO}, "b": {"text": "## user\nHow?"}})
    return project


@pytest.fixture
def server(talk: Project) -> Iterator[FaultServer]:
    with fault_server() as running:
        configure(talk, {"kind": "endpoint", "url": running.url, "model": "m", "trials": 1})
        yield running


def configure(project: Project, engine: dict[str, Any]) -> None:
    project.engines_file.write_text(yaml.safe_dump({"default": "e", "engines": {"e": engine}}))


def write_prompt(project: Project, text: str) -> None:
    (project.prompts("talk") / f"{VERSION}.md").write_text(text)


def write_cases(project: Project, inputs: dict[str, Any]) -> None:
    folder = project.golden("talk") / "cases"
    folder.mkdir(parents=True, exist_ok=True)
    lines = ({"id": name, "input": each, "expected": "yes"} for name, each in inputs.items())
    (folder / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def ask(project: Project, suite: Suite = SUITE) -> AnswerTable:
    golden = stages.load_golden(stages.Workbench(project, suite)).table
    return stages.answer_cases(stages.Workbench(project, suite), golden, VERSION)


def sent(server: FaultServer) -> list[Any]:
    return sorted((each.body["messages"] for each in server.requests), key=json.dumps)


def message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


BRIEF = message("system", "Be brief.")


def test_an_endpoint_gets_messages_and_earlier_turns(talk: Project, server: FaultServer) -> None:
    ask(talk)
    expected = [[BRIEF, *HELLO, message("user", "Why?")], [BRIEF, message("user", "## user\nHow?")]]
    assert sent(server) == sorted(expected, key=json.dumps)


def test_the_journal_knows_conversations(talk: Project, server: FaultServer) -> None:
    ask(talk)
    ask(talk)
    assert server.calls == 2
    write_cases(talk, {"a": {"text": "Why?", "messages": HELLO[:1]}, "b": {"text": "## user\nHow?"}})
    ask(talk)
    assert server.calls == 3
    write_prompt(talk, HEAD + BODY.replace("brief", "brief, please"))
    ask(talk)
    assert server.calls == 5


def test_sampling_of_a_prompt_is_asked_and_known_by_itself(talk: Project, server: FaultServer) -> None:
    before = ask(talk).identity
    write_prompt(talk, HEAD.replace("active\n", "active\nsampling: {temperature: 0.7, stop: [END]}\n") + BODY)
    after = ask(talk).identity
    assert server.calls == 4
    assert {(each.body["temperature"], *each.body.get("stop", [])) for each in server.requests} == {
        (0.0,),
        (0.7, "END"),
    }
    assert before.model == after.model
    assert before.prompt_hash != after.prompt_hash
    write_prompt(talk, HEAD.replace("active\n", "active\nsampling: {}\n") + BODY)
    assert ask(talk).identity == before
    assert server.calls == 4


def test_an_estimate_counts_every_message(talk: Project, server: FaultServer) -> None:
    bench = stages.Workbench(talk, SUITE)
    golden = stages.load_golden(bench).table
    estimate = stages.estimate_cost(bench, golden, stages.prepare_asking(bench, VERSION))
    texts = ["Be brief.", "Hello", "## system\nHi", "Why?", "Be brief.", "## user\nHow?"]
    asking = stages.prepare_asking(bench, VERSION).engine
    assert isinstance(asking, MeteredEngine)
    around = 2 * asking.client.overhead_tokens + MESSAGE_TOKENS * (3 + 1)
    assert estimate.input_tokens == sum(map(estimated_tokens, texts)) + around
    assert server.calls == 0


def test_a_function_gets_messages_or_a_text(talk: Project) -> None:
    configure(talk, {"kind": "callable", "function": f"{__name__}:remember", "trials": 1})
    SEEN.clear()
    ask(talk)
    write_prompt(talk, f"{HEAD}Say: {{{{ text }}}}")
    ask(talk)
    assert ([BRIEF, *HELLO, message("user", "Why?")], {"text": "Why?", "messages": tuple(HELLO)}) in SEEN
    assert ([BRIEF, message("user", "## user\nHow?")], {"text": "## user\nHow?"}) in SEEN
    assert ([*HELLO, message("user", "Say: Why?")], {"text": "Why?", "messages": tuple(HELLO)}) in SEEN
    assert ("Say: ## user\nHow?", {"text": "## user\nHow?"}) in SEEN


@pytest.mark.parametrize(
    ("turns", "field", "message_"),
    [
        ([{"role": "system", "content": "Obey"}], "input.messages[0].role", "'system' is not known"),
        ([*HELLO, {"role": "tool", "content": "x"}], "input.messages[2].role", "'tool' is not known"),
        ([{"role": "user", "content": ""}], "input.messages[0].content", "Expected 'str' of length >= 1"),
        ([{"role": "user", "content": 3}], "input.messages[0].content", "Expected 'str', got 'int'"),
        ([{"role": "user"}], "input.messages[0].content", "is missing"),
        ([{**HELLO[0], "name": "x"}], "input.messages[0].name", "is not a known field"),
        ("Hello", "input.messages", "Expected 'array', got 'str'"),
        (HELLO * 501, "input.messages", "Expected 'array' of length <= 1000"),
    ],
)
def test_turns_that_cannot_be_are_refused(talk: Project, turns: Any, field: str, message_: str) -> None:
    write_cases(talk, {"a": {"text": "Why?"}, "b": {"text": "Why?", "messages": turns}})
    with pytest.raises(BadInput) as raised:
        stages.load_golden(stages.Workbench(talk, SUITE))
    (problem,) = raised.value.problems
    assert (problem.line, problem.field, problem.message) == (2, field, message_)
    assert problem.remedy


def test_a_message_that_renders_to_nothing_is_named_with_its_case(talk: Project, server: FaultServer) -> None:
    write_cases(talk, {"a": {"text": " "}})
    with pytest.raises(BadInput) as raised:
        ask(talk)
    (problem,) = raised.value.problems
    assert (problem.line, problem.message) == (8, "renders to an empty message for the case 'a'")
    assert server.calls == 0


def test_a_conversation_is_bounded_as_a_whole(
    talk: Project, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval_pipeline.asking.questions.LONGEST_PROMPT", 29)
    with pytest.raises(BadInput, match="has more than 29 characters with the earlier turns of the case 'a'"):
        ask(talk)


@pytest.mark.parametrize(
    ("options", "model", "key"),
    [
        ({}, "tiny-b2044923", "6099f6a2536e2d67d06c2dc361ea31fc"),
        (
            {"temperature": 0.5, "seed": 3, "max_tokens": 9, "extra_body": {"top_k": 4}},
            "tiny-f833e070",
            "bc4d1fcf4497bda2fca1318762ac399f",
        ),
    ],
)
def test_what_was_asked_before_is_known_by_the_same_key(
    tmp_path: Path, options: dict[str, Any], model: str, key: str
) -> None:
    entry = EndpointEntry(url="https://h/v1?x=1", model="tiny", **options)
    project = Project(tmp_path, tmp_path)
    engine = entry.open_for(
        "e", project, DECOMPOSITION, output_schema(DECOMPOSITION), "v", stages.DEFAULT_SAMPLE
    )
    request = Request("c", 1, None, "Hello ü\n")
    assert engine.model == model
    assert engine.call(request, engine.client.body(request)).key == key
