"""Review: the document's example, what its formulas get wrong, and what holds for any output."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.answers import Answer
from eval_pipeline.gates import read_gates
from eval_pipeline.problems import Problems
from eval_pipeline.reports import cross_tables
from eval_pipeline.suite import Experiment
from eval_pipeline.suites.review import SUITE
from eval_pipeline.suites.review.cases import CATEGORIES, SEVERITIES
from eval_pipeline.suites.review.experiments import cross_experiment, stability_line
from eval_pipeline.suites.review.findings import DEPTHS
from eval_pipeline.suites.review.matching import Decision
from eval_pipeline.suites.review.tables import category_sign, claims
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.suites.review.examples import (
    LINES,
    Trials,
    error,
    finding,
    key_of,
    output,
    summary,
    task,
    values,
)

GATES = read_gates(SUITE, REPOSITORY / "golden" / "review" / "gates.yaml", Problems())


def test_the_documents_example_of_a_weighted_detection_score() -> None:
    case = task(
        error(1, "CRITICAL"),
        error(2, "CRITICAL"),
        error(3),
        error(4),
        error(5),
        error(6, "MINOR"),
    )
    found = values(case, output(finding(1), finding(3), finding(4), finding(6, "PERF")))
    assert found["wds_points"] == 7.5
    assert found["weighted_detection_score"] == pytest.approx(7.5 / 13)
    assert found["detection_rate"] == pytest.approx(3.5 / 6)
    assert found["detection_rate_critical"] == 0.5
    assert found["detection_rate_minor"] == 0.5
    assert found["token_efficiency"] == pytest.approx(7.5)
    assert found["token_efficiency_normalized"] == pytest.approx(7.5 / 13)


@pytest.mark.parametrize(
    ("changes", "credit"),
    [
        ({}, 1.0),
        ({"quote": None}, 1.0),
        ({"location": None}, 1.0),
        ({"location": "lines 5–6"}, 1.0),
        ({"quote": "“Line 5 says something about SUBJECT 5”", "location": None}, 1.0),
        ({"category": "PERF"}, 0.5),
        ({"category": "PERF", "quote": None}, 0.5),
        ({"quote": None, "location": None}, 0.0),
        ({"quote": "", "location": " "}, 0.0),
        ({"quote": "subject 5", "location": None}, 0.0),
        ({"quote": " ".join(LINES), "location": None}, 0.0),
        ({"quote": None, "location": "1-40"}, 0.0),
        ({"quote": None, "location": "section five"}, 0.0),
    ],
)
def test_a_match_is_full_with_the_category_and_partial_without(
    changes: dict[str, Any], credit: float
) -> None:
    assert values(task(error(5)), output({**finding(5), **changes}))["detection_rate"] == credit


def test_one_expected_error_takes_one_findings_credit_and_duplicates_are_neither() -> None:
    case = task(error(1), error(2))
    said = [finding(1), finding(1, quote=LINES[0][:-1] + ", indeed", id="again"), finding(1, "PERF")]
    found = values(case, output(*said))
    assert found["detection_rate"] == 0.5
    assert found["precision"] == 1.0  # neither true nor false positives
    assert found["duplicate_rate"] == pytest.approx(2 / 3)


def test_depth_counts_only_confirmed_findings() -> None:
    """Garbage labelled ROOT_CAUSE earns 20 points by the document's formula."""
    case = task(error(1))
    garbage = [finding(number, depth="ROOT_CAUSE") for number in range(10, 20)]
    found = values(case, output(finding(1, depth="SYMPTOM"), *garbage))
    assert found["depth_quality"] == 1.0
    assert values(case, output(*garbage))["depth_quality"] is None
    bonus = {("task", key_of(garbage[0])): Decision("bonus_valid")}
    assert values(case, output(finding(1, depth="SYMPTOM"), *garbage), bonus)["depth_quality"] == 3.0


def test_repeating_a_finding_with_a_deeper_label_earns_nothing() -> None:
    case = task(error(1))
    both = output(finding(1, depth="SYMPTOM"), finding(1, depth="ROOT_CAUSE", id="deeper"))
    assert values(case, both)["depth_quality"] == 1.0
    elsewhere = finding(1, depth="ROOT_CAUSE", quote=None)
    assert values(case, output(finding(1, depth="SYMPTOM", location=None), elsewhere))["depth_quality"] == 1.0


def test_token_efficiency_is_capped_in_oes() -> None:
    """At 5,000 tokens the raw formula gives more than 100, and a cheap bad run beats a good dear one."""
    case = task(*(error(number, "CRITICAL") for number in range(1, 13)))
    perfect = [finding(number, depth="ROOT_CAUSE") for number in range(1, 13)]
    good = values(case, output(*perfect, tokens=5000))
    assert good["oes"] == pytest.approx(100.0)
    assert good["oes_uncapped"] == pytest.approx(85 + 15 * 36 / 5)
    cheap = values(case, output(finding(1, depth="SYMPTOM"), tokens=10))
    assert cheap["oes_uncapped"] is not None
    assert cheap["oes_uncapped"] > 1000
    assert cheap["oes"] is not None
    assert good["oes"] is not None
    assert cheap["oes"] < good["oes"]


def test_tokens_that_nobody_counted_make_efficiency_undefined() -> None:
    case = task(error(1))
    assert values(case, {"findings": [finding(1)]})["token_efficiency"] is None
    assert values(case, output(finding(1), tokens=0))["oes"] is None
    answer = Answer("task", 1, '{"findings": []}', tokens={"prompt": 400, "completion": 100})
    assert values(case, answer)["token_efficiency"] == 0.0


def test_a_concern_whose_methods_found_nothing_counts() -> None:
    case = task(error(1, "CRITICAL"))
    applied = {"A1": ["reading", "listing"], "A2": ["asking"], "B1": ["drawing"]}
    found = values(case, output(finding(1), methods_applied=applied))
    assert found["concern_efficiency_layer_A"] == pytest.approx((3 / 2 + 0) / 2)
    assert found["concern_efficiency_layer_B"] == 0.0
    assert found["concern_efficiency_layer_C"] is None
    rows = summary([case], {"task": output(finding(1), methods_applied=applied)}).tables["concerns"]
    assert [(row["concern"], row["efficiency"]) for row in rows] == [("A1", 1.5), ("A2", 0.0), ("B1", 0.0)]


def test_precision_and_discovery_are_bounds_while_decisions_are_pending() -> None:
    case = task(error(1), error(2))
    said = output(finding(1), finding(10), finding(11), finding(12))
    found = values(case, said)
    assert (found["precision"], found["precision_upper"]) == (0.25, 1.0)
    assert (found["discovery_rate"], found["discovery_rate_upper"]) == (0.0, 0.75)
    assert found["pending_rate"] == 0.75
    decided = {
        ("task", key_of(finding(10))): Decision("bonus_valid"),
        ("task", key_of(finding(11))): Decision("false_positive"),
        ("task", key_of(finding(12))): Decision("full", "E2"),
    }
    found = values(case, said, decided)
    assert found["precision"] == found["precision_upper"] == 0.75
    assert found["discovery_rate"] == found["discovery_rate_upper"] == pytest.approx(1 / 3)
    assert found["pending_rate"] == 0.0
    assert found["detection_rate"] == 1.0


@pytest.mark.parametrize(
    ("named", "passes"),
    [
        ([1, 2, 3], True),
        # Three more that nobody has looked at leave half of them confirmed.
        ([1, 2, 3, 10, 11, 12], True),
        ([1, 2, 3, 10, 11, 12, 13], False),
        (range(1, 21), False),
        (range(1, 41), False),
    ],
)
def test_naming_every_line_passes_no_case(named: Sequence[int], passes: bool) -> None:
    case = task(error(1, "CRITICAL"), error(2), error(3, "MINOR"))
    found = values(case, output(*map(finding, named)))
    assert found["detection_rate"] == 1.0
    assert found["case_pass_rate"] == float(passes)


def test_a_decision_overrides_quote_and_location() -> None:
    case = task(error(1))
    ruled = {("task", key_of(finding(1))): Decision("false_positive")}
    assert values(case, output(finding(1)), ruled)["detection_rate"] == 0.0
    partial = {("task", key_of(finding(1))): Decision("partial", "E1")}
    assert values(case, output(finding(1)), partial)["detection_rate"] == 0.5
    elsewhere = {("other", key_of(finding(1))): Decision("false_positive")}
    assert values(case, output(finding(1)), elsewhere)["detection_rate"] == 1.0
    gone = {("task", key_of(finding(1))): Decision("full", "E99")}
    assert values(case, output(finding(1)), gone)["detection_rate"] == 1.0


def test_coverage_of_all_categories_and_of_those_present() -> None:
    found = values(task(error(1), error(2, category="PERF")), output(finding(1)))
    assert found["category_coverage"] == 0.1
    assert found["category_coverage_present"] == 0.5


def test_run_stability_and_the_lines_of_an_experiment() -> None:
    case = task(*(error(number) for number in range(1, 11)))
    counts = (6, 7, 5)
    runs = [{"task": output(*(finding(number) for number in range(1, count + 1)))} for count in counts]
    found = summary([case], *runs)
    assert found.metrics["run_stability_detection_rate"].value == pytest.approx(1 - 0.1 / 0.6)
    assert found.metrics["finding_consistency"].value == pytest.approx(5 / 7)
    assert found.metrics["finding_recurrence"].value == pytest.approx(6 / 7)
    lines = {row["metric"]: row["line"] for row in found.tables["experiment"]}
    assert lines["DR"] == "DR = 60% ± 10% (RS = 0.83) – STABLE"
    assert lines["FC"] == "FC = 71.4 % over 3 runs; 85.7 % of findings recur"
    assert lines["overall"] == "Stability: STABLE"
    assert "3 runs of 1 task: no generalisation claim" in found.problems


def test_the_documents_stability_line() -> None:
    assert stability_line("DR", [0.57, 0.65, 0.73]) == "DR = 65% ± 8% (RS = 0.88) – STABLE"
    assert stability_line("WDS", [0.43, 0.58, 0.73]) == "WDS = 58% ± 15% (RS = 0.74) – MODERATE"
    assert stability_line("DR", [0.1, 0.1, 0.9]).endswith("– UNSTABLE")
    assert stability_line("DR", [0.5]) == "DR = 50% (1 run: stability needs 3)"
    assert stability_line("DR", [0.5, None, 0.5]) == "DR is undefined in 1 run of 3"
    assert stability_line("DR", [0.0, 0.0, 0.0]).endswith("(RS = 1.00) – STABLE")


def test_stability_needs_three_trials() -> None:
    case = task(error(1))
    two = summary([case], {"task": output(finding(1))}, {"task": output()})
    assert not two.metrics["run_stability_detection_rate"].applies
    assert not two.metrics["finding_consistency"].applies


def test_findings_of_trials_are_the_same_by_error_or_by_place() -> None:
    case = task(error(1))
    other_words = finding(1, "PERF", quote=None, id="x")
    runs: list[dict[str, Any]] = [
        {"task": output(finding(1), finding(20))},
        {"task": output(other_words, finding(20, "PERF", text="said otherwise"))},
        {"task": output(finding(1), finding(20), finding(21))},
    ]
    assert summary([case], *runs).metrics["finding_consistency"].value == pytest.approx(2 / 3)
    with_error = [*runs[:2], {"task": Answer("task", 3, error="timeout")}]
    assert summary([case], *with_error).metrics["finding_consistency"].value == 0.0


@pytest.mark.parametrize(
    ("tasks", "runs", "said"),
    [
        (1, 3, "3 runs of 1 task: no generalisation claim"),
        (5, 3, "3 runs of 5 tasks: enough to generalise"),
        (4, 3, "3 runs of 4 tasks: no generalisation claim"),
        (
            10,
            2,
            "2 runs of 10 tasks: no assessment of a workflow and no comparison (3 runs needed), "
            "no generalisation claim",
        ),
    ],
)
def test_what_a_sample_does_not_allow_to_say(tasks: int, runs: int, said: str) -> None:
    assert claims(tasks, runs) == said


def test_a_blind_spot_is_claimed_from_three_tasks_on() -> None:
    cases = [task(error(1), error(2, category="PERF"), id_=f"t{number}") for number in range(3)]
    outputs = {case.case.id: output(finding(2, "PERF")) for case in cases}
    assert "blind spot EDGE (0.0 % in 3 tasks)" in summary(cases, outputs).problems
    told = summary(cases[:2], outputs).problems
    assert "EDGE 0.0 %, in too few tasks to call it a blind spot" in told


def test_a_high_discovery_rate_proposes_additions() -> None:
    case = task(error(1))
    decided = {("task", key_of(finding(10))): Decision("bonus_valid")}
    found = summary([case], {"task": output(finding(1), finding(10))}, decisions=decided)
    assert [row["finding"] for row in found.tables["proposed_additions"]] == [
        f"task: EDGE: {LINES[9]} (line 10)"
    ]
    assert found.problems[-1].startswith("discovery rate 50.0 %: the ground truth is incomplete")


@pytest.mark.parametrize(
    ("rate", "sign"),
    [(None, ""), (0.76, "✓"), (0.75, "~"), (0.5, "~"), (0.4999, "✗"), (0.0, "✗"), (1.0, "✓")],
)
def test_the_signs_of_the_heatmap(rate: float | None, sign: str) -> None:
    assert category_sign(rate) == sign


@pytest.mark.parametrize(
    ("metric", "value", "zone"),
    [
        ("detection_rate", 0.80, "pass"),
        ("detection_rate", 0.801, "excellent"),
        ("detection_rate", 0.60, "pass"),
        ("detection_rate", 0.40, "between"),
        ("detection_rate", 0.399, "fail"),
        ("token_efficiency", 0.5, "pass"),
        ("token_efficiency", 0.1, "pass"),
        ("token_efficiency", 0.09, "fail"),
        ("precision", 0.9, "pass"),
        ("precision", 0.7, "pass"),
        ("precision", 0.69, "fail"),
        ("discovery_rate", 0.2, "pass"),
        ("discovery_rate", 0.05, "pass"),
        ("discovery_rate", 0.0, "fail"),
        ("depth_quality", 4.0, "pass"),
        ("depth_quality", 4.1, "excellent"),
        ("depth_quality", 2.0, "between"),
        ("depth_quality", 1.9, "fail"),
        ("run_stability_detection_rate", 0.8, "between"),
        ("run_stability_detection_rate", 0.6, "between"),
        ("run_stability_detection_rate", -0.3, "fail"),
        ("finding_consistency", 0.8, "between"),
        ("finding_consistency", 0.5, "between"),
        ("finding_consistency", 0.49, "fail"),
        ("pending_rate", 0.0, "pass"),
    ],
)
def test_an_edge_belongs_where_the_sign_puts_it(metric: str, value: float, zone: str) -> None:
    assert GATES[metric].zone(value) == zone


THREE_RUNS = (
    {"task": output(finding(1), finding(20))},
    {"task": output(finding(1), finding(21))},
    {"task": output(finding(20))},
)


def test_findings_stand_with_the_runs_they_appear_in_and_above_half_are_confirmed() -> None:
    found = summary([task(error(1), error(2))], *THREE_RUNS).tables["recurrent_findings"]
    assert [(row["finding"].split(":")[1].strip(), row["runs"], row["confirmed"]) for row in found] == [
        ("E1 IMPORTANT EDGE", "2 of 3", "✓"),
        ("line 20-20", "2 of 3", "✓"),
        ("line 21-21", "1 of 3", ""),
    ]
    assert summary([task(error(1))], *THREE_RUNS[:2]).tables["recurrent_findings"] == []


def test_a_run_that_failed_found_nothing_and_counts_as_a_run() -> None:
    found = summary([task(error(1))], *THREE_RUNS[:2], {})
    assert {row["runs"] for row in found.tables["recurrent_findings"]} == {"2 of 3", "1 of 3"}
    runs = [(row["run"], row["DR"], row["OES"]) for row in found.tables["tasks"]]
    assert [(run, rate) for run, rate, _ in runs] == [("1", 1.0), ("2", 1.0), ("errors", 0.0)]
    assert [oes for *_, oes in runs] == pytest.approx(found.metrics["oes"].trials)


def test_counts_are_those_of_a_run_however_many_there_are() -> None:
    case = task(error(1), error(2))
    once, thrice = summary([case], THREE_RUNS[0]), summary([case], *THREE_RUNS[:1] * 3)
    for name in ("severities", "categories", "concerns"):
        assert thrice.tables[name] == once.tables[name]
    (row,) = once.tables["severities"]
    assert (row["detected"], row["missed"], row["rate"]) == (1.0, 1.0, 0.5)


def test_the_cross_experiment_table_and_its_rule() -> None:
    def experiment(*oes: float) -> Experiment:
        found = summary([task(error(1))], *({"task": output(finding(1))} for _ in oes))
        per_trial = {name: value.trials for name, value in found.metrics.items()}
        return Experiment({**per_trial, "oes": oes}, found.tables, found.cases)

    rows = cross_experiment(
        {"v1": experiment(60, 62, 64), "v2": experiment(70, 72, 74), "v3": experiment(60)}
    )
    assert [(row["Workflow"], row["Task"], row["ID"], row["Sig?"]) for row in rows] == [
        ("v1", "all 1 task", "base", "–"),
        ("v2", "all 1 task", "+10.0 points", "Y"),
        ("v3", "all 1 task", "−2.0 points", "needs 3 runs"),
        ("v1", "task", "base", "–"),
        ("v2", "task", "±0.0 points", "N"),
        ("v3", "task", "±0.0 points", "needs 3 runs"),
    ]
    assert rows[0]["OES±σ"] == "62.0 points ± 2.0 points"
    assert rows[0]["DR±σ"] == "100.0 % ± 0.0 %"
    assert cross_tables(SUITE, {}) == []


errors = st.lists(
    st.tuples(st.integers(1, 8), st.sampled_from(SEVERITIES), st.sampled_from(CATEGORIES[:3])),
    min_size=1,
    max_size=6,
    unique_by=lambda each: each[0],
).map(lambda found: [error(*each) for each in found])
said = st.lists(
    st.builds(
        lambda number, category, depth, quoted, located: finding(
            number,
            category,
            depth,
            quote=LINES[number - 1] if quoted else None,
            location=str(number) if located else None,
        ),
        st.integers(1, 12),
        st.sampled_from(CATEGORIES[:3]),
        st.sampled_from(DEPTHS),
        st.booleans(),
        st.booleans(),
    ),
    max_size=8,
)


@settings(max_examples=30, deadline=None)
@given(errors, said, st.randoms(use_true_random=False))
def test_order_never_matters(wanted: list[Any], found: list[Any], source: random.Random) -> None:
    first = values(task(*wanted), output(*found))
    source.shuffle(wanted)
    source.shuffle(found)
    assert values(task(*wanted), output(*found)) == first


@settings(max_examples=30, deadline=None)
@given(errors, said)
def test_every_value_is_in_range_or_null(wanted: list[Any], found: list[Any]) -> None:
    for name, value in values(task(*wanted), output(*found)).items():
        unit = next((metric.unit for metric in SUITE.metrics if metric.name == name), "fraction")
        if value is not None and unit == "fraction" and not name.startswith("run_"):
            assert 0 <= value <= 1, name
        if value is not None and name == "oes":
            assert 0 <= value <= 100


@settings(max_examples=30, deadline=None)
@given(errors, st.sampled_from(DEPTHS), errors, said)
def test_an_error_never_pays(first: list[Any], depth: str, second: list[Any], other: list[Any]) -> None:
    """A right answer, however dear and shallow, is better than none."""
    cases = [task(*first, id_="one"), task(*second, id_="two")]
    rest = {"two": output(*other)}
    right = [finding(int(each["location"]), each["category"], depth) for each in first]
    answered = summary(cases, {"one": output(*right, tokens=10**9), **rest}).metrics
    failed = summary(cases, {"one": Answer("one", error="timeout"), **rest}).metrics
    for metric in SUITE.metrics:
        before, after = answered[metric.name].value, failed[metric.name].value
        if metric.name not in GATES or before is None or after is None:
            continue
        sign = 1 if metric.direction == "higher" else -1
        assert sign * after <= sign * before + 1e-9, metric.name


def test_a_run_of_errors_fails_every_critical_gate() -> None:
    from eval_pipeline.scoring import score_cases, summarize
    from eval_pipeline.suite import Context

    source = Trials([{"task": Answer("task", 1, error="timeout")}])
    judged = summarize(SUITE, score_cases(SUITE, [task(error(1))], source, Context()), GATES)
    status = {gate.metric: gate.status for gate in judged.gates}
    assert {status[name] for name in ("detection_rate", "precision", "depth_quality", "error_rate")} == {
        "fail"
    }
    assert status["pending_rate"] == status["discovery_rate"] == "warn"
