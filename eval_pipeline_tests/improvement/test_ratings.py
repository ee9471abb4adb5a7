"""Sheets go out blind, come back, and are sealed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.improvement import (
    Sheet,
    answers_to_rate,
    make_queue,
    plain_lines,
    rated_accuracy,
    ratings_of,
    suggest,
    take,
)
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import EventStore, Production, measure_day
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import CLOSES, END, NOON, START, event, keep, thumbs

EVERYTHING = Production.model_validate({"sampling": {"rate": 1.0}})


@pytest.fixture
def served(tmp_path: Path) -> Project:
    """Twelve answers, of two versions; one is an error, and three have feedback."""
    project = declare(tmp_path, CLASSIFIER)
    events = [
        event(
            n, NAME, {"text": f"Ticket number {n}"}, "bug", version=f"sort-v1.{n % 2}", model="secret-model"
        )
        for n in range(12)
    ]
    events[11] |= {"output": None, "error": "timeout"}
    keep(project, events, [thumbs(0, 1.0), thumbs(1, 5.0), thumbs(2, 1.0)])
    return project


def queue(project: Project, raters: int = 1, most: int = 50) -> list[Sheet]:
    with EventStore.of(project) as store:
        rows = list(answers_to_rate(project, store, NAME, EVERYTHING, [NOON.date()]))
    return make_queue(project, NAME, rows, raters, most)


def filled(sheet: Sheet, path: Path, rater: str, rule: Any) -> Path:
    """A plain sheet as a rater hands it back."""
    head, *rows = map(json.loads, plain_lines(sheet).splitlines())
    lines = [head | {"rater": rater}]
    lines += [row | {"ruling": rule(sheet.queue.requests[row["item"]])} for row in rows]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_sheet_has_every_sampled_answer_and_nothing_of_who_answered(served: Project) -> None:
    (sheet,) = queue(served)
    assert sorted(sheet.queue.requests.values()) == sorted(
        f"r{n}" for n in range(11)
    )  # the error has no answer
    text = plain_lines(sheet).decode()
    assert "Ticket number 3" in text
    for secret in ("sort-v1", "secret-model", "r10", "points"):
        assert secret not in text


def test_raters_get_the_same_answers_in_orders_of_their_own(served: Project) -> None:
    first, second = queue(served, raters=2)
    assert {each.item for each in first.items} == {each.item for each in second.items}
    assert [each.item for each in first.items] != [each.item for each in second.items]


def test_rulings_are_sealed_and_joined_with_feedback(served: Project, tmp_path: Path) -> None:
    first, second = queue(served, raters=2)
    bad = {"r0", "r1", "r4"}
    take(
        served,
        filled(
            first, tmp_path / "a.jsonl", "Ada", lambda id_: "unacceptable" if id_ in bad else "acceptable"
        ),
    )
    take(
        served,
        filled(
            second,
            tmp_path / "b.jsonl",
            "Bo",
            lambda id_: "unacceptable" if id_ in {"r0", "r1"} else "acceptable",
        ),
    )
    ratings = ratings_of(served, NAME)
    assert ratings.rulings["r0"] == "unacceptable"
    assert ratings.rulings["r4"] == "disagreement"
    assert len(ratings.pairs) == 11
    # Both say no to 2, both yes to 8, they differ on 1: po = 10/11, pe = (3·2 + 8·9)/121.
    assert ratings.kappa == pytest.approx((10 / 11 - 78 / 121) / (1 - 78 / 121))
    suite = find_suite(served, NAME)
    with EventStore.of(served) as store:
        measure_day(served, store, suite, NOON.date(), EVERYTHING)
    result = rated_accuracy(served, suite, EVERYTHING, 4, END)
    assert (result.rated, result.acceptable, result.unacceptable, result.disagreements) == (11, 8, 2, 1)
    assert result.accuracy == pytest.approx(8 / 11)
    assert result.feedback == pytest.approx(7 / 3)
    # Users: r0 bad, r1 good, r2 bad; raters: r0 and r1 bad, r2 good.
    assert result.with_users_pairs == 3
    outcome = suggest(served, suite, START, END, CLOSES, rulings=ratings.rulings)
    why = {each.requests[0]: each.why for _, each in outcome.cases}
    assert any("unacceptable" in reason for reason in why["r1"])
    assert any("was content" in reason for reason in why["r1"])
    assert any("disagree" in reason for reason in why["r4"])


def test_nobody_changes_what_is_sealed(served: Project, tmp_path: Path) -> None:
    (sheet,) = queue(served)
    path = filled(sheet, tmp_path / "a.jsonl", "Ada", lambda _: "acceptable")
    take(served, path)
    with pytest.raises(BadInput, match="sealed"):
        take(served, path)
    ledger = served.root / "production/ratings" / NAME / "ledger.jsonl"
    ledger.write_text(ledger.read_text().replace('"acceptable"', '"unacceptable"', 1))
    with pytest.raises(BadInput, match="was changed"):
        ratings_of(served, NAME)


def test_nobody_is_two_raters_by_typing_accents_in_another_way(served: Project, tmp_path: Path) -> None:
    first, second = queue(served, raters=2)
    take(served, filled(first, tmp_path / "a.jsonl", "Zo\u00eb K.", lambda _: "acceptable"))
    with pytest.raises(BadInput, match="has rated this queue, and that is sealed"):
        take(served, filled(second, tmp_path / "b.jsonl", " Zoe\u0308  K.", lambda _: "acceptable"))
    assert not ratings_of(served, NAME).pairs


def test_what_was_sealed_by_a_name_in_another_spelling_stays_sealed(
    served: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (sheet,) = queue(served)
    path = filled(sheet, tmp_path / "a.jsonl", "Zoe\u0308 K.", lambda _: "acceptable")
    with monkeypatch.context() as before:
        before.setattr("eval_pipeline.improvement.ratings.one_spelling", str)
        take(served, path)
    with pytest.raises(BadInput, match="has rated this queue, and that is sealed"):
        take(served, path)


def test_all_that_is_wrong_with_a_sheet_is_said_and_nothing_is_kept(served: Project, tmp_path: Path) -> None:
    (sheet,) = queue(served)
    items = [each.item for each in sheet.items]
    lines = [
        {"queue": sheet.queue.queue, "rater": "Ada"},
        {"item": items[0], "ruling": "fine"},
        {"item": "nowhere", "ruling": "acceptable"},
        {"item": items[1], "ruling": "acceptable"},
        {"item": items[1], "ruling": "unacceptable"},
        {"item": items[2], "ruling": "acceptable", "note": "x" * 3000},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(BadInput) as refused:
        take(served, path)
    assert sorted(problem.line for problem in refused.value.problems) == [2, 3, 5, 6]
    assert not ratings_of(served, NAME).said


@pytest.mark.parametrize("text", ["", "{}\n", '{"queue": "other", "rater": "Ada"}\n', "not JSON\n"])
def test_what_is_no_sheet_is_refused(served: Project, tmp_path: Path, text: str) -> None:
    queue(served)
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with pytest.raises(BadInput):
        take(served, path)
    with pytest.raises(BadInput):
        take(served, tmp_path / "absent.jsonl")


def test_what_was_rated_is_not_rated_again(served: Project, tmp_path: Path) -> None:
    (sheet,) = queue(served, most=4)
    take(served, filled(sheet, tmp_path / "a.jsonl", "Ada", lambda _: "acceptable"))
    with EventStore.of(served) as store:
        left = list(
            answers_to_rate(served, store, NAME, EVERYTHING, [NOON.date()], ratings_of(served, NAME).said)
        )
    assert len(left) == 7


def test_without_answers_there_is_no_queue(tmp_path: Path) -> None:
    project = declare(tmp_path, CLASSIFIER)
    with pytest.raises(BadInput, match="no sampled answer"):
        make_queue(project, NAME, [], 1, 10)
