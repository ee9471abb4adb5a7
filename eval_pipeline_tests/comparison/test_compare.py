"""Comparisons: the regression table at its edges, cases that come and go, and what else differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.comparison import Comparison, MetricChange, Side, compare
from eval_pipeline.comparison.changes import metric_change
from eval_pipeline.comparison.evidence import drops_of
from eval_pipeline.comparison.records import Evidence
from eval_pipeline.decisions import Approval, Standing
from eval_pipeline.gates import Gate, Regression
from eval_pipeline.reports import Cell
from eval_pipeline.reports.comparison import group_table
from eval_pipeline.suite import Case, Context
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline.suites.decomposition.cases import (
    DecompositionExpected,
    DecompositionInput,
    ExpectedConcept,
    ExpectedRelationship,
)
from eval_pipeline_tests.sources import Recorded, golden

RULES = Regression(investigate=0.01, block=0.05)
GATE = Gate(fail="< 0.60", passes=">= 0.70", excellent=">= 0.85", regression=RULES)
APPROVED_BEYOND = RULES.model_copy(update={"beyond": "needs_approval"})
APPROVAL = Gate(fail="< 0.60", passes=">= 0.70", regression=APPROVED_BEYOND)
RATE = Gate(fail="> 0.05", passes="<= 0.02", regression=RULES)


def evidence(verdict: Any) -> Evidence:
    return Evidence(20, verdict, None, None, None, None, None, None, None)


@pytest.mark.parametrize(
    ("before", "after", "verdict", "action"),
    [
        (0.80, 0.79, "regressed", "investigate"),
        (0.80, 0.75, "regressed", "investigate"),
        (0.80, 0.7499, "regressed", "block"),
        (0.61, 0.595, "no worse", "block"),  # a small drop into the fail zone
        (0.55, 0.545, "unchanged", "proceed"),  # it was there before
    ],
)
def test_the_regression_table(before: float, after: float, verdict: str, action: str) -> None:
    change = metric_change("recall", before, after, "higher", "fraction", GATE, evidence(verdict))
    assert (change.verdict, change.action) == (verdict, action)


@pytest.mark.parametrize(
    ("before", "after", "verdict", "action"),
    [
        (0.80, None, "regressed", "block"),  # the metric is gone
        (None, 0.80, "improved", "proceed"),
        (None, None, "identical", "proceed"),
        (0.80, 0.80, "identical", "proceed"),
        (0.80, 0.85, "inconclusive", "proceed"),
        (0.80, 0.78, "inconclusive", "investigate"),
    ],
)
def test_without_evidence_only_facts_are_told(
    before: float | None, after: float | None, verdict: str, action: str
) -> None:
    change = metric_change("run_stability", before, after, "higher", "fraction", GATE)
    assert (change.verdict, change.action) == (verdict, action)


@pytest.mark.parametrize(("after", "action"), [(0.03, "investigate"), (0.051, "block"), (0.08, "block")])
def test_lower_can_be_better(after: float, action: str) -> None:
    change = metric_change(
        "hallucination_rate", 0.02, after, "lower", "fraction", RATE, evidence("regressed")
    )
    assert change.action == action


def test_five_points_are_points_and_not_percent() -> None:
    """0.80 → 0.76 is a drop of 5 % but of 4 points."""
    change = metric_change("recall", 0.80, 0.76, "higher", "fraction", GATE, evidence("regressed"))
    assert change.action == "investigate"


def test_a_gate_can_ask_for_an_approval() -> None:
    for before, after, action in ((0.80, 0.74, "needs_approval"), (0.62, 0.59, "block")):
        change = metric_change(
            "overall_index", before, after, "higher", "fraction", APPROVAL, evidence("regressed")
        )
        assert change.action == action


def test_an_ungated_metric_is_shown_and_stops_nothing() -> None:
    change = metric_change("duplicate_rate", 0.0, 0.9, "lower", "fraction", None, evidence("regressed"))
    assert (change.verdict, change.action, change.gated) == ("regressed", "proceed", False)


def test_a_gate_without_a_table_has_the_tolerance_of_its_unit_and_does_not_block() -> None:
    bare = Gate(fail="< 0.10", passes=">= 0.20")
    change = metric_change("recall", 0.80, 0.60, "higher", "fraction", bare, evidence("regressed"))
    assert (change.action, change.doubtful) == ("investigate", False)
    assert change.reason.endswith("worse by more than 5.0 points")


@pytest.mark.parametrize(
    ("unit", "before", "block"), [("fraction", 0.5, 0.05), ("points", 60.0, 5.0), ("number", -40.0, 2.0)]
)
def test_a_metric_without_a_tolerance_of_its_own_has_one_by_its_unit(
    unit: Any, before: float, block: float
) -> None:
    assert drops_of(None, unit, before).block == pytest.approx(block)
    assert drops_of(GATE, unit, before) == RULES


NAMES = [f"case-{number:02}" for number in range(20)]
EXPECTED = DecompositionExpected(
    [ExpectedConcept("A"), ExpectedConcept("B")], [ExpectedRelationship("A", "B", "CAUSES")], [], []
)
CASES = [golden(Case(name, DecompositionInput(name, "A causes B."), EXPECTED)) for name in NAMES]
GOOD = {
    "concepts": [{"label": "A", "source_quote": "A"}, {"label": "B", "source_quote": "B"}],
    "relationships": [{"source": "A", "target": "B", "predicate": "CAUSES"}],
}
BAD = {"concepts": [{"label": "A", "source_quote": "A"}], "relationships": []}
GATES = {"concept_recall": GATE}


def side(outputs: dict[str, Any], hashes: dict[str, str] | None = None, **identity: Any) -> Side:
    facts = {"engine": "embedded", "model": "one", "trials": 1, **identity}
    return Side(
        "before",
        OutputsIdentity(
            "decomposition", "v", "", "", facts["engine"], facts["model"], "default", facts["trials"]
        ),
        Recorded(outputs, facts["trials"]),
        hashes if hashes is not None else {each.case.id: each.input_hash for each in CASES},
        identity.get("golden_hash", "same"),
    )


def compared(
    before: Side, after: Side, cases: list[Any] = CASES, gates: Mapping[str, Gate] = GATES
) -> Comparison:
    present = {each.case.id: each.input_hash for each in cases}
    (comparison,) = compare(SUITE, present, lambda only=None: cases, [before], after, gates, Context())
    return comparison


ALL_GOOD = dict.fromkeys(NAMES, GOOD)


def test_cases_that_regressed_and_improved_are_named_worst_first() -> None:
    found = compared(
        side({**ALL_GOOD, "case-03": BAD}),
        side({**ALL_GOOD, "case-01": BAD, "case-02": {"concepts": [], "relationships": []}}),
    )
    assert [each.case_id for each in found.regressed] == ["case-02", "case-01"]
    assert [each.case_id for each in found.improved] == ["case-03"]
    assert found.verdict == "inconclusive"  # two cases of twenty fell and one rose
    worst = "Worst cases by overall_index: case-02 fell 85.0 points, case-01 fell 32.5 points."
    assert found.sentence.endswith(worst)


def test_cases_that_come_go_or_change_are_left_out_and_named() -> None:
    hashes = {each.case.id: each.input_hash for each in CASES[1:]} | {"case-05": "another", "gone": "x"}
    found = compared(
        side({**ALL_GOOD, "gone": GOOD}, hashes), side({**ALL_GOOD, "case-00": BAD, "case-05": BAD})
    )
    assert (found.appeared, found.vanished, found.changed) == (("case-00",), ("gone",), ("case-05",))
    assert found.shared == 18
    assert found.verdict == "incomparable"  # 3 of 21 is more than a tenth
    assert found.action == "needs_approval"
    assert all(each.difference == 0 for each in found.metrics if each.difference is not None)


def test_up_to_a_tenth_may_be_left_out() -> None:
    hashes = {each.case.id: each.input_hash for each in CASES[2:]}
    found = compared(side(ALL_GOOD, hashes), side(ALL_GOOD))
    assert (found.verdict, found.action, found.shared) == ("identical", "proceed", 18)


def test_nothing_in_common_is_incomparable() -> None:
    found = compared(side({}, {}), side(ALL_GOOD))
    assert (found.verdict, found.action, found.metrics) == ("incomparable", "needs_approval", ())
    assert "cannot be compared" in found.sentence


def test_what_differs_besides_the_prompt_is_said_first() -> None:
    found = compared(
        side(ALL_GOOD, golden_hash="old"), side(ALL_GOOD, engine="endpoint", model="two", trials=3)
    )
    assert [note.split()[1] for note in found.notes] == ["engine", "model", "number", "golden"]


def test_both_sides_are_scored_against_the_golden_set_of_today() -> None:
    """A changed expectation moves both sides alike, and so never looks like a changed prompt."""
    stricter = DecompositionExpected(
        [*EXPECTED.concepts, ExpectedConcept("C")], EXPECTED.relationships, [], []
    )
    cases = [golden(Case(each.case.id, each.case.input, stricter)) for each in CASES]
    found = compared(side(ALL_GOOD), side(ALL_GOOD), cases)
    recall = next(each for each in found.metrics if each.metric == "concept_recall")
    assert recall.before == pytest.approx(2 / 3)
    assert recall.after == pytest.approx(2 / 3)


def recall(found: Comparison) -> MetricChange:
    return next(each for each in found.metrics if each.metric == "concept_recall")


def test_outputs_that_vanished_are_a_regression() -> None:
    found = compared(side(ALL_GOOD), side(dict.fromkeys(NAMES[6:], GOOD)))
    assert (found.verdict, found.action) == ("regressed", "block")
    assert recall(found).evidence is not None
    assert (
        "points) over 20 cases × 1 trial. Worse: concept_recall fell 30.0 points (95 % CI " in found.sentence
    )
    assert "Worst cases by overall_index: case-00 fell 100.0 points, " in found.sentence


def test_a_drop_beyond_the_tolerance_that_may_be_chance_is_looked_at_or_blocks_as_the_gate_says() -> None:
    strict = {"concept_recall": GATE.model_copy(update={"inconclusive": "block"})}
    for gates, action in ((GATES, "investigate"), (strict, "block")):
        found = compared(side(ALL_GOOD), side(dict.fromkeys(NAMES[2:], GOOD)), gates=gates)
        assert (found.verdict, found.action) == ("inconclusive", action)
        assert recall(found).difference == pytest.approx(-0.10)


def test_an_uncertain_metric_says_what_would_settle_it() -> None:
    unclear = Evidence(20, "inconclusive", -0.2, 0.02, 0.1, 0.05, 0.12, 80, 4)
    found = metric_change("recall", 0.80, 0.72, "higher", "fraction", GATE, unclear)
    assert found.reason.endswith("4 trials or 80 cases would show a drop of 5.0 points")
    assert found.movement == "recall fell 8.0 points (95 % CI from a fall of 20.0 to a rise of 2.0 points)"


@pytest.mark.parametrize(
    ("after", "verdict", "action"),
    [
        (0.74, "regressed", "block"),
        (0.76, "regressed", "investigate"),
        (0.74, "inconclusive", "investigate"),
        (0.76, "inconclusive", "investigate"),
        (0.795, "inconclusive", "proceed"),
        (0.82, "inconclusive", "proceed"),
        (0.78, "unchanged", "proceed"),  # a drop that nothing stands behind
        (0.80, "identical", "proceed"),
        (0.79, "no worse", "proceed"),
        (0.59, "inconclusive", "block"),  # into the fail zone, certain or not
        (0.85, "improved", "proceed"),
    ],
)
def test_the_verdict_comes_from_the_evidence_and_the_action_from_the_table(
    after: float, verdict: Any, action: str
) -> None:
    found = metric_change("recall", 0.80, after, "higher", "fraction", GATE, evidence(verdict))
    assert (found.verdict, found.action) == (verdict, action)


def test_trials_are_a_cluster_in_a_comparison() -> None:
    """Three trials that repeat one answer are as much evidence as one."""
    worse = {**ALL_GOOD, **dict.fromkeys(NAMES[:6], BAD)}
    once = compared(side(ALL_GOOD), side(worse))
    thrice = compared(side(ALL_GOOD, trials=3), side(worse, trials=3))
    first, second = recall(once).evidence, recall(thrice).evidence
    assert first is not None
    assert second is not None
    assert first.low == pytest.approx(second.low)


def test_every_metric_has_evidence_that_json_can_hold() -> None:
    found = compared(side(ALL_GOOD), side({**ALL_GOOD, "case-01": BAD}))
    assert all(each.evidence is not None for each in found.metrics)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Comparison) == found


def test_groups_that_regressed_are_named_and_corrected_for_their_number() -> None:
    """Ten cases of one group all lose a concept; in the other a single one does, which may be chance."""
    cases = [
        golden(Case(name, DecompositionInput(name, "A causes B."), EXPECTED, {"domain": "xy"[number < 10]}))
        for number, name in enumerate(NAMES)
    ]
    hashes = {each.case.id: each.input_hash for each in cases}
    worse = {name: BAD if number < 10 or number == 15 else GOOD for number, name in enumerate(NAMES)}
    found = compared(side(ALL_GOOD, hashes), side(worse, hashes), cases)
    by_group = {each.group: each for each in found.groups if each.metric == "concept_recall"}
    assert by_group["y"].verdict == "regressed"
    assert by_group["x"].verdict == "unclear"
    assert (by_group["y"].cases, by_group["y"].difference) == (10, -0.5)
    assert all((each.adjusted_p or 0) >= (each.p_value or 0) for each in found.groups)
    assert [each.group for each in found.moved_groups] == ["y"]
    (row,) = group_table(SUITE, found).rows
    assert row[:7] == ("domain y", "concept_recall", "100.0 %", "50.0 %", "−50.0 pp", "10", "0.004")
    assert row[7] == Cell("regressed", "red")


def test_one_group_is_no_group() -> None:
    assert compared(side(ALL_GOOD), side(ALL_GOOD)).groups == ()


def test_an_approval_covers_the_metrics_that_it_names_and_no_others() -> None:
    rate = Gate(fail="< 0.10", passes=">= 0.20", regression=APPROVED_BEYOND)
    gates = {"concept_recall": GATE, "relationship_recall": rate}
    found = compared(side(ALL_GOOD), side(dict.fromkeys(NAMES, BAD)), gates=gates)
    assert Standing(found).demands == {"concept_recall": "block", "relationship_recall": "block"}
    before = after = side(ALL_GOOD).identity

    def approved(*metrics: str) -> Standing:
        times = ("2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00")
        given = Approval(
            "decomposition", "v", "b", metrics, "meant", "Ada", *times, found.key, "", before, after
        )
        return Standing(found, (given,))

    partly = approved("concept_recall")
    assert (partly.stops, partly.approved, partly.action) == (True, False, "block")
    assert partly.undecided == ["relationship_recall"]
    assert partly.conclusion.startswith("regressed; block.")
    wholly = approved("concept_recall", "relationship_recall")
    assert (wholly.stops, wholly.approved, wholly.action) == (False, True, "proceed")
    assert (found.verdict, found.action) == ("regressed", "block")
    assert wholly.conclusion.endswith(
        "concept_recall, relationship_recall approved by Ada on 2026-01-01 until 2026-02-01: meant."
    )


def test_sides_that_share_too_little_can_be_approved_under_that_name() -> None:
    some = {each.case.id: each.input_hash for each in CASES[:10]}
    found = compared(side(ALL_GOOD, some), side(ALL_GOOD))
    assert Standing(found).demands == {"incomparable": "needs_approval"}
    assert Standing(found).undecided == ["incomparable"]


def test_comparisons_with_two_sides_are_one_family() -> None:
    """Six of twenty cases are lost against both: p is 1/64 in each, and 2/64 in a family of two."""
    present = {each.case.id: each.input_hash for each in CASES}
    worse = {**ALL_GOOD, **dict.fromkeys(NAMES[:6], BAD)}
    alone = recall(compared(side(ALL_GOOD), side(worse))).evidence
    both = compare(
        SUITE,
        present,
        lambda only=None: CASES,
        [side(ALL_GOOD), side(ALL_GOOD)],
        side(worse),
        GATES,
        Context(),
    )
    assert alone is not None
    assert alone.adjusted_p is not None
    for each in both:
        evidence = recall(each).evidence
        assert evidence is not None
        assert evidence.adjusted_p == pytest.approx(2 * alone.adjusted_p)
        assert (evidence.low, evidence.p_value) == (alone.low, alone.p_value)


def test_a_side_that_shares_too_little_is_no_part_of_the_family() -> None:
    present = {each.case.id: each.input_hash for each in CASES}
    worse = {**ALL_GOOD, **dict.fromkeys(NAMES[:6], BAD)}
    some = {each.case.id: each.input_hash for each in CASES[:10]}
    alone = recall(compared(side(ALL_GOOD), side(worse))).evidence
    first, second, third = compare(
        SUITE,
        present,
        lambda only=None: CASES,
        [side(ALL_GOOD, some), side(ALL_GOOD), side({}, {})],
        side(worse),
        GATES,
        Context(),
    )
    assert (first.verdict, first.shared, third.verdict, third.shared) == (
        "incomparable",
        10,
        "incomparable",
        0,
    )
    assert recall(second).evidence == alone
