"""Rendering prompts: what templates may do, and everything that they may not."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.problems import BadInput
from eval_pipeline.prompts import FrontMatter, Prompt, Renderer
from eval_pipeline.prompts.rendering import SECONDS_PER_PROMPT
from eval_pipeline.suites.decomposition.cases import DecompositionInput
from eval_pipeline_tests.renderers import SOCKET

BODY_LINE = 5


@pytest.fixture(autouse=True)
def _started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for everybody: other tests have processes that were forked."""
    monkeypatch.delenv(SOCKET)


def renderer(body: str, seconds: float = SECONDS_PER_PROMPT) -> Renderer:
    front = FrontMatter(suite="decomposition", status="active")
    return Renderer(Prompt("p-v1.0", Path("p-v1.0.md"), front, None, body, BODY_LINE), seconds)


def render(body: str, topic: str = "Reefs", seconds: float = SECONDS_PER_PROMPT) -> str:
    with renderer(body, seconds) as opened:
        (texts,) = opened.render([DecompositionInput(topic, "Text.")])
        return texts[0]


def refusal(body: str, seconds: float = SECONDS_PER_PROMPT) -> tuple[int, str]:
    with pytest.raises(BadInput) as raised:
        render(body, seconds=seconds)
    (problem,) = raised.value.problems
    assert (problem.file, problem.field) == ("p-v1.0.md", "template")
    return problem.line, problem.message


def test_many_cases_are_rendered_one_after_the_other() -> None:
    with renderer("{{ topic }}: {{ source_text }}\n{% if topic == 'a' %}!{% endif %}") as opened:
        rendered = opened.render([DecompositionInput(topic, f"{topic}\n…") for topic in ("a", "é🌊")])
    assert rendered == [("a: a\n…\n!",), ("é🌊: é🌊\n…\n",)]


@pytest.mark.parametrize(
    "value",
    ["{{7*7}}", "{% include 'x' %}", "{{ topic.__class__ }}", "<b>&amp;\u2028\x00\"'\\", "x" * 100_000],
)
def test_values_are_shown_as_they_are(value: str) -> None:
    assert render("[{{ topic }}]", value) == f"[{value}]"


@pytest.mark.parametrize(
    "body",
    [
        "{{ topic.__class__ }}",
        "{{ topic.__class__.__mro__[1].__subclasses__() }}",
        "{{ topic['__class__'] }}",
        "{{ topic|attr('__class__') }}",
        "{{ range.__globals__['os'].environ }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ '{0.__class__}'.format(topic) }}",
        "{% set list = [] %}{{ list.append(1) }}",
    ],
)
def test_python_is_out_of_reach(body: str) -> None:
    line, message = refusal(f"\n{body}")
    assert line == BODY_LINE + 1
    assert "unsafe" in message or "has no attribute" in message


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("{{ topic }}\n\n{{ topic.size.unit }}", 3, "has no attribute 'size'"),
        ("\n{{ missing }}", 2, "'missing' is undefined"),
        ("\n{{ topic|nonsense }}", 2, "No filter named 'nonsense'"),
        ("{% include 'p-v1.0.md' %}", 1, "no loader"),
        ("{% extends '/etc/passwd' %}", 1, "no loader"),
        ("{% import 'os' as os %}", 1, "no loader"),
        ("{% for n in range(10**9) %}{% endfor %}", 1, "Range too big"),
        ("{{ 'x' * 10**10 }}", 1, "needs too much memory"),
        ("{{ topic * 10**10 }}", 1, "needs too much memory"),
        ("{{ 'x' * 2000001 }}", 1, "renders to more than 2,000,000 characters"),
        ("{% for n in range(99999) %}{{ topic * 9 }}{% endfor %}", 1, "renders to more than 2,000,000"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", 1, "recursion"),
        ("\n{{ [1, 2]|random }}", 2, "No filter named 'random'"),
        ("{{ [[1, 2]]|map('random')|list }}", 1, "No filter named 'random'"),
        ("{{ lipsum() }}", 1, "'lipsum' is undefined"),
        ("{{ topic.upper }}", 1, "shows a function"),
        ("{{ 'x' ~ (topic|map('upper')) }}", 1, "shows a function"),
    ],
)
def test_what_goes_wrong_is_named_with_its_line(body: str, line: int, message: str) -> None:
    found = refusal(body)
    assert found[0] == BODY_LINE + line - 1
    assert message in found[1]


def test_an_address_that_was_given_is_shown() -> None:
    assert render("a at 0x1f> {{ topic }}", "<f at 0x7f00aa>") == "a at 0x1f> <f at 0x7f00aa>"


@pytest.mark.parametrize("body", ["{{ 1" + " + 1" * 1200 + " }}", "{{ topic" + "|upper" * 1000 + " }}"])
def test_a_template_that_is_nested_too_deeply_is_refused(body: str) -> None:
    assert refusal(body)[0] == BODY_LINE


def test_after_an_error_no_text_is_taken_for_that_of_another_case() -> None:
    with renderer("{{ 8 // topic|length }}") as opened:
        topics = ("a", "", "abcd", "ab")
        with pytest.raises(BadInput, match="division"):
            opened.render([DecompositionInput(topic, "Text.") for topic in topics])
        with pytest.raises(BadInput):
            opened.render([DecompositionInput("abcdefgh", "Text.")])


def test_the_longest_text_is_still_rendered() -> None:
    assert len(render("{{ 'x' * 2000000 }}")) == 2_000_000


def test_a_template_that_does_not_end_is_stopped() -> None:
    nested = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    line, message = refusal(nested, seconds=0.5)
    assert (line, message) == (BODY_LINE, "does not finish within 0.5 s and 1 GiB of memory")


def test_the_process_ends_with_the_block_and_sees_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[Any, subprocess.Popen[bytes]]] = []
    real = subprocess.Popen

    def popen(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] = real(*arguments, **options)
        started.append((options["env"], process))
        return process

    monkeypatch.setenv("EVAL_PIPELINE_SECRET", "do not tell")
    monkeypatch.setattr("eval_pipeline.prompts.rendering.subprocess.Popen", popen)
    assert render("{{ topic }}") == "Reefs"
    ((environment, process),) = started
    assert environment == {}
    assert process.returncode is not None


def test_a_sandbox_that_does_not_start_is_named_when_something_is_to_be_rendered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("raise SystemExit")
    monkeypatch.setattr("eval_pipeline.prompts.rendering.WORKER", tmp_path / "broken.py")
    with renderer("{{ topic }}") as opened, pytest.raises(BadInput, match="does not start"):
        opened.render([DecompositionInput("Reefs", "Text.")])


def test_more_than_the_pipes_hold_goes_through_both_ways() -> None:
    """Neither side may wait for the other to read while it is itself being waited for."""
    texts = [f"{number} " + "x" * 50_000 for number in range(60)]
    with renderer("{{ source_text }}") as opened:
        assert opened.render([DecompositionInput("t", text) for text in texts]) == [(text,) for text in texts]
