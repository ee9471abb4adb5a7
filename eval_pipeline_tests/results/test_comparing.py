"""Two files as the sides of a comparison: the numbers of the usual way, and of other libraries."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from eval_pipeline.answers import Answer, OutputsIdentity
from eval_pipeline.comparison import Comparison, MetricChange, Side, compare
from eval_pipeline.gates import ERROR_GATE, Gate, Regression
from eval_pipeline.problems import BadInput
from eval_pipeline.results import Results, Row, compare_results
from eval_pipeline.suite import Case, Context, Direction, Suite, TextInput
from eval_pipeline_tests.sources import golden

Trials = Sequence[float | None]
"""The scores of a case in each trial; None for an error."""


def side(name: str, scores: Mapping[str, Trials | float | None], **more: Any) -> Results:
    rows = []
    for case_id, given_ in scores.items():
        trials = given_ if isinstance(given_, Sequence) else [given_]
        for trial, score in enumerate(trials, 1):
            error = "down" if score is None else ""
            rows.append(Row(case_id, trial, {} if score is None else {"score": float(score)}, error))
    return Results(Path(name), "JSON Lines", rows, **more)


def compared(
    before: Results, after: Results, metric: str = "score", direction: Direction = "higher"
) -> Comparison:
    return compare_results(before, after, metric, direction).comparison


def change(comparison: Comparison, metric: str = "score") -> MetricChange:
    return next(each for each in comparison.metrics if each.metric == metric)


def cases(values: Sequence[float | None], prefix: str = "case") -> dict[str, float | None]:
    return {f"{prefix}-{number:03}": value for number, value in enumerate(values)}


def test_a_table_worked_by_hand() -> None:
    """Four of ten cases fall from 1 to 0, one rises: 0.8 → 0.5, and McNemar's p is 2 · P(X ≤ 1 of 5)."""
    before = cases([1, 1, 1, 1, 1, 1, 1, 1, 0, 0])
    after = cases([1, 1, 1, 1, 0, 0, 0, 0, 1, 0])
    result = compared(side("a", before), side("b", after))
    score = change(result)
    assert (score.before, score.after) == (0.8, 0.5)
    assert score.difference == pytest.approx(-0.3)
    assert score.evidence is not None
    assert score.evidence.p_value == pytest.approx(2 * (1 + 5) / 2**5)
    assert (result.shared, result.trials, result.headline, result.unit) == (10, 1, "score", "fraction")
    assert (result.before, result.after) == ("a", "b")
    assert [each.case_id for each in result.regressed] == ["case-004", "case-005", "case-006", "case-007"]
    assert [each.case_id for each in result.improved] == ["case-008"]
    assert (score.zone_before, score.zone_after, score.gated) == (None, None, True)


class ByTrial:
    """Answers by case, one for each trial; right, wrong or an error."""

    def __init__(self, scores: Mapping[str, Trials]) -> None:
        self._scores = scores
        self.trials = tuple(range(1, 1 + max(map(len, scores.values()))))

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        score = self._scores[case_id][trial - 1]
        if score is None:
            return Answer(case_id, trial, error="down")
        return Answer(case_id, trial, "right" if score else "wrong")


def by_the_usual_way(before: Mapping[str, Trials], after: Mapping[str, Trials]) -> Comparison:
    """The same right and wrong answers, as a suite of texts scores and compares them."""
    suite = Suite("texts")
    known = [golden(Case(name, TextInput(name), "right")) for name in after]
    hashes = {each.case.id: each.input_hash for each in known}
    drops = Regression(investigate=0.01, block=0.05)
    gates = {
        "exact_match": Gate(fail="< -1", passes=">= -1", regression=drops),
        "error_rate": ERROR_GATE,
    }
    sides = []
    for name, scores in (("a", before), ("b", after)):
        answers = ByTrial(scores)
        identity = OutputsIdentity("texts", name, "", "", "", "", "", len(answers.trials))
        sides.append(Side(name, identity, answers, {case: hashes.get(case, "") for case in scores}, ""))
    (result,) = compare(suite, hashes, lambda only=None: known, sides[:1], sides[1], gates, Context())
    return result


TRIALS = st.lists(st.sampled_from([0.0, 1.0, 1.0, None]), min_size=2, max_size=2)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(TRIALS, TRIALS), min_size=1, max_size=25))
def test_the_numbers_are_those_of_the_usual_way(pairs: list[tuple[Trials, Trials]]) -> None:
    before, after = ({f"c{n:02}": each[at] for n, each in enumerate(pairs)} for at in (0, 1))
    if all(score is None for pair in pairs for trials in pair for score in trials):
        return
    usual, ours = by_the_usual_way(before, after), compared(side("a", before), side("b", after))
    assert (ours.verdict, ours.action, ours.trials) == (usual.verdict, usual.action, usual.trials)
    assert (ours.improved, ours.regressed) == (usual.improved, usual.regressed)
    assert ours.sentence == usual.sentence.replace("exact_match", "score")
    for theirs, mine in zip(usual.metrics, ours.metrics, strict=True):
        no_zone = {} if theirs.metric == "error_rate" else {"zone_before": None, "zone_after": None}
        renamed = {
            name: getattr(theirs, name).replace("exact_match", "score")
            for name in ("metric", "reason", "movement")
        }
        assert mine == msgspec.structs.replace(theirs, **renamed, **no_zone)


def test_the_interval_is_that_of_scipy() -> None:
    generator = np.random.default_rng(7)
    old = generator.uniform(0.2, 0.8, 60)
    new = np.clip(old + generator.normal(-0.08, 0.05, 60), 0, 1)
    score = change(compared(side("a", cases(old.tolist())), side("b", cases(new.tolist()))))
    oracle = stats.ttest_rel(new, old).confidence_interval(0.95)
    assert score.difference == pytest.approx(float(np.mean(new - old)))
    assert score.evidence is not None
    assert (score.evidence.low, score.evidence.high) == pytest.approx((oracle.low, oracle.high))
    assert (score.verdict, score.action) == ("regressed", "block")


SCORES = st.lists(
    st.tuples(st.floats(0, 1, width=16), st.one_of(st.none(), st.floats(0, 1, width=16))),
    min_size=2,
    max_size=20,
)


@settings(max_examples=30, deadline=None)
@given(SCORES, st.randoms(use_true_random=False))
def test_order_repetition_and_sides(pairs: list[tuple[float, float | None]], chance: random.Random) -> None:
    before, after = (side(name, cases([each[at] for each in pairs])) for at, name in enumerate("ab"))
    first = compared(before, after)

    def shuffled(results: Results) -> Results:
        return replace(results, rows=chance.sample(results.rows, len(results.rows)))

    assert compared(shuffled(before), shuffled(after)) == first

    def twice(results: Results) -> Results:
        return replace(results, rows=[*results.rows, *map(_again, results.rows)])

    again = compared(twice(before), twice(after))
    assert change(again).difference == pytest.approx(change(first).difference)
    assert again.regressed == first.regressed
    turned = change(compared(after, before))
    assert turned.difference == pytest.approx(-(change(first).difference or 0.0))


def _again(row: Row) -> Row:
    return Row(row.case_id, row.trial + 1, row.scores, row.error)


def test_errors_count_as_the_worst_value() -> None:
    before = side("a", cases([0.9] * 40))
    crashed = side("b", cases([0.9] * 30 + [None] * 10))
    result = compared(before, crashed)
    assert change(result).after == pytest.approx(0.9 * 0.75)
    assert change(result, "error_rate").after == 0.25
    assert (change(result).action, change(result, "error_rate").action) == ("block", "block")
    lower = compared(before, crashed, direction="lower")
    assert change(lower).after == pytest.approx(0.9 * 0.75 + 0.25)


def test_a_null_and_a_trial_that_is_missing_are_errors() -> None:
    before, after = side("a", cases([1.0] * 20)), side("b", cases([1.0] * 20))
    after.rows[3].scores["score"] = None
    assert change(compared(before, after), "error_rate").after == 0.05
    more = replace(after, rows=[*before.rows, Row("case-000", 2, {"score": 1.0})])
    assert change(compared(before, more), "error_rate").after == pytest.approx(19 / 40)


def test_numbers_beyond_fractions_are_judged_in_percent_of_what_they_were() -> None:
    def drop(size: float) -> Comparison:
        values = [40.0 + number % 5 for number in range(30)]
        return compared(side("a", cases(values)), side("b", cases([each - size for each in values])))

    assert [(drop(size).verdict, drop(size).action) for size in (2.2, 2.0, 0.1)] == [
        ("regressed", "block"),
        ("regressed", "investigate"),  # 2 of 42 are less than 5 %
        ("unchanged", "proceed"),
    ]
    assert drop(2.0).unit == "number"
    assert drop(2.0).notes == (
        "score is not between 0 and 1: drops count in percent of the value before, and an error as 0.",
    )


@pytest.mark.parametrize(
    ("values", "direction", "worst"),
    [([2.0, 5.0], "higher", 0.0), ([-3.0, 5.0], "higher", -3.0), ([2.0, 5.0], "lower", 5.0)],
)
def test_the_worst_value_where_nothing_bounds_it(
    values: list[float], direction: Direction, worst: float
) -> None:
    result = compared(side("a", cases(values)), side("b", cases([values[0], None])), direction=direction)
    assert change(result).after == pytest.approx((values[0] + worst) / 2)


def test_lower_can_be_better() -> None:
    low, high = side("a", cases([0.1] * 20)), side("b", cases([0.4] * 20))
    assert compared(low, high, direction="lower").verdict == "regressed"
    assert compared(low, high).verdict == "improved"
    assert compared(high, low, direction="lower").verdict == "improved"
    perfect = compared(low, side("b", cases([0.0] * 20)), direction="lower")
    assert change(perfect, "case_pass_rate").after == 1.0


def test_cases_that_come_and_go_are_named_and_too_many_are_incomparable() -> None:
    before = side("a", cases([1.0] * 20))
    few = compared(before, side("b", {**cases([1.0] * 19), "new": 1.0}))
    assert (few.shared, few.appeared, few.vanished) == (19, ("new",), ("case-019",))
    assert few.verdict == "identical"
    many = compared(before, side("b", {**cases([1.0] * 18), "new": 1.0}))
    assert (many.verdict, many.action) == ("incomparable", "needs_approval")
    none = compared(before, side("b", cases([1.0] * 20, "other")))
    assert (none.verdict, none.action, none.shared) == ("incomparable", "needs_approval", 0)


def test_a_case_that_asks_something_else_is_no_pair() -> None:
    before, after = side("a", cases([1.0] * 20)), side("b", cases([1.0] * 20))
    for results, mark in ((before, "x"), (after, "y")):
        results.rows[0].input_hash = mark
    assert compared(before, after).changed == ("case-000",)
    other = replace(after, kind="CSV")  # of another program nobody knows
    assert compared(before, other).changed == ()


def test_cases_without_a_metric_are_left_out_where_neither_side_has_it() -> None:
    before, after = side("a", cases([1.0] * 10)), side("b", cases([1.0] * 10))
    for results in (before, after):
        results.rows[0].scores.clear()
    after.rows[1].scores.clear()
    result = compared(before, after)
    assert result.shared == 9
    assert result.notes[-1] == "1 case without score on either side left out."
    assert change(result, "error_rate").after == pytest.approx(1 / 9)
    for row in (*before.rows, *after.rows):
        row.scores["score"] = None
    with pytest.raises(BadInput, match="no case has a value of score"):
        compared(before, after)


def test_a_file_may_say_which_cases_pass() -> None:
    before, after = side("a", cases([0.7] * 4)), side("b", cases([0.7] * 4))
    for row in (*before.rows, *after.rows[:1]):
        row.passed = True
    passes = change(compared(before, after), "case_pass_rate")
    assert (passes.before, passes.after) == (1.0, 0.25)


@pytest.mark.parametrize("name", ["errors", "passed", "answers", "error_rate", "said_to_pass", "a b/ü", "@"])
def test_any_name_of_a_metric_will_do(name: str) -> None:
    before, after = (
        Results(Path(path), "CSV", [Row(str(n), 1, {name: value}) for n in range(12)])
        for path, value in (("a", 0.75), ("b", 0.25))
    )
    result = compared(before, after, name)
    assert change(result, result.headline).difference == -0.5
    assert change(result, "error_rate").after == 0.0


def test_what_differs_besides_is_noted() -> None:
    before = side("a", cases([1.0] * 3), model="gpt", notes=("before is odd.",))
    after = side("b", {name: [1.0, 1.0] for name in cases([1.0] * 3)}, model="llama")
    assert compared(before, after).notes == (
        "The model differs: gpt before, llama after.",
        "The number of trials differs: 1 before, 2 after.",
        "before is odd.",
    )


def test_one_case_is_too_few_to_tell() -> None:
    result = compared(side("a", {"x": 1.0}), side("b", {"x": 0.0}))
    assert (result.verdict, result.action) == ("inconclusive", "investigate")
