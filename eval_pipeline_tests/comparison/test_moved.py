"""The cases that moved are those that a plain look at each case finds, in the same order."""

import math
import statistics

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline import suite as kit
from eval_pipeline.comparison.moved import moved_cases
from eval_pipeline.comparison.records import CaseChange
from eval_pipeline.scoring import Scores, case_results

Side = list[list[float]]
"""The values of each case, trial by trial; NaN where one has none."""


def suite_of(direction: kit.Direction) -> kit.Suite:
    """A suite of one metric, the mean over cases."""
    return kit.Suite(
        "tickets",
        score=lambda items, context: kit.Batch({}),
        metrics=(kit.mean("quality", "Of answers.", direction=direction),),
    )


def scores_of(cases: Side, passable: list[bool]) -> Scores:
    """One row for each case and trial."""
    values = np.array(cases).T
    rows, trials = values.size, len(values)
    known = np.isfinite(values).ravel()
    ids = [f"case-{number:03}" for number in range(len(cases))] * trials
    table = pa.table(
        {
            "case_id": ids,
            "trial": np.repeat(np.arange(1, trials + 1), len(cases)),
            "error": pa.nulls(rows, pa.string()),
            "quality": np.where(known, values.ravel(), 0.0),
            "quality:defined": known.astype(float),
            "passable": np.tile(passable, trials).astype(float),
            "passed": np.zeros(rows),
        }
    )
    return Scores(table, pa.table({}), pa.table({}))


def plainly(suite: kit.Suite, old: Scores, new: Scores) -> tuple[list[CaseChange], list[CaseChange]]:
    """Each case by itself."""
    sign = 1.0 if suite.metrics[0].direction == "higher" else -1.0
    before = {each.case_id: each.headline for each in case_results(suite, old)}
    changes = []
    for each in case_results(suite, new):
        was, is_ = before[each.case_id], each.headline
        difference = None if was is None or is_ is None else is_ - was
        gain = sign * difference if difference is not None else -math.inf if was is not None else 0.0
        changes.append((gain, each.case_id, CaseChange(each.case_id, was, is_, difference)))
    worst, best = (sorted(changes, key=lambda each: (way * each[0], each[1])) for way in (1, -1))
    return (
        [change for gain, _, change in worst if gain < -1e-9],
        [change for gain, _, change in best if gain > 1e-9],
    )


VALUES = st.one_of(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1.0]), st.just(math.nan))


@given(data=st.data(), direction=st.sampled_from(["higher", "lower"]), cases=st.integers(1, 12))
def test_cases_that_moved(data: st.DataObject, direction: kit.Direction, cases: int) -> None:
    suite = suite_of(direction)
    passable = data.draw(st.lists(st.booleans(), min_size=cases, max_size=cases))
    old, new = (
        scores_of(
            [data.draw(st.lists(VALUES, min_size=trials, max_size=trials)) for _ in range(cases)], passable
        )
        for trials in (data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4)))
    )
    fell, rose = moved_cases(suite, old, new)
    assert (list(fell), list(rose)) == plainly(suite, old, new)


def test_a_mean_over_trials_is_rounded_once() -> None:
    trials = [0.1, 0.2, 0.3]
    ((change,), _) = moved_cases(
        suite_of("higher"), scores_of([[1.0] * 3], [True]), scores_of([trials], [True])
    )
    assert change.after == statistics.fmean(trials) != (trials[0] + trials[1] + trials[2]) / 3


@pytest.mark.parametrize(("before", "after", "fell"), [(0.5, math.nan, True), (math.nan, 0.5, False)])
def test_a_value_that_is_gone_fell_and_a_new_one_did_not_move(
    before: float, after: float, fell: bool
) -> None:
    moved = moved_cases(suite_of("higher"), scores_of([[before]], [True]), scores_of([[after]], [True]))
    assert [len(each) for each in moved] == [int(fell), 0]
