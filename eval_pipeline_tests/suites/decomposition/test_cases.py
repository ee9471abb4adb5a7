"""The golden format, and the shipped golden set beside its second reading."""

import json
from typing import Any

import msgspec
import pytest

from eval_pipeline.suites.decomposition.cases import GoldenEntry, check_entry
from eval_pipeline_tests.conftest import REPOSITORY

FOLDER = REPOSITORY / "golden" / "decomposition"
SECOND = json.loads((FOLDER / "second_reading.json").read_text())["cases"]

Pairs = dict[tuple[str, str], str]


@pytest.mark.parametrize(("label", "wrong"), [("neural network", True), ("Network Neurons", False)])
def test_a_form_of_an_expected_concept_cannot_be_forbidden(label: str, wrong: bool) -> None:
    given = {
        "id": "x",
        "domain": "technical",
        "sourceText": "Neural networks.",
        "expectedConcepts": [{"label": "Neural Networks"}],
        "forbiddenConcepts": [label],
    }
    assert bool(list(check_entry(msgspec.convert(given, GoldenEntry)))) is wrong


def _golden(case_id: str) -> Pairs:
    entry = json.loads((FOLDER / "cases" / f"{case_id}.gold.json").read_text())
    return {(each["source"], each["target"]): each["predicate"] for each in entry["expectedRelationships"]}


@pytest.mark.parametrize("case_id", [path.name.split(".")[0] for path in (FOLDER / "cases").iterdir()])
def test_the_golden_set_is_what_two_readings_agree_on_or_a_settlement_says(case_id: str) -> None:
    reading: dict[str, Any] = SECOND[case_id]
    agreed: Pairs = {}
    for line in reading["second_reading"]:
        source, predicate, target = line.split(" | ")
        agreed[source, target] = predicate
    for each in reading["disagreements"]:
        agreed.pop((each["source"], each["target"]), None)
        assert each["reason"]
    assert len(agreed) == reading["agreed"]
    settled = {
        (each["source"], each["target"]): each["settled"]
        for each in reading["disagreements"]
        if each["settled"]
    }
    assert {**agreed, **settled} == _golden(case_id)
