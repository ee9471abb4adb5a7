"""`eval-pipeline init`: a project from a table, and nothing of anybody's overwritten."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pexpect
import pytest
import yaml

from eval_pipeline.gates import read_gates
from eval_pipeline.golden import read_cases
from eval_pipeline.loading import find_suite, shipped_names
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import load_prompt
from eval_pipeline.starting import TASKS
from eval_pipeline_tests.running import invoke

TABLE = "nr,text,label,channel\n" + "".join(
    f"{number},{word} number {number},{label},{channel}\n"
    for number, (word, label, channel) in enumerate(
        [
            ("bill", "billing", "web"),
            ("crash", "bug", "mail"),
            ("bill", "billing", "mail"),
            ("crash", "bug", "web"),
        ]
    )
)


@pytest.fixture
def here(tmp_path: Path) -> Project:
    (tmp_path / "tickets.csv").write_text(TABLE)
    return Project(tmp_path, tmp_path / ".eval")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("task", TASKS)
def test_every_template_is_a_project_that_can_be_used(here: Project, task: str) -> None:
    done = invoke(here, "init", "new", "--template", task, "--yes")
    assert done.returncode == 0, done.stderr
    assert "which are samples" in done.stdout
    assert "a stand-in, not from a model" in done.stdout
    project = Project(here.root / "new", here.root / "new" / ".eval")
    suite, problems = find_suite(project, task), Problems()
    golden = project.golden(task)
    assert len((golden / "suite.yaml").read_text().splitlines()) <= 15
    cases = [each.case for each in read_cases(suite, golden, problems)]
    gates = read_gates(suite, golden / "gates.yaml", problems)
    (version,) = [file.stem for file in project.prompts(task).glob("*.md")]
    prompt = load_prompt(suite, project.prompts(task), version, problems)
    problems.stop_if_any()
    assert prompt is not None
    assert len(gates) > 1
    written = (golden / "gates.yaml").read_text()
    assert written.count("no value fails") == written.count('"< 0"')
    recorded = project.root / "recorded" / task / f"{version}.jsonl"
    answers = [json.loads(line) for line in recorded.read_text().splitlines()]
    assert [each["case_id"] for each in answers] == [case.id for case in cases]
    scored = invoke(project, "score", task, "--golden", golden, "--outputs", recorded, "--json")
    assert scored.returncode == 0, scored.stdout  # no gate fails on the stand-in, so that everything runs
    assert not json.loads(scored.stdout)["errors"]
    from eval_pipeline.definitions import build_definitions

    build_definitions(project)


def test_what_is_guessed_is_said_with_the_reason(here: Project) -> None:
    done = invoke(here, "init", "--from", "tickets.csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:6] == [
        "tickets: 4 cases of tickets.csv",
        "  id          nr   (guessed: its name, and every row has another one)",
        "  input       text   (guessed: its name)",
        "  expected    label   (guessed: its name)",
        "  attributes  channel   (guessed: few distinct values)",
        "  task        classify   (guessed: label has 2 distinct values)",
    ]
    assert (here.golden("tickets") / "cases" / "tickets.csv").read_text() == TABLE
    prompt = (here.prompts("tickets") / "classify-v1.0.md").read_text()
    assert "belong to: billing, bug?" in prompt
    ignored = (here.root / ".gitignore").read_text().splitlines()
    assert {".env", ".eval/"} <= set(ignored)
    assert (here.root / ".env").read_text() == f"DAGSTER_HOME={here.root}/.eval\n"
    settings = yaml.safe_load((here.state / "dagster.yaml").read_text())
    assert settings["telemetry"] == settings["nux"] == {"enabled": False}


def test_nothing_is_overwritten_and_every_conflict_is_named(here: Project) -> None:
    (here.root / ".gitignore").write_text("mine\n")
    (here.prompts("tickets")).mkdir(parents=True)
    (here.prompts("tickets") / "classify-v1.0.md").write_text("mine")
    before = contents(here.root)
    done = invoke(here, "init", "--from", "tickets.csv", "--yes")
    assert done.returncode == 2
    assert [line.partition(":")[0] for line in done.stderr.splitlines()[:-1]] == [
        ".gitignore",
        "prompts/tickets/classify-v1.0.md",
    ]
    assert contents(here.root) == before
    assert not (here.root / "engines.yaml").exists()


def test_a_second_table_adds_a_suite_and_leaves_the_rest(here: Project) -> None:
    assert invoke(here, "init", "--from", "tickets.csv").returncode == 0
    before = contents(here.root)
    (here.root / "review.csv").write_text(TABLE)
    added = invoke(here, "init", "--from", "review.csv")
    assert added.returncode == 0, added.stderr
    assert "review" in shipped_names()
    after = contents(here.root)
    assert before.items() <= after.items()
    new = after.keys() - before.keys() - {"review.csv"}
    assert {name.split("/")[1] for name in new} == {"own_review"}
    again = invoke(here, "init", "--from", "review.csv")
    assert again.returncode == 2
    assert len(again.stderr.splitlines()) == len(new) + 1
    assert contents(here.root) == after


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (["--template", "clasify"], ["--template: 'clasify' is not a template. Did you mean classify?"]),
        (["--from", "nowhere.csv"], ["nowhere.csv: there is no such file"]),
        (["--from", "notes.docx"], ["notes.docx: is in no known format"]),
        (
            ["--from", "tickets.csv", "--expected", "lable", "--input", "txt"],
            ["--expected: 'lable' is not a column. Did you mean label?", "--input: 'txt' is not a column"],
        ),
        (["--from", "bare.csv"], ["no column looks like what is expected. Name a column with --expected."]),
        (["--from", "tickets.csv", "--name", "a b"], ["--name: 'a b' cannot be the name of a suite"]),
        (["--from", "tickets.csv", "--name", "review"], ["For example: own_review."]),
        (["--from", "ragged.csv"], ["ragged.csv:2: 1 cells, the header has 2"]),
    ],
)
def test_what_cannot_be_used_is_named_and_nothing_written(
    here: Project, arguments: list[str], messages: list[str]
) -> None:
    (here.root / "notes.docx").write_text("")
    (here.root / "bare.csv").write_text("a,b\none two three four,five six seven eight\n")
    (here.root / "ragged.csv").write_text("text,label\none\n")
    before = contents(here.root)
    done = invoke(here, "init", *arguments)
    assert done.returncode == 2, done.stdout
    for message in messages:
        assert message in done.stderr
    assert contents(here.root) == before


@pytest.mark.slow
def test_on_a_terminal_it_asks_what_is_not_clear(here: Project) -> None:
    (here.root / "odd.csv").write_text(TABLE.replace("text", "what").replace("label", "team"))
    given = ["-m", "eval_pipeline", "init", "--from", "odd.csv"]
    child = pexpect.spawn(sys.executable, given, cwd=str(here.root), encoding="utf-8", timeout=120)
    child.expect("Which column says what is expected")
    child.sendline("nonsense")
    child.expect("not a column of the table")
    child.expect("Which column says what is expected")
    child.sendline("team")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert 'equals: "{{ team }}"' in (here.golden("odd") / "suite.yaml").read_text()
