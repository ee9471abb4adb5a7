"""The golden format, and the golden set itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from eval_pipeline.golden import GoldenCase, OverviewBuilder, read_cases, shortfalls
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suites.heritage_linking import SUITE
from eval_pipeline.suites.heritage_linking.engine.knowledge import load_knowledge_base
from eval_pipeline.suites.heritage_linking.requirements import second_annotations

FOLDER = Project.find().golden(SUITE.name)
KNOWLEDGE = load_knowledge_base(FOLDER / "resources")

ENTRY: dict[str, Any] = {
    "id": "x",
    "context": "Het Zoutmuseum 😀 en het Zoutmuseum.",
    "mentions": [
        {"mention_id": "m1", "mention": "Zoutmuseum", "start": 4, "gold_wikidata": "K1", "gold_viaf": "V1"},
        {"mention_id": "m2", "mention": "Zoutmuseum", "start": 24, "gold_wikidata": None},
    ],
}


@pytest.fixture(scope="module")
def cases() -> list[GoldenCase]:
    """The golden set."""
    problems = Problems()
    found = list(read_cases(SUITE, FOLDER, problems))
    assert [str(problem) for problem in problems] == []
    return found


def problems_of(tmp_path: Path, **changes: Any) -> list[tuple[str, str]]:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**ENTRY, **changes}))
    problems = Problems()
    list(read_cases(SUITE, path, problems))
    return [(each.field, each.message) for each in problems]


def test_an_entry_becomes_a_case_without_giving_its_answers_away(tmp_path: Path) -> None:
    assert problems_of(tmp_path) == []
    (case,) = read_cases(SUITE, tmp_path / "x.json", Problems())
    assert "K1" not in msgspec.json.encode(case.case.input).decode()
    assert case.case.expected.links["m2"].kb_id is None


def test_every_contradiction_in_an_entry_is_named(tmp_path: Path) -> None:
    first, second = ENTRY["mentions"]
    found = problems_of(
        tmp_path,
        mentions=[
            {**first, "start": 5},
            {**second, "mention_id": "m1"},
            {**second, "mention_id": "m3", "gold_viaf": "V1"},
            {"mention_id": "m4", "mention": "Het", "start": 0},
        ],
    )
    assert [field for field, _ in found] == ["mentions[3].gold_wikidata"]
    found = problems_of(
        tmp_path,
        mentions=[
            {**first, "start": 5},
            {**second, "mention_id": "m1"},
            {**second, "mention_id": "m3", "gold_viaf": "V1"},
        ],
    )
    assert [field for field, _ in found] == [
        "mentions[0].start",
        "mentions[1].mention_id",
        "mentions[2].gold_wikidata",
    ]
    assert problems_of(tmp_path, mentions=[]) == [("mentions", "is empty")]


def test_golden_links_are_those_of_the_knowledge_base(cases: list[GoldenCase]) -> None:
    for golden in cases:
        for gold in golden.case.expected.links.values():
            if gold.kb_id is not None:
                entry = KNOWLEDGE.institutions[gold.kb_id]
                assert (gold.viaf_id, gold.isil_code) == (entry.viaf_id, entry.isil_code)


def test_the_golden_set_has_the_documents_size(cases: list[GoldenCase]) -> None:
    overview = OverviewBuilder(SUITE)
    for golden in cases:
        overview.add(golden)
    built = overview.build(second_annotations(Project.find().golden(SUITE.name) / "references"))
    assert sum(built.measures["mentions"]) >= 500
    assert len(KNOWLEDGE.institutions) >= 350
    short = {requirement.name for requirement, missing in shortfalls(SUITE, built) if missing}
    assert short <= {"split_balance"}
