"""Where the things stand that diagnoses name: by suite, from texts as scoring writes them."""

from __future__ import annotations

import pytest

from eval_pipeline.project import Project
from eval_pipeline.reports.pointing import pointing_of
from eval_pipeline.suite import Case, Suite
from eval_pipeline.suite.pointing import Pointer
from eval_pipeline.suites import find_suite
from eval_pipeline.suites.review.cases import ExpectedError, ReviewExpected, ReviewInput
from eval_pipeline_tests.conftest import REPOSITORY

HERE = Project(REPOSITORY, REPOSITORY / ".eval")
NO_CASE: Case[None, None] = Case("c", None, None)


@pytest.mark.parametrize(
    ("suite", "named", "expected"),
    [
        ("decomposition", "Proof of Work", [Pointer("Proof of Work")]),
        ("decomposition", "hash (a form of hashing)", [Pointer("hash")]),
        (
            "decomposition",
            "One Health RELATES_TO cell",
            [Pointer("One Health", beside=("RELATES_TO", "cell"))],
        ),
        (
            "grounded_qa",
            "holds six pods | holds 6 pods",
            [Pointer("holds six pods"), Pointer("holds 6 pods")],
        ),
        ("grounded_qa", "lights#3, warranty#1 (not retrieved)", [Pointer("lights#3"), Pointer("warranty#1")]),
        ("heritage_linking", "m2 'Textilmuseum': QX042", [Pointer("Textilmuseum"), Pointer("QX042")]),
        ("heritage_linking", 'm1 "L\'Écluse": NIL, VIAF none', [Pointer("L'Écluse")]),
        ("heritage_linking", "QX042, VIAF VX7", [Pointer("QX042"), Pointer("VX7")]),
        ("heritage_ner", "TOP 'West Cork' 50–59", [Pointer("West Cork", "text", 50, 59)]),
        ("heritage_ner", 'GRP "L\'Écluse" 3–11', [Pointer("L'Écluse", "text", 3, 11)]),
        ("heritage_qa", "The sources do not say.", [Pointer("The sources do not say.")]),
        ("heritage_rag", "The sources do not say.", [Pointer("The sources do not say.")]),
        ("heritage_rag", "It has 7. (in p1, h2)", [Pointer("It has 7."), Pointer("p1"), Pointer("h2")]),
        ("heritage_retrieval", "p056 (grade 3)", [Pointer("p056")]),
        ("heritage_retrieval", "rank 12", []),
        ("heritage_typing", "A (archive)", [Pointer('"A"')]),
        ("heritage_typing", "a castle", [Pointer("a castle")]),
        ("optimization", "2: bokeh, crane up", [Pointer("bokeh"), Pointer("crane up")]),
        ("optimization", "a after picture", [Pointer("picture a")]),
        ("review", "DEPEND: The calendar stores. (line 16)", [Pointer("The calendar stores.")]),
        ("review", "E2", [Pointer('"E2"')]),
        ("span_labeling", "red [dress] [subject.wardrobe]", [Pointer("red [dress]")]),
        ("span_labeling", "red at 3–6", [Pointer("red", "prompt", 3, 6)]),
        ("suggestions", "saluting → subject.identity", [Pointer("saluting")]),
        ("suggestions", "A young cadets walking (at young cadets)", [Pointer("young cadets")]),
    ],
)
def test_what_a_diagnosis_names(suite: str, named: str, expected: list[Pointer]) -> None:
    assert list(pointing_of(find_suite(HERE, suite))(named, NO_CASE)) == expected


def test_an_error_that_was_missed_is_found_where_it_stands_in_the_document() -> None:
    error = ExpectedError("E5", "CRITICAL", "SECURE", "Data on a lock screen.", quote="sends the treatment")
    case = Case("c", ReviewInput("t", "design", "It sends the treatment."), ReviewExpected([error]))
    pointers = pointing_of(find_suite(HERE, "review"))
    named = "E5 CRITICAL SECURE: Data on a lock screen."
    assert list(pointers(named, case)) == [Pointer("Data on a lock screen."), Pointer("sends the treatment")]


def test_a_suite_that_says_nothing_is_searched_for_the_words_themselves() -> None:
    assert list(pointing_of(Suite(name="nowhere"))("some words", NO_CASE)) == [Pointer("some words")]
