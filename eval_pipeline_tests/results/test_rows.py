"""Rows: what counts as a score, a trial and a name; which part and metric are meant."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.problems import Problems
from eval_pipeline.results import Results, Row, check_rows, choose_metric, choose_part
from eval_pipeline.results.rows import Unusable, as_id, as_score, as_text, as_trial


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (1, 1.0),
        (0.25, 0.25),
        (True, 1.0),
        (False, 0.0),
        ("C", 1.0),
        ("I", 0.0),
        ("true", 1.0),
        (" 0.5 ", 0.5),
        ("-1e-3", -0.001),
        (None, None),
        ("", None),
        ("NaN", None),
        (math.nan, None),
        (math.inf, None),
        ("c", Unusable.TEXT),
        ("n/a", Unusable.TEXT),
        ("1_000", Unusable.TEXT),
        ("٣", Unusable.TEXT),
        ("1e400", None),
        (10**400, Unusable.LARGE),
        (1e16, Unusable.LARGE),
        ([1], Unusable.OTHER),
        ({}, Unusable.OTHER),
    ],
)
def test_scores(value: Any, score: Any) -> None:
    assert as_score(value) == score


@pytest.mark.parametrize(
    ("value", "trial"),
    [(None, 1), ("", 1), (0, 0), (3, 3), ("2", 2), (1.5, None), ("x", None), (True, None), (-1, None)],
)
def test_trials(value: Any, trial: int | None) -> None:
    assert as_trial(value) == trial


def test_huge_trials_are_none() -> None:
    assert as_trial(2**32) is None
    assert as_trial("9" * 5000) is None


@given(st.text(), st.text())
def test_names_are_short_lines_and_stay_apart(one: str, other: str) -> None:
    first, second = as_id(one), as_id(other)
    assert "\n" not in first
    assert len(first) <= 100
    assert (first == second) == (one == other)


def test_long_texts_are_cut() -> None:
    assert as_text("x" * 1000) == "x" * 500
    assert as_text({"b": [1]}) == '{"b":[1]}'
    assert as_text(None) == ""


def side(name: str, *scores: dict[str, Any], part: str = "") -> Results:
    rows = [Row(f"case-{number}", 1, each, place=number + 1) for number, each in enumerate(scores)]
    return Results(Path(name), "JSON Lines", rows, part=part)


@pytest.mark.parametrize(
    ("before", "after", "asked", "chosen"),
    [
        ({"score": 1.0, "f1": 1.0}, {"f1": 1.0, "score": 1.0}, None, "score"),
        ({"f1": 1.0}, {"f1": 1.0, "bleu": 1.0}, None, "f1"),
        ({"f1": 1.0, "latency_ms": 3.0}, {"f1": 1.0, "latency_ms": 3.0}, None, "f1"),
        ({"f1": 1.0, "topic": Unusable.TEXT}, {"f1": 1.0, "topic": Unusable.TEXT}, None, "f1"),
        ({"f1": 1.0, "latency_ms": 3.0}, {"f1": 1.0, "latency_ms": 3.0}, "latency_ms", "latency_ms"),
    ],
)
def test_the_metric_that_is_meant(before: Any, after: Any, asked: str | None, chosen: str) -> None:
    problems = Problems()
    assert choose_metric([side("a", before), side("b", after)], asked, problems) == chosen
    assert not problems


@pytest.mark.parametrize(
    ("before", "after", "asked", "message"),
    [
        (
            {"f1": 1.0, "bleu": 1.0},
            {"bleu": 1.0, "f1": 1.0},
            None,
            "input: --metric: the files hold several scores. Choose one: 'f1', 'bleu'.",
        ),
        (
            {"f1": 1.0},
            {"bleu": None},
            None,
            "input: --metric: the files share no score. Name a column of numbers that both have. "
            "There are: a: 'f1'; b: 'bleu'.",
        ),
        (
            {"recall": 1.0},
            {"recal": 1.0},
            "recall",
            "b: --metric: has no 'recall'. Did you mean recal? There are: 'recal'.",
        ),
    ],
)
def test_a_metric_that_nobody_can_guess(before: Any, after: Any, asked: str | None, message: str) -> None:
    problems = Problems()
    choose_metric([side("a", before), side("b", after)], asked, problems)
    assert [str(each) for each in problems] == [message]


def test_the_part_that_is_meant() -> None:
    parts = [side("a", {}, part=name) for name in ("gpt · short", "gpt · long", "llama · long")]

    def chosen(asked: str | None) -> Results | str | None:
        problems = Problems()
        part = choose_part(parts, asked, "--before", problems)
        return part or str(next(iter(problems)))

    assert chosen("gpt · long") is parts[1]
    assert chosen("llama") is parts[2]
    names = "'gpt · short', 'gpt · long', 'llama · long'"
    assert chosen(None) == f"input: --before: a holds 3 evaluations. Choose one: {names}."
    assert chosen("gpt") == f"input: --before: 'gpt' names 2 of the evaluations in a. There are: {names}."
    assert (
        chosen("bert") == f"input: --before: 'bert' names none of the evaluations in a. There are: {names}."
    )
    assert choose_part(parts[:1], None, "--before", Problems()) is parts[0]


def test_rows_that_repeat_or_hold_no_number_are_named() -> None:
    problems = Problems()
    fine = side("a", {"f1": 1.0}, {"f1": Unusable.TEXT}, {"f1": None})
    rows = [*fine.rows, Row("case-0", 1, {"f1": 0.0}, place=9), Row("case-0", 2, {"f1": 0.0})]
    check_rows(Results(fine.path, fine.kind, rows), "f1", problems)
    assert [str(each) for each in problems] == [
        "a:2: f1: case-1: is a text, not a number. Write a number, true or false; leave out what is missing.",
        "a:9: case case-0 is there twice in trial 1. "
        "Number repetitions by a field trial (or epoch), or remove one.",
    ]
