"""What the embedded engine answers, how parameters steer it, and that it copes with anything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suites.heritage_qa import SUITE
from eval_pipeline.suites.heritage_qa.cases import QuestionInput
from eval_pipeline.suites.heritage_qa.engine import Parameters, answer
from eval_pipeline.suites.heritage_qa.lexicon import REFUSALS
from eval_pipeline_tests.sources import values

ASHBY = "Ashby Museum in Oldby opened in 1920. The museum owns 300 maps. It is closed on Mondays."
BRINE = "Brine Library in Newby opened in 1950. The library owns 900 maps. Its roof is green."


def told(question: str, language: str = "en", **parameters: Any) -> str:
    prepared = QuestionInput(question, [ASHBY, BRINE], language)
    return answer(prepared, Parameters(**parameters), None).answer


@pytest.mark.parametrize(
    ("question", "parameters", "expected"),
    [
        ("When did Brine Library open?", {"system": "bm25"}, "Brine Library in Newby opened in 1950."),
        ("Is it closed on Mondays?", {"system": "bm25"}, "It is closed on Mondays."),
        ("Which colour is the roof?", {"system": "dense"}, "Its roof is green."),
        (
            "How many maps does Brine Library own?",
            {"system": "bm25", "focus": True},
            "The library owns 900 maps.",
        ),
        (
            "How many maps does Ashby Museum own?",
            {"system": "bm25", "focus": True, "name_subject": True},
            "Ashby Museum: The museum owns 300 maps.",
        ),
        (
            "Which opened first, Ashby Museum or Brine Library?",
            {"system": "bm25", "focus": True},
            "Ashby Museum in Oldby opened in 1920. Brine Library in Newby opened in 1950.",
        ),
        ("Who paints penguins?", {"system": "bm25", "refuse_below": 0.2}, REFUSALS["en"]),
        ("Who paints penguins?", {"system": "dense", "refuse_below": 0.5}, REFUSALS["en"]),
        (
            "When was it opened?",
            {"system": "bm25", "sentences": 2},
            "Ashby Museum in Oldby opened in 1920. Brine Library in Newby opened in 1950.",
        ),
    ],
)
def test_answers(question: str, parameters: dict[str, Any], expected: str) -> None:
    assert told(question, **parameters) == expected


def test_every_parameter_is_tested() -> None:
    marks = getattr(test_answers, "pytestmark")  # noqa: B009
    tested = {name for _, parameters, _ in marks[0].args[1] for name in parameters}
    assert tested == set(Parameters.__struct_fields__)


def test_it_refuses_in_the_language_of_the_question_and_without_any_context() -> None:
    for language, refusal in REFUSALS.items():
        assert answer(QuestionInput("?", [], language), Parameters(), None).answer == refusal
    assert answer(QuestionInput("?", [" "], ""), Parameters(), None).answer == REFUSALS["en"]


@settings(deadline=None, max_examples=30)
@given(
    st.text(max_size=40),
    st.lists(st.text(max_size=40), max_size=3),
    st.sampled_from(["nl", "en", "de", "fr", ""]),
)
def test_any_text_is_answered_the_same_twice(question: str, context: list[str], language: str) -> None:
    for system in ("bm25", "dense"):
        parameters = Parameters(system=system, focus=True, name_subject=True, refuse_below=0.2)
        prepared = QuestionInput(question, context, language)
        assert answer(prepared, parameters, None) == answer(prepared, parameters, None)


def test_it_runs_on_all_golden_cases_and_never_invents() -> None:
    golden = list(read_cases(SUITE, Project.find().golden("heritage_qa"), Problems()))
    assert len(golden) == 319
    for parameters in (Parameters(), Parameters(system="bm25", focus=True, name_subject=True)):
        outputs = {
            each.case.id: {"answer": answer(each.case.input, parameters, None).answer} for each in golden
        }
        assert values(SUITE, golden, outputs)["faithfulness"] == pytest.approx(1, abs=0.02)
