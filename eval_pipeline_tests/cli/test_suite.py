"""`eval-pipeline suite eject`, and a declared suite through every command that takes a suite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.declaring import CASES, CLASSIFIER, declare
from eval_pipeline_tests.running import command, invoke

VERSION = "classify-v1.0"
GATES = 'metrics:\n  accuracy: {fail: "< 0.6", pass: ">= 0.7"}\n  macro_f1: {fail: "< 0.4", pass: ">= 0.5"}\n'
PROMPT = "---\nsuite: tickets\nstatus: active\n---\nWhich category is this?\n\n{{ text }}\n"
REPLIES = ["Billing.", "The category is bug", "bug", "I do not know"]


@pytest.fixture
def tickets(tmp_path: Path) -> Project:
    """A project with a prompt and recorded replies, three of four right."""
    project = declare(tmp_path / "project", CLASSIFIER)
    (project.golden("tickets") / "gates.yaml").write_text(GATES)
    project.prompts("tickets").mkdir(parents=True)
    (project.prompts("tickets") / f"{VERSION}.md").write_text(PROMPT)
    project.engines_file.write_text(
        'default: recorded\nengines: {recorded: {kind: recorded, path: "recorded/{suite}/{version}.jsonl"}}\n'
    )
    replies(project, REPLIES)
    return project


def replies(project: Project, texts: list[str]) -> Path:
    file = project.root / "recorded" / "tickets" / f"{VERSION}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [{"case_id": row["id"], "output": text} for row, text in zip(CASES, texts, strict=True)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def report(project: Project) -> dict[str, object]:
    outputs = project.root / "recorded" / "tickets" / f"{VERSION}.jsonl"
    done = command(
        project, "score", "tickets", "--golden", project.golden("tickets"), "--outputs", outputs, "--json"
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


def test_check_score_probe_and_schema(tickets: Project) -> None:
    checked = invoke(tickets, "golden", "check", "tickets")
    assert "tickets: 4 cases can be read" in checked.stdout
    assert report(tickets)["metrics"]["accuracy"] == 0.75  # type: ignore[index]
    probed = invoke(tickets, "golden", "probe", "tickets")
    assert probed.returncode == 0, probed.stdout + probed.stderr
    assert "oracle" in probed.stdout
    assert invoke(tickets, "schema").returncode == 0
    schemas = tickets.root / "schemas"
    assert "accuracy" in (schemas / "tickets" / "gates.json").read_text()
    assert "contains_all" in (schemas / "suite.json").read_text()


def test_run_baseline_comparison_and_gate(tickets: Project) -> None:
    first = command(tickets, "run", "tickets")
    assert first.returncode == 0, first.stderr
    assert "75.0 %" in first.stdout
    assert invoke(tickets, "golden", "freeze", "tickets", "--reason", "read", "--by", "me").returncode == 0
    promote = ("baseline", "promote", "tickets", VERSION, "--reason", "the first", "--by", "me")
    assert invoke(tickets, *promote).returncode == 0
    folder = tickets.golden("tickets")
    (folder / "suite.yaml").write_text("# A comment\n" + (folder / "suite.yaml").read_text())
    passed = command(tickets, "gate", "tickets")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    replies(tickets, ["bug", "billing", "bug", "I do not know"])
    blocked = command(tickets, "gate", "tickets")
    assert blocked.returncode == 1, blocked.stdout + blocked.stderr
    assert "25.0 % is in the fail zone" in blocked.stdout


def test_the_ejected_module_is_the_same_suite(tickets: Project) -> None:
    before = report(tickets)
    printed = invoke(tickets, "suite", "eject", "tickets", "--print")
    ejected = invoke(tickets, "suite", "eject", "tickets")
    assert ejected.returncode == 0, ejected.stderr
    module = tickets.root / "suites" / "tickets" / "__init__.py"
    assert module.read_text() == printed.stdout
    assert len(printed.stdout.splitlines()) <= 40
    assert (tickets.golden("tickets") / "suite.yaml.ejected").is_file()
    assert report(tickets) == before
    again = invoke(tickets, "suite", "eject", "tickets")
    assert again.returncode == 2
    assert "is declared by no suite.yaml" in again.stderr


def test_without_gates_nothing_passes(tickets: Project) -> None:
    (tickets.golden("tickets") / "gates.yaml").unlink()
    done = command(tickets, "run", "tickets")
    assert done.returncode == 2, done.stdout
    assert (
        "is missing, and without a gate nothing would ever fail. Write for example: metrics: {accuracy:"
        in (" ".join(done.stderr.split()))
    )


def test_a_probe_that_is_rewarded_is_a_warning_with_a_remedy(tmp_path: Path) -> None:
    suite = {**CLASSIFIER, "answer": "text", "scores": [{"contains": "{{ label }}"}]}
    project = declare(tmp_path, suite)
    gates = 'metrics:\n  contains: {fail: "< 0.6", pass: ">= 0.7"}\n'
    (project.golden("tickets") / "gates.yaml").write_text(gates)
    (project.golden("tickets") / "references").mkdir()
    lines = [{"case_id": row["id"], "output": f"It is {row['label']}"} for row in CASES]
    (project.golden("tickets") / "references" / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = invoke(project, "golden", "probe", "tickets")
    assert done.returncode == 0, done.stdout
    text = " ".join(done.stdout.split())
    assert "⚠ negated passes every critical gate. Add a score that this answer fails: `length`" in text


def test_problems_have_their_place_and_exit_with_2(tmp_path: Path) -> None:
    project = declare(tmp_path, {**CLASSIFIER, "scores": [{"equals": "{{ lable }}"}]})
    for arguments in (("golden", "check", "tickets"), ("suite", "eject", "tickets"), ("run", "tickets")):
        done = invoke(project, *arguments)
        assert done.returncode == 2, done.stdout
        assert "suite.yaml:" in done.stderr
        assert "there is no column 'lable'. Did you mean label?" in done.stderr
