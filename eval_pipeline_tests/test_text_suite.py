"""A suite that compares a reply with an expected text: a few lines, and everything works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import REPOSITORY, TEXT_TOY
from eval_pipeline_tests.running import command, invoke

VERSION = "name-capital-v1.0"
RIGHT = {"austria": "Vienna", "france": "Paris", "japan": "Tokyo", "luxembourg": "Luxembourg", "peru": "Lima"}


def write(file: Path, outputs: dict[str, object]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = ({"case_id": case_id, "output": output} for case_id, output in outputs.items())
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_suite_gates_and_prompt_take_25_lines() -> None:
    files = ("suites/capitals/__init__.py", "golden/capitals/gates.yaml", f"prompts/capitals/{VERSION}.md")
    texts = [(TEXT_TOY / file).read_text() for file in files]
    assert sum(len(text.splitlines()) for text in texts) <= 25
    readme = (REPOSITORY / "README.md").read_text()
    assert all(text in readme for text in texts)


@pytest.mark.parametrize(
    ("outputs", "value", "errors", "exits"),
    [
        pytest.param(RIGHT, 1.0, {}, 0, id="right"),
        pytest.param({name: f" {text.upper()}\n" for name, text in RIGHT.items()}, 1.0, {}, 0, id="spelling"),
        pytest.param({**RIGHT, "peru": "Cusco"}, 0.8, {}, 0, id="one wrong"),
        pytest.param({name: f"{text}." for name, text in RIGHT.items()}, 0.0, {}, 1, id="more than the text"),
        pytest.param(dict.fromkeys(RIGHT, '"x'), 0.0, {}, 1, id="text that is not JSON is an answer"),
        pytest.param({name: {"answer": text} for name, text in RIGHT.items()}, 0.0, {}, 1, id="JSON"),
        pytest.param(dict.fromkeys(RIGHT, ""), 0.0, {"blank": 5}, 1, id="empty"),
        pytest.param(dict.fromkeys(RIGHT, " \n\u00a0"), 0.0, {"blank": 5}, 1, id="blank"),
        pytest.param({name: name.title() for name in RIGHT}, 0.2, {}, 1, id="echo"),
        pytest.param(dict.fromkeys(RIGHT, " ".join(RIGHT.values())), 0.0, {}, 1, id="everything at once"),
        pytest.param({**RIGHT, "peru": None}, 0.8, {"missing": 1}, 1, id="null"),
        pytest.param({}, 0.0, {"missing": 5}, 1, id="nothing"),
    ],
)
def test_score(
    text_toy: Project,
    tmp_path: Path,
    outputs: dict[str, object],
    value: float,
    errors: dict[str, int],
    exits: int,
) -> None:
    file = write(tmp_path / "outputs.jsonl", outputs)
    done = invoke(
        text_toy, "score", "capitals", "--golden", text_toy.golden("capitals"), "--outputs", file, "--json"
    )
    assert done.returncode == exits, done.stderr
    report = json.loads(done.stdout)
    assert report["metrics"]["exact_match"] == report["metrics"]["case_pass_rate"] == pytest.approx(value)
    assert report["errors_by_kind"] == errors


def test_run_baseline_comparison_and_gate(text_toy: Project) -> None:
    first = command(text_toy, "run", "capitals")  # a function that replies with a text
    assert first.returncode == 0, first.stderr
    assert "exact_match     80.0 %" in first.stdout
    freeze = ("golden", "freeze", "capitals", "--reason", "read", "--by", "me")
    promote = ("baseline", "promote", "capitals", VERSION, "--reason", "the first", "--by", "me")
    assert invoke(text_toy, *freeze).returncode == 0
    assert invoke(text_toy, *promote).returncode == 0
    (kept,) = (text_toy.golden("capitals") / "baseline").glob("*.outputs.jsonl")
    outputs = [json.loads(line)["output"] for line in kept.read_text().splitlines()]
    assert outputs == ["Vienna", " PARIS\n", "Tokyo", "Luxembourg", "Cusco"]
    passed = command(text_toy, "gate", "capitals")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    write(text_toy.root / "recorded" / "capitals" / f"{VERSION}.jsonl", {**RIGHT, "japan": "Kyoto"})
    again = command(text_toy, "run", "capitals", "--engine", "recorded")
    assert again.returncode == 0, again.stderr
    assert "80.0 %" in again.stdout
    code = text_toy.root / "answering.py"
    code.write_text(code.read_text().replace("Vienna", "Graz").replace("Tokyo", "Kyoto"))
    blocked = command(text_toy, "gate", "capitals")
    assert blocked.returncode == 1
    assert "40.0 % is in the fail zone" in blocked.stdout


def test_an_embedded_engine_that_is_not_there(text_toy: Project) -> None:
    message = (
        "the suite capitals has no embedded engine. "
        "Engines of engines.yaml to choose from: function, recorded."
    )
    for arguments in (("run", "capitals"), ("run", "capitals", "--dry-run"), ("gate", "capitals")):
        done = command(text_toy, *arguments, "--engine", "embedded")
        assert done.returncode == 2
        assert message in done.stderr
    assert not (text_toy.state / "outputs").exists()


def test_golden_entries_are_checked(text_toy: Project) -> None:
    (text_toy.golden("capitals") / "cases" / "more.jsonl").write_text(
        '{"id": "a", "input": {"text": "A"}, "expected": " "}\n'
        '{"id": "b", "input": {"country": "B"}, "expected": "b"}\n'
        '{"id": "c", "input": {"text": "C"}, "expected": "c", "attributes": {"size": "small"}}\n'
        '{"id": "d", "input": {"text": "D"}, "expect": "d"}\n'
    )
    done = invoke(text_toy, "golden", "check", "capitals")
    assert done.returncode == 2
    assert "more.jsonl:1: expected: is blank" in done.stderr
    for line, problem in ((1, True), (2, True), (3, False), (4, True)):
        assert (f"more.jsonl:{line}:" in done.stderr) is problem
