"""From failure to golden case, for every suite that there is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval_pipeline.golden import read_cases
from eval_pipeline.improvement import accept, suggest, write
from eval_pipeline.language.embedder import DIMENSIONS, Vectors
from eval_pipeline.loading import find_suite, shipped_names
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import REPOSITORY, copy_project
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import CLOSES, END, START, event, keep

TEXT = "The lighthouse of Vardeborg went dark in 1911, and its keeper wrote down every ship that passed."
PASSAGES = REPOSITORY / "golden" / "heritage_rag" / "resources" / "passages.jsonl"
PASSAGE = json.loads(PASSAGES.read_text().partition("\n")[0])["doc_id"]

ASKED: dict[str, dict[str, Any]] = {
    "decomposition": {"topic": "Lighthouses", "source_text": TEXT},
    "grounded_qa": {"question": "Who kept the lighthouse of Vardeborg in 1911?"},
    "heritage_linking": {
        "context": TEXT,
        "language": "en",
        "mentions": [{"mention_id": "m1", "mention": "Vardeborg", "start": 18}],
    },
    "heritage_ner": {"text": TEXT, "language": "en"},
    "heritage_qa": {"question": "When did the lighthouse go dark?", "context": [TEXT], "language": "en"},
    "heritage_rag": {"question": "When did the lighthouse of Vardeborg go dark?", "language": "en"},
    "heritage_retrieval": {"query": "keeper's logbooks of the Vardeborg lighthouse", "language": "en"},
    "heritage_typing": {"text": TEXT, "language": "en"},
    "optimization": {"input": "a lighthouse in a storm at night", "target_model": ""},
    "review": {"title": "Lighthouse relay", "kind": "design", "document": f"{TEXT}\n\nIt has no backup."},
    "span_labeling": {"prompt": "A keeper lights the lamp of a lighthouse"},
    "suggestions": {
        "prompt": "A keeper lights the lamp of a lighthouse",
        "span": "lights",
        "start": 9,
        "category": "action.movement",
    },
}
FILLED: dict[str, dict[str, Any]] = {
    "decomposition": {
        "domain": "technical",
        "expectedConcepts": [{"label": "lighthouse"}],
        "expectedRelationships": [],
    },
    "grounded_qa": {"answerable": False},
    "heritage_linking": {
        "mentions": [{"mention_id": "m1", "mention": "Vardeborg", "start": 18, "gold_wikidata": None}]
    },
    "heritage_ner": {"ner_annotations": [{"text": "Vardeborg", "type": "TOP", "start": 18, "end": 27}]},
    "heritage_qa": {
        "gold_answer": "In 1911.",
        "answer_type": "factual",
        "answerable": True,
        "supporting_facts": ["The lighthouse went dark in 1911."],
    },
    "heritage_rag": {
        "gold_answer": "In 1911.",
        "answer_type": "temporal",
        "answerable": True,
        "supporting_facts": ["The lighthouse went dark in 1911."],
        "supporting_passages": [[PASSAGE]],
    },
    "heritage_retrieval": {"judgments": {"doc-1": 2}},
    "heritage_typing": {"gold_type": "A"},
    "optimization": {"expectedQualities": {"intentPreservation": {"min": 0.8}}},
    "review": {
        "expected_errors": [
            {"id": "E1", "severity": "MINOR", "category": "EDGE", "text": "No backup", "location": "3"}
        ]
    },
    "span_labeling": {
        "kind": "core",
        "spans": [{"text": "keeper", "start": 2, "end": 8, "category": "subject.identity"}],
    },
    "suggestions": {"expectedQualities": {"diversity": {"min": 0.4}}},
}


def ids(project: Project, name: str) -> set[str]:
    problems = Problems()
    found = {each.case.id for each in read_cases(find_suite(project, name), project.golden(name), problems)}
    problems.stop_if_any()
    return found


class Letters:
    """Tells texts apart, whatever they mean: encoding whole golden sets takes long, and matters elsewhere."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> Vectors:
        seeds = (list(text.encode()) for text in texts)
        rows = np.array([np.random.default_rng(seed).standard_normal(DIMENSIONS) for seed in seeds])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def suggested(project: Project, name: str, given: Any) -> Path:
    """The file of the one suggestion that an error leads to."""
    keep(project, [event(1, name, given, None, error="timeout")])
    outcome = suggest(project, find_suite(project, name), START, END, CLOSES, embedder=Letters())
    (path,) = write(project, outcome)
    return path


def fill(path: Path, values: dict[str, Any]) -> None:
    content = json.loads(path.read_text())
    content["case"] |= values
    path.write_text(json.dumps(content, indent=2))


@pytest.mark.parametrize("name", shipped_names())
def test_a_failure_of_every_suite_becomes_a_golden_case(tmp_path: Path, name: str) -> None:
    project = copy_project(tmp_path / "project", name)
    before = ids(project, name)
    path = suggested(project, name, ASKED[name])
    assert ids(project, name) == before  # nobody reads a suggestion as a case
    with pytest.raises(BadInput) as refused:
        accept(project, [path])
    assert {problem.message for problem in refused.value.problems} == {"is blank"}
    assert all(problem.line > 1 and problem.field.startswith("case.") for problem in refused.value.problems)
    assert ids(project, name) == before
    fill(path, FILLED[name])
    (accepted,) = accept(project, [path])
    assert ids(project, name) == before | set(accepted.names)
    assert not path.exists()
    again = suggest(project, find_suite(project, name), START, END, CLOSES, embedder=Letters())
    assert not again.cases, "what was accepted is not suggested again"
    assert list(again.golden) == list(accepted.names)
    assert "Vardeborg" not in (path.parent / "accepted.jsonl").read_text()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project that no test breaks."""
    return copy_project(tmp_path_factory.mktemp("shared") / "project")


@pytest.mark.parametrize("name", shipped_names())
def test_a_request_in_plain_text_is_enough_for_a_draft(shared: Project, name: str) -> None:
    content = json.loads(suggested(shared, name, TEXT).read_text())
    assert TEXT in json.dumps(content["case"])
    assert content["why"] == ["the request ended in an error: timeout"]
    assert content["requests"] == ["r1"]


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "tsv", "yaml"])
def test_a_declared_suite_gets_a_row_more(tmp_path: Path, ending: str) -> None:
    project = declare(tmp_path, CLASSIFIER | {"cases": f"cases.{ending}"})
    rows = [json.loads(line) for line in (project.golden(NAME) / "cases.jsonl").read_text().splitlines()]
    (project.golden(NAME) / "cases.jsonl").unlink()
    separator = "," if ending == "csv" else "\t"
    text = {
        "jsonl": "\n".join(json.dumps(row) for row in rows),
        "json": json.dumps(rows, indent=1),
        "yaml": "".join(f"- {json.dumps(row)}\n" for row in rows),
    }.get(ending) or "\n".join(
        separator.join(row) for row in [list(rows[0]), *(row.values() for row in rows)]
    )
    (project.golden(NAME) / f"cases.{ending}").write_text(text)
    path = suggested(project, NAME, {"text": 'They said "no", twice,\nand hung up'})
    fill(path, {"label": "nonsense", "language": "en"})
    with pytest.raises(BadInput, match=r"case\.label"):
        accept(project, [path])
    fill(path, {"label": "other"})
    accept(project, [path])
    after = (project.golden(NAME) / f"cases.{ending}").read_text()
    assert after.startswith(text.rstrip("]").rstrip("\n"))
    assert len(ids(project, NAME)) == len(rows) + 1


def written(root: Path, ending: str, text: str) -> tuple[Project, Path]:
    """A project whose cases stand in a file of some kind, and that file."""
    project = declare(root, CLASSIFIER | {"cases": f"cases.{ending}"})
    (project.golden(NAME) / "cases.jsonl").unlink()
    file = project.golden(NAME) / f"cases.{ending}"
    file.write_bytes(text.encode())
    return project, file


ITEM = json.dumps({"id": "a", "text": "I was charged twice", "language": "en", "label": "billing"})


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ("json", f"[\n  {ITEM}\n]\n"),
        ("jsonl", f"{ITEM}\n"),
        ("yaml", f"# Tickets\n\n---\n- {ITEM}\n"),
        ("yaml", f"  - {ITEM}\n"),
        ("yml", "-\n  id: a\n  text: Hello\n  language: en\n  label: bug\n"),
        ("csv", "\ufeffid,text,language,label\na,Hello,en,bug\n"),
        ("csv", "\n\nid;text;language;label\na;Hello;en;bug\n"),
        ("tsv", "id\ttext\tlanguage\tlabel\na\tHello\ten\tbug\n"),
    ],
)
def test_any_text_finds_its_place_and_the_file_stays_as_it_is(tmp_path: Path, ending: str, text: str) -> None:
    project, file = written(tmp_path, ending, text)
    asked = "one\u2028two\u0085three\x0cfour 🗼"
    path = suggested(project, NAME, {"text": asked})
    fill(path, {"label": "other", "language": "en"})
    accept(project, [path])
    assert file.read_bytes().decode().startswith(text.rstrip("\n]"))
    cases = read_cases(find_suite(project, NAME), project.golden(NAME), Problems())
    assert [each.case.input.text for each in cases][-1] == asked


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_field_that_is_no_column_is_refused(tmp_path: Path, ending: str) -> None:
    separator = "," if ending == "csv" else "\t"
    text = f"{separator.join(('id', 'text', 'language', 'label'))}\n"
    project, file = written(tmp_path, ending, text + separator.join(("a", "Hello", "en", "bug")) + "\n")
    path = suggested(project, NAME, {"text": "They hung up"})
    fill(path, {"label": "other", "language": "en", "note": "seen twice", "weight": 2})
    before = file.read_bytes()
    with pytest.raises(BadInput) as refused:
        accept(project, [path])
    assert {problem.field for problem in refused.value.problems} == {"case.note", "case.weight"}
    assert "id, text, language, label" in str(refused.value)
    assert file.read_bytes() == before


def test_an_id_that_a_case_has_is_refused(project: Project) -> None:
    path = suggested(project, "decomposition", ASKED["decomposition"])
    fill(path, FILLED["decomposition"] | {"id": "blockchain"})
    with pytest.raises(BadInput, match="also the id"):
        accept(project, [path])
    fill(path, {"id": "../../escape"})
    with pytest.raises(BadInput, match="cannot be used"):
        accept(project, [path])
    assert path.exists()


def test_what_is_wrong_is_said_where_it_stands_in_the_suggestion(project: Project) -> None:
    path = suggested(project, "decomposition", ASKED["decomposition"])
    fill(
        path, FILLED["decomposition"] | {"expectedConcepts": [{"label": "a"}, {"label": "a"}, {"name": "b"}]}
    )
    with pytest.raises(BadInput) as refused:
        accept(project, [path])
    lines = path.read_text().splitlines()
    for problem in refused.value.problems:
        assert problem.file.endswith(path.name)
        assert "expectedConcepts" in problem.field
        assert any(word in lines[problem.line - 1] for word in ('"label"', '"name"', "{"))


def test_all_are_accepted_or_none(tmp_path: Path) -> None:
    project = copy_project(tmp_path / "project", "decomposition", "grounded_qa")
    first = suggested(project, "decomposition", ASKED["decomposition"])
    second = suggested(project, "grounded_qa", ASKED["grounded_qa"])
    fill(first, FILLED["decomposition"])
    before = ids(project, "decomposition")
    with pytest.raises(BadInput):
        accept(project, [first, second])
    assert ids(project, "decomposition") == before
    fill(second, FILLED["grounded_qa"])
    assert [each.suite for each in accept(project, [first, second])] == ["decomposition", "grounded_qa"]


def test_a_canary_is_forbidden_where_a_person_says_so(project: Project) -> None:
    answer = {"concepts": [{"label": "Neural Osmosis"}], "relationships": []}
    given = ("Ships sail.", "Bread is baked from flour.", "The moon moves the tides.")
    keep(
        project,
        [
            event(n, "decomposition", {"topic": "t", "source_text": text}, answer)
            for n, text in enumerate(given)
        ],
    )
    outcome = suggest(project, find_suite(project, "decomposition"), START, END, CLOSES)
    ((name, canary),) = outcome.canaries
    assert canary.canary == "Neural Osmosis"
    paths = write(project, outcome)
    path = next(each for each in paths if each.stem == name)
    with pytest.raises(BadInput, match="forbid_in"):
        accept(project, [path])
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"forbid_in": ["blockchain"]}))
    accept(project, [path])
    file = project.golden("decomposition") / "cases/blockchain.gold.json"
    golden = json.loads(file.read_text())
    assert golden["forbiddenConcepts"][-1] == "Neural Osmosis"
    assert "blockchain" in ids(project, "decomposition")
    (path.parent / "accepted.jsonl").unlink()
    again = suggest(project, find_suite(project, "decomposition"), START, END, CLOSES, embedder=Letters())
    assert not again.canaries, "a golden case forbids it"
    path.write_text(json.dumps(content | {"canary": "neural  osmosis", "forbid_in": ["blockchain"]}))
    with pytest.raises(BadInput, match="forbid it already"):
        accept(project, [path])
    other = next(name for name in sorted(ids(project, "decomposition")) if name != "blockchain")
    path.write_text(json.dumps(content | {"forbid_in": ["blockchain", other]}))
    accept(project, [path])
    assert json.loads(file.read_text()) == golden
