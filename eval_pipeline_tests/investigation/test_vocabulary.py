"""What suites say of their diagnoses: every kind is known, and names are those that scoring gives."""

from __future__ import annotations

import ast
import random
import re

import pytest

from eval_pipeline.investigation import Diagnosed, vocabulary_of
from eval_pipeline.investigation.vocabulary import kind_of, role_of
from eval_pipeline.suite import DiagnosisVocabulary, Suite
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.investigation import planting
from eval_pipeline_tests.investigation.planting import ground_of, spoil_some

SUITES = sorted(
    path.parent.name for path in (REPOSITORY / "eval_pipeline" / "suites").glob("[a-z]*/__init__.py")
)
OF_EVERY_SUITE = {"error", "unjudged"}


def kinds_in(suite: str) -> set[str]:
    """The kinds that a suite's code gives to diagnoses, read from its text."""
    kinds: set[str] = set()
    for file in (REPOSITORY / "eval_pipeline" / "suites" / suite).glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "attr", getattr(node.func, "id", "")) == "Diagnosis"
            ):
                first = node.args[0]
                kinds |= {str(first.value)} if isinstance(first, ast.Constant) else set()
    return kinds


@pytest.mark.parametrize("suite", SUITES)
def test_every_kind_of_diagnosis_has_words(suite: str) -> None:
    vocabulary = vocabulary_of(Suite(suite))
    assert vocabulary.kinds
    assert kinds_in(suite) - OF_EVERY_SUITE <= vocabulary.kinds.keys()
    for name, kind in vocabulary.kinds.items():
        assert re.fullmatch(r"[a-z].*[^.]", kind.words), name
        assert set(kind.brings) <= vocabulary.kinds.keys(), name


@pytest.mark.parametrize("suite", ["decomposition", "heritage_ner", "review", "span_labeling"])
def test_what_is_missed_has_the_name_of_what_is_wanted(suite: str) -> None:
    """Else nobody could say which part of a text was overlooked."""
    ground = ground_of(suite)
    keys = [(each.case.id, 1) for each in ground.cases[:6]]
    nothing = spoil_some(random.Random(0), ground, keys, planting.empty)
    seen = [each for each in ground.observations(nothing, 1) if (each.case_id, 1) in nothing]
    for each in seen:
        missed = {row.expected for row in each.diagnoses if role_of(ground.vocabulary, row) == "missed"}
        assert missed <= {wanted.name for wanted in ground.facts[each.case_id].wanted}
    assert any(each.diagnoses for each in seen)


@pytest.mark.parametrize(
    ("expected", "got", "role"), [("a", "", "missed"), ("", "b", "invented"), ("a", "b", "mislabelled")]
)
def test_without_words_the_shape_tells(expected: str, got: str, role: str) -> None:
    nothing = DiagnosisVocabulary()
    assert role_of(nothing, Diagnosed("any_kind", expected, got)) == role
    assert kind_of(nothing, "any_kind").words == "mistakes of the kind “any kind”"


def test_a_suite_without_words_has_none() -> None:
    assert vocabulary_of(Suite("nobody_knows")) == DiagnosisVocabulary()
