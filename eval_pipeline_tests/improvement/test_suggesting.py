"""Planted failures are found among many requests, and none is suggested twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.improvement import drop, suggest, undecided, write
from eval_pipeline.loading import find_suite
from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import copy_project
from eval_pipeline_tests.improvement.producing import CLOSES, END, START, event, keep, thumbs

SUITE = "grounded_qa"
PLANTED = (
    "How do I reset the password of a shared mailbox?",
    "Which countries do you deliver bicycles to?",
    "My invoice shows the wrong VAT number, who corrects it?",
    "Can I bring a dog into the reading room?",
    "What is the maximum size of an attachment?",
    "Why does the thermostat show error E41?",
    "When does the museum close on Sundays?",
    "Is the vegetarian lasagne free of nuts?",
    "How long is the warranty on a refurbished laptop?",
    "Where do I park a caravan near the harbour?",
    "Which vaccine do travellers to Peru need?",
    "How can I cancel the insurance of a sold car?",
    "What does the yellow lamp on the printer mean?",
    "Who designed the stained glass in the chapel?",
    "How many credits does the statistics course give?",
    "May minors open a savings account by themselves?",
    "What temperature should bread dough rise at?",
    "Which train connects Ghent with Lille on holidays?",
    "How do I prune an old apple tree in winter?",
    "Does the theatre offer seats for wheelchairs?",
)
IN_OTHER_WORDS = {
    PLANTED[0]: "how can I reset a shared mailbox's password",
    PLANTED[3]: "Are dogs allowed in the reading room?",
    PLANTED[6]: "What time does the museum close on Sunday?",
    PLANTED[8]: "How long does the warranty of a refurbished laptop last?",
}
GOOD = {"claim": "The shop opens at nine.", "citations": ["d1"], "retrieved_ids": ["d1"]}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of this project with the suite that is asked."""
    return copy_project(tmp_path / "project", SUITE)


def week(planted: int = 20, others: int = 980) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Requests among which some failed, each in one of four ways and some of them again in other words."""
    events = [
        event(number, SUITE, {"question": f"What did ticket {number} cost in {number % 7} parts?"}, GOOD)
        for number in range(others)
    ]
    feedback = [thumbs(number, 5.0) for number in range(0, others, 9)]
    for index, question in enumerate(PLANTED[:planted]):
        number = 10_000 + index
        answer: Any = GOOD
        fields: dict[str, Any] = {}
        if index % 4 == 0:
            feedback.append(thumbs(number, 1.0, "This is no help"))
        elif index % 4 == 1:
            answer = None
            fields = {"error": "timeout"}
        elif index % 4 == 2:
            answer = {"answer": "without the contract's fields"}
        else:
            answer = "I cannot say"
        events.append(event(number, SUITE, {"question": question}, answer, **fields))
        if index % 3 == 0:  # once more, as people type it
            again = {"question": question.upper().replace("?", " ?")}
            events.append(event(number + 500, SUITE, again, answer, **fields))
        if question in IN_OTHER_WORDS:
            again = {"question": IN_OTHER_WORDS[question]}
            events.append(event(number + 700, SUITE, again, None, error="timeout"))
    return events, feedback


def test_planted_failures_are_suggested_and_none_twice(project: Project) -> None:
    events, feedback = week()
    keep(project, events, feedback)
    outcome = suggest(project, find_suite(project, SUITE), START, END, CLOSES)
    assert outcome.failures.looked_at == len(events)
    asked = [each.case["question"].lower().replace(" ?", "?") for _, each in outcome.cases if each.case]
    found = {question for question in PLANTED if question.lower() in asked}
    assert len(found) >= 16
    assert sorted(asked) == sorted(question.lower() for question in found)
    write(project, outcome)
    again = suggest(project, find_suite(project, SUITE), START, END, CLOSES)
    assert not again.cases
    assert again.waiting


def test_what_the_golden_set_asks_is_not_suggested(project: Project) -> None:
    line = (project.golden(SUITE) / "cases/gold.jsonl").read_text().splitlines()[0]
    golden = json.loads(line)
    keep(project, [event(1, SUITE, {"question": golden["question"].upper()}, None, error="timeout")])
    outcome = suggest(project, find_suite(project, SUITE), START, END, CLOSES)
    assert not outcome.cases
    assert list(outcome.golden) == [golden["qid"]]


def test_what_was_dropped_does_not_come_back(project: Project) -> None:
    keep(project, [event(1, SUITE, {"question": PLANTED[0]}, None, error="timeout")])
    suite = find_suite(project, SUITE)
    (path,) = write(project, suggest(project, suite, START, END, CLOSES))
    assert [found for found, _ in undecided(project, SUITE)] == [path]
    drop(project, [path], "ada", "an outage of ours")
    outcome = suggest(project, suite, START, END, CLOSES)
    assert not outcome.cases
    assert outcome.dropped == 1
    assert PLANTED[0] not in (path.parent / "dropped.jsonl").read_text()


def test_many_alike_leave_room_for_others(project: Project) -> None:
    alike = [f"How many visitors came to hall {number} of the exhibition yesterday?" for number in range(12)]
    events = [event(n, SUITE, {"question": text}, None, error="timeout") for n, text in enumerate(alike)]
    events.append(event(99, SUITE, {"question": PLANTED[18]}, None, error="timeout"))
    keep(project, events)
    outcome = suggest(project, find_suite(project, SUITE), START, END, CLOSES, most=2)
    asked = [each.case["question"] for _, each in outcome.cases if each.case]
    assert PLANTED[18] in asked
    assert len(asked) == 2


@pytest.mark.parametrize("given", [None, "", "   "])
def test_without_the_text_of_a_request_there_is_no_case(project: Project, given: str | None) -> None:
    keep(project, [event(1, SUITE, given, None, error="timeout")])
    outcome = suggest(project, find_suite(project, SUITE), START, END, CLOSES)
    assert not outcome.cases
    assert outcome.failures.without_text == 1
