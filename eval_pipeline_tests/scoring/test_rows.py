"""Scores, evaluations and history as rows: two cases and two trials, worked by hand."""

from __future__ import annotations

import datetime

import pyarrow as pa
from msgspec.structs import replace

from eval_pipeline.answers import Outage, OutputsIdentity
from eval_pipeline.gates import GateResult
from eval_pipeline.scoring import (
    ALL,
    Evaluation,
    HeldOut,
    Identity,
    Interval,
    MetricValue,
    Part,
    Scores,
    Summary,
    case_rows,
    diagnosis_rows,
    history_rows,
    metric_rows,
    of_version,
    with_units,
)
from eval_pipeline.store import point_of
from eval_pipeline.suite import CASE_PASS_RATE, ERROR_RATE, CaseScore, Metric, Suite, per_case, ratio_of

ANSWERS = OutputsIdentity("toy", "guess-v1.0", "p", "i", "embedded", "small", "default", 2)
SCORES = Scores(
    pa.table(
        {
            "case_id": ["a", "b"],
            "trial": [1, 1],
            "error": pa.array([None, "timeout"]),
            "detail": pa.array([None, "after 60 s"]),
            "attribute:kind": pa.array(["new", None]),
            "right": pa.array([1, 0], pa.uint8()),
            "asked": pa.array([4, 0], pa.uint8()),
            "answers": pa.array([1, 1], pa.uint8()),
            "errors": pa.array([0, 1], pa.uint8()),
            "passed": pa.array([1, 0], pa.uint8()),
            "passable": pa.array([1, 1], pa.uint8()),
        }
    ),
    pa.table({}),
    pa.table({"case_id": ["a"], "trial": [1], "kind": ["missed"], "expected": ["=x"], "got": [""]}),
)
SUITE = Suite(
    name="toy",
    description="A toy.",
    metrics=(
        Metric("rate", "Right ÷ asked.", ratio_of("right", "asked")),
        Metric("trial", "It has the name of a column.", ratio_of("asked", "answers"), "lower", "number"),
    ),
    score=per_case(lambda item, context: CaseScore({})),
    errored=lambda case, answer: CaseScore({}),
)


def evaluation(**changes: object) -> Evaluation:
    identity = Identity(ANSWERS, "g", "s")
    summary = Summary(
        suite="toy",
        cases=2,
        trials=2,
        errors={"timeout": 1},
        metrics={
            "rate": MetricValue(0.5, (0.25, 0.75), True, 4, 1, 0),
            "gone": MetricValue(None, (None, None), False),
            "error_rate": MetricValue(0.0, (0.0, 0.0), True, 4, 0, 0, (0.0, 0.125)),
        },
        groups={"kind": {"new": {"rate": 1.0, "gone": None}, "": {"rate": 0.0, "gone": None}}},
        tables={},
        gates=(GateResult("rate", 0.5, "between", "warn", "critical", "…", interval=(0.25, 0.625)),),
        **changes,  # type: ignore[arg-type]
    )
    return Evaluation(identity.id, identity, "2026-03-01T02:00:00+00:00", summary, ())


def test_a_row_of_scores_has_its_own_metrics_and_counts() -> None:
    table = case_rows(SCORES, SUITE)
    first, second = table.to_pylist()
    assert [first[name] for name in ("case_id", "trial", "error", "attribute:kind")] == ["a", 1, None, "new"]
    assert [first[name] for name in ("rate", "metric:trial", "error_rate")] == [0.25, 4.0, 0.0]
    assert first["case_pass_rate"] == 1.0
    assert (first["count:right"], first["count:asked"], first["count:answers"]) == (1.0, 4.0, 1.0)
    assert (second["error"], second["detail"], second["attribute:kind"]) == ("timeout", "after 60 s", None)
    assert (second["rate"], second["error_rate"], second["case_pass_rate"]) == (None, 1.0, 0.0)
    assert len(set(table.column_names)) == len(table.column_names)
    nullable = {field.name for field in table.schema if field.nullable}
    assert nullable == {
        *("error", "detail", "attribute:kind", "rate", "metric:trial"),
        *(ERROR_RATE.name, CASE_PASS_RATE.name),
    }
    assert {str(field.type) for field in table.schema if field.name.startswith("count:")} == {"double"}


def test_without_its_suite_a_row_has_counts_alone() -> None:
    names = case_rows(SCORES).column_names
    assert "rate" not in names
    assert {name for name in case_rows(SCORES, SUITE).column_names if ":" in name} - {"metric:trial"} == {
        name for name in names if ":" in name
    }


def test_rows_say_which_version_they_are_of() -> None:
    (row,) = of_version(ANSWERS, diagnosis_rows(SCORES)).to_pylist()
    assert row == {
        "suite": "toy",
        "version": "guess-v1.0",
        "case_id": "a",
        "trial": 1,
        "kind": "missed",
        "expected": "=x",
        "got": "",
    }


def test_metrics_come_over_everything_then_by_trial_then_by_group() -> None:
    rows = metric_rows(evaluation()).to_pylist()
    keys = [(row["metric"], row["trial"], row["axis"], row["group"], row["value"]) for row in rows]
    assert keys == [
        ("rate", None, None, None, 0.5),
        ("gone", None, None, None, None),
        ("error_rate", None, None, None, 0.0),
        ("rate", 1, None, None, 0.25),
        ("rate", 2, None, None, 0.75),
        ("gone", 1, None, None, None),
        ("gone", 2, None, None, None),
        ("error_rate", 1, None, None, 0.0),
        ("error_rate", 2, None, None, 0.0),
        ("rate", None, "kind", "new", 1.0),
        ("gone", None, "kind", "new", None),
        ("rate", None, "kind", "", 0.0),
        ("gone", None, "kind", "", None),
    ]
    rate, _, errors = rows[:3]
    assert (rate["zone"], rate["status"], rate["severity"]) == ("between", "warn", "critical")
    assert (rate["judged_low"], rate["judged_high"], rate["low"], rate["high"]) == (0.25, 0.625, None, None)
    assert (rate["answers"], rate["errored"], rate["missing"]) == (4, 1, 0)
    assert rate["sd"] == 0.125**0.5
    assert (errors["zone"], errors["status"], errors["low"], errors["high"]) == (None, None, 0.0, 0.125)
    assert {row["incomplete"] for row in rows} == {False}
    assert {row["held_out"] for row in rows} == {None}


def test_an_interval_of_cases_that_were_held_out_comes_first() -> None:
    intervals = {"error_rate": Interval(1, 0.0, 0.5), "rate": Interval(1, None, None)}
    held_out = HeldOut("split", "test", 1, intervals, {ALL: Part(2, {})})
    rate, _, errors, *_ = metric_rows(evaluation(held_out=held_out)).to_pylist()
    assert (errors["low"], errors["high"], errors["held_out"]) == (0.0, 0.5, "split test")
    assert (rate["low"], rate["high"]) == (None, None)


def test_history_has_a_row_for_each_evaluation_and_metric() -> None:
    first, second = (point_of(run, evaluation()) for run in ("run-1", "run-2"))
    rows = with_units(SUITE, history_rows([first, second])).to_pylist()
    assert [(row["run"], row["metric"], row["value"]) for row in rows] == [
        ("run-1", "rate", 0.5),
        ("run-1", "gone", None),
        ("run-1", "error_rate", 0.0),
        ("run-2", "rate", 0.5),
        ("run-2", "gone", None),
        ("run-2", "error_rate", 0.0),
    ]
    row = rows[0]
    assert row["evaluated_at"] == datetime.datetime(2026, 3, 1, 2, tzinfo=datetime.UTC)
    assert (row["engine"], row["model"], row["version"], row["sample"]) == (
        "embedded",
        "small",
        "guess-v1.0",
        "default",
    )
    assert row["standard_error"] == 0.125**0.5 / 2**0.5
    assert (row["unit"], row["direction"], row["held_out"]) == ("fraction", "higher", None)
    assert (rows[1]["unit"], rows[1]["direction"]) == (None, None), "the suite has it no more"
    assert len(history_rows([])) == 0


def test_an_incomplete_evaluation_says_so() -> None:
    outage = Outage(4, {"timeout": 1}, {"timeout": "b: after 60 s"})
    rows = metric_rows(replace(evaluation(), outage=outage)).to_pylist()
    assert {row["incomplete"] for row in rows} == {True}
