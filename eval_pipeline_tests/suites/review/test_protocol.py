"""The protocol: its order, what it asks, and the signs of bias."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from eval_pipeline.golden import LEDGER_FILE
from eval_pipeline.problems import BadInput
from eval_pipeline.suites.review.findings import Finding
from eval_pipeline.suites.review.ledger import STEPS, Ledger
from eval_pipeline.suites.review.protocol import BEFORE, Sealed, Session, TaskReview
from eval_pipeline.suites.review.references import load_decisions
from eval_pipeline_tests.suites.review.examples import error, finding, key_of, task

ERRORS = [error(number, category="PERF" if number == 2 else "EDGE") for number in range(1, 7)]
MATCHED, AMBIGUOUS, UNEXPECTED = finding(1), finding(2), finding(20)


def session(folder: Path, evaluation: str = "e", author: str = "Ada") -> Session:
    return Session(Ledger(folder / LEDGER_FILE, folder / "head.json"), evaluation, "v1", author)


def reviewed(*findings: dict[str, object]) -> TaskReview:
    return TaskReview(task(*ERRORS), (msgspec.convert(list(findings), list[Finding]),))


TASK = reviewed(MATCHED, AMBIGUOUS, UNEXPECTED)


def assess(one: Session, categories: dict[str, str]) -> None:
    for key in one.open_subjects("findings", TASK):
        said = {"category": categories.get(key, "EDGE"), "error": "x", "evidence": "y", "confidence": "LOW"}
        one.answer("findings", TASK, key, said)
    one.seal("findings", TASK)


def predict(one: Session, **predictions: str) -> None:
    for error_id in one.open_subjects("predict", TASK):
        said = {"prediction": predictions.get(error_id, "MAYBE"), "why": "because"}
        one.answer("predict", TASK, error_id, said)
    one.seal("predict", TASK)


def rule(one: Session, key: str, ruling: str, error_id: str = "") -> None:
    one.answer("adjudicate", TASK, key, {"ruling": ruling, "error": error_id, "reason": "it is"})


def test_a_step_refuses_to_start_before_the_one_before_it_is_sealed(tmp_path: Path) -> None:
    one = session(tmp_path)
    one.require("findings", "task")
    for step in STEPS[1:]:
        assert step in BEFORE
        with pytest.raises(BadInput, match="is not sealed yet"):
            one.require(step, "task")
    assess(one, {})
    one.require("predict", "task")
    with pytest.raises(BadInput):
        one.require("adjudicate", "task")


def test_a_sealed_answer_cannot_be_changed_and_the_attempt_is_kept(tmp_path: Path) -> None:
    one = session(tmp_path)
    assess(one, {})
    before = [row.hash for row in one.ledger.answers("findings", "e", "task").values()]
    with pytest.raises(Sealed, match="cannot be changed"):
        one.answer("findings", TASK, key_of(MATCHED), {"category": "NONE"})
    assert [row.hash for row in one.ledger.answers("findings", "e", "task").values()] == before
    assert one.ledger.rows[-1].act == "refused"
    assert session(tmp_path).bias(TASK)[0].kind == "changed assessment"


def test_only_what_quote_and_location_leave_open_is_asked(tmp_path: Path) -> None:
    one = session(tmp_path)
    assert set(one.undecided(TASK)) == {key_of(AMBIGUOUS), key_of(UNEXPECTED)}
    assess(one, {})
    predict(one)
    rule(one, key_of(AMBIGUOUS), "full", "E2")
    rule(one, key_of(UNEXPECTED), "bonus_valid")
    one.seal("adjudicate", TASK)
    reasons = {row.answers["error"]: row.answers["reason"] for row in one.ledger.rows if row.act == "match"}
    assert reasons == {"E1": "quote and location and category agree"}
    decisions = load_decisions(tmp_path)
    assert decisions["task", key_of(AMBIGUOUS)].error == "E2"
    later = session(tmp_path, "later")
    assert later.undecided(TASK) == {}
    assert later.open_subjects("findings", TASK) == []
    assert later.seen_before(TASK)
    assert not session(tmp_path, "later", "Bob").seen_before(TASK)


@pytest.mark.parametrize(
    ("blind", "predicted", "ruling", "error_id", "kind"),
    [
        ("EDGE", "MAYBE", "partial", "E2", None),
        ("NONE", "MAYBE", "partial", "E2", "changed assessment"),
        ("EDGE", "MAYBE", "false_positive", "", "changed assessment"),
        ("EDGE", "MAYBE", "full", "E2", "changed assessment"),
        ("PERF", "NO", "full", "E2", "generous matching"),
        ("PERF", "YES", "full", "E2", None),
        ("PERF", "YES", "bonus_valid", "", "strict matching"),
    ],
)
def test_the_signs_of_bias(
    tmp_path: Path, blind: str, predicted: str, ruling: str, error_id: str, kind: str | None
) -> None:
    one = session(tmp_path)
    assess(one, {key_of(AMBIGUOUS): blind})
    predict(one, E2=predicted)
    rule(one, key_of(AMBIGUOUS), ruling, error_id)
    rule(one, key_of(UNEXPECTED), "bonus_valid")
    one.seal("adjudicate", TASK)
    assert [flag.kind for flag in one.bias(TASK)] == ([kind] if kind else [])


@pytest.mark.parametrize(("blind", "flags"), [("EDGE", 0), ("NONE", 1), ("PERF", 1)])
def test_an_automatic_match_against_the_blind_assessment_is_a_sign_of_bias(
    tmp_path: Path, blind: str, flags: int
) -> None:
    one = session(tmp_path)
    assess(one, {key_of(MATCHED): blind})
    predict(one)
    rule(one, key_of(AMBIGUOUS), "partial", "E2")
    rule(one, key_of(UNEXPECTED), "bonus_valid")
    one.seal("adjudicate", TASK)
    found = one.bias(TASK)
    assert [flag.kind for flag in found] == ["blind against automatic match"] * flags
    assert all(f"{blind} when blind, matched E1 (EDGE)" in flag.told for flag in found)


def test_a_second_adjudicator_is_another_person_and_disagreements_are_open_until_settled(
    tmp_path: Path,
) -> None:
    one, two = session(tmp_path), session(tmp_path, author="Bob")
    assess(one, {})
    predict(one)
    with pytest.raises(BadInput, match="'adjudicate' is not sealed yet"):
        two.require("second", "task")
    rule(one, key_of(AMBIGUOUS), "full", "E2")
    rule(one, key_of(UNEXPECTED), "bonus_valid")
    one.seal("adjudicate", TASK)
    with pytest.raises(BadInput, match="Ada was the first adjudicator"):
        one.require("second", "task")
    two = session(tmp_path, author="Bob")
    two.require("second", "task")
    assert two.open_subjects("second", TASK) == sorted([key_of(AMBIGUOUS), key_of(UNEXPECTED)])
    for key, ruling, error_id in (
        (key_of(AMBIGUOUS), "full", "E2"),
        (key_of(UNEXPECTED), "false_positive", ""),
    ):
        two.answer("second", TASK, key, {"ruling": ruling, "error": error_id, "reason": "so I say"})
    assert set(load_decisions(tmp_path)) == {("task", key_of(AMBIGUOUS)), ("task", key_of(UNEXPECTED))}
    two.seal("second", TASK)
    assert list(two.disputes(TASK)) == [key_of(UNEXPECTED)]
    assert set(load_decisions(tmp_path)) == {("task", key_of(AMBIGUOUS))}
    three = session(tmp_path, author="Cyd")
    assert three.open_subjects("settle", TASK) == [key_of(UNEXPECTED)]
    three.answer(
        "settle", TASK, key_of(UNEXPECTED), {"ruling": "false_positive", "error": "", "reason": "both spoke"}
    )
    three.seal("settle", TASK)
    assert load_decisions(tmp_path)["task", key_of(UNEXPECTED)].ruling == "false_positive"


def test_predictions_that_are_systematically_wrong_are_flagged(tmp_path: Path) -> None:
    one = session(tmp_path)
    assess(one, {})
    predict(one, E1="NO", E3="YES", E4="YES", E5="NO", E6="NO")
    one.seal("adjudicate", TASK)
    (flag,) = one.bias(TASK)
    assert flag.kind == "systematically wrong predictions"
    assert flag.told == "3 of 5 were wrong: E1, E3, E4"
