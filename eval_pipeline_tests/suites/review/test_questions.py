"""What the steps show and ask: nothing too early, and every word explained."""

from pathlib import Path

from eval_pipeline.suites.review.ledger import STEPS
from eval_pipeline.suites.review.questions import DEFINITIONS, QUESTIONS, asked, definitions, present
from eval_pipeline_tests.suites.review.examples import finding, key_of
from eval_pipeline_tests.suites.review.test_protocol import TASK, UNEXPECTED, session


def test_every_word_that_can_be_chosen_is_defined() -> None:
    words = {word for step in STEPS for question in QUESTIONS[step] for word in question.choices}
    assert words == set(DEFINITIONS)
    assert definitions("predict")[0] == "YES: The workflow will have found it."
    assert definitions("bias") == []


def test_which_error_is_asked_only_where_there_is_one() -> None:
    assert [each.name for each in asked("second", TASK, {"ruling": "bonus_valid"})] == ["ruling", "reason"]
    _, which, _ = asked("second", TASK, {"ruling": "partial"})
    assert which.choices == ("E1", "E2", "E3", "E4", "E5", "E6")


def test_a_finding_is_shown_without_its_labels_and_without_the_ground_truth(tmp_path: Path) -> None:
    one = session(tmp_path)
    shown = present(one, "findings", TASK, key_of(UNEXPECTED))
    text = "\n".join(shown.lines)
    assert "Finding: finding 20" in text
    assert " 19  Line 19" in text
    assert not any(word in text for word in ("EDGE", "CAUSE", "A1", "error 1"))
    hidden = present(one, "findings", TASK, key_of(finding(20)), quotes_only=True)
    assert not any("finding 20" in line for line in hidden.lines)
    assert hidden.recorded == {"shown": "quote"}


def test_an_adjudicator_sees_the_ground_truth_and_why_a_finding_is_open(tmp_path: Path) -> None:
    lines = present(session(tmp_path), "adjudicate", TASK, key_of(UNEXPECTED)).lines
    assert "Open because: no expected error has its quote or location" in lines
    assert "  E1 IMPORTANT EDGE (line 1): error 1" in lines
