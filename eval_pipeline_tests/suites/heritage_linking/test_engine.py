"""The knowledge base, and the engines that link with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import load_prompts
from eval_pipeline.scoring import context_for
from eval_pipeline.suites.heritage_linking import SUITE
from eval_pipeline.suites.heritage_linking.cases import LinkingInput, Mention
from eval_pipeline.suites.heritage_linking.engine import Parameters, link, prepare
from eval_pipeline.suites.heritage_linking.engine.knowledge import (
    Institution,
    KnowledgeBase,
    load_knowledge_base,
)
from eval_pipeline.suites.heritage_linking.scoring import LinkedMention
from eval_pipeline_tests.sources import values

PROJECT = Project.find()
FOLDER = PROJECT.golden(SUITE.name)
KNOWLEDGE = load_knowledge_base(FOLDER / "resources")


def test_a_knowledge_base_names_every_bad_line(tmp_path: Path) -> None:
    good = {"kb_id": "K1", "label": "A", "type": "M", "city": "B", "country": "NL", "viaf_id": "V1"}
    lines = [good, {**good, "kb_id": "K2"}, {**good, "viaf_id": "V2"}, {**good, "type": "Z"}, {"kb_id": "K5"}]
    (tmp_path / "knowledge_base.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n{")
    with pytest.raises(BadInput) as caught:
        load_knowledge_base(tmp_path)
    assert {(each.line, each.field) for each in caught.value.problems} >= {
        (2, "viaf_id"),
        (3, "kb_id"),
        (4, "type"),
        (5, "label"),
        (6, ""),
    }


def test_identifiers_cannot_be_mistaken_for_real_ones() -> None:
    for entry in KNOWLEDGE.institutions.values():
        assert entry.kb_id.startswith("QX")
        assert entry.viaf_id is None or entry.viaf_id.startswith("VX")
        assert entry.isil_code is None or entry.isil_code.startswith("XX-")


HERE = Institution("K1", "Salt Museum", "M", "Gent", "BE", ["SM"], ["Ghent"], "V1", "XX-1")
THERE = Institution("K2", "Salt Museum", "M", "Utrecht", "NL")
OTHER = Institution("K3", "Lace Archive", "A", "Leeds", "GB")
SMALL = KnowledgeBase([HERE, THERE, OTHER])


def linked(name: str, context: str = "", **chosen: Any) -> LinkedMention:
    parameters = Parameters(**chosen)
    given_ = LinkingInput(context or name, "en", [Mention("m", name, 0)])
    (found,) = link(prepare(given_, parameters, SMALL), parameters, SMALL).mentions
    return found


def first(found: LinkedMention) -> str | None:
    return None if found.is_nil else found.candidates[0].kb_id


@pytest.mark.parametrize(
    ("name", "context", "chosen", "expected"),
    [
        ("salt  MUSEUM", "", {}, "K1"),
        ("SM", "", {}, "K1"),
        ("Salt Musuem", "", {}, None),
        ("Salt Musuem", "", {"system": "fuzzy"}, "K1"),
        ("Museum Salt", "", {"system": "fuzzy"}, "K1"),
        ("Windmill", "", {"system": "fuzzy"}, None),
        ("Windmill", "", {"system": "fuzzy", "nil_threshold": 0.0}, "K1"),
        ("Salt Museum", "The Salt Museum in Utrecht", {}, "K1"),
        ("Salt Museum", "The Salt Museum in Utrecht", {"place_weight": 0.1}, "K2"),
        ("Salt Museum", "The Salt Museum in Ghent", {"place_weight": 0.1, "system": "fuzzy"}, "K1"),
        ("Salt Museum", "The Salt Museum of Utrechtians", {"place_weight": 0.1}, "K1"),
    ],
)
def test_systems(name: str, context: str, chosen: dict[str, Any], expected: str | None) -> None:
    assert first(linked(name, context, **chosen)) == expected


def test_identifiers_come_from_the_entry_that_is_chosen() -> None:
    found = linked("SM")
    assert (found.viaf_id, found.isil_code) == ("V1", "XX-1")
    assert linked("nowhere").viaf_id is None


def test_candidates_are_bounded() -> None:
    assert len(linked("Salt Museum", system="fuzzy", candidates=2).candidates) == 2


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40))
def test_any_mention_is_linked_the_same_twice(name: str) -> None:
    for system in ("exact", "fuzzy"):
        assert linked(name, system=system, place_weight=0.3) == linked(name, system=system, place_weight=0.3)


@pytest.mark.slow
def test_the_versions_run_on_every_case_and_the_active_one_is_best() -> None:
    cases = list(read_cases(SUITE, FOLDER, Problems()))
    resources = context_for(SUITE, FOLDER).resources
    found = {}
    for prompt in load_prompts(SUITE, PROJECT.prompts(SUITE.name), Problems()):
        outputs = {
            each.case.id: msgspec.to_builtins(
                link(prepare(each.case.input, prompt.parameters, resources), prompt.parameters, resources)
            )
            for each in cases
        }
        found[prompt.front.status] = values(SUITE, cases, outputs)
    assert all(each["error_rate"] == 0 for each in found.values())
    for name in ("hits@1", "mrr", "nil_f1"):
        active, *others = (found[status][name] or 0.0 for status in ("active", "archived", "candidate"))
        assert active >= max(others)
