"""Comparisons in words: the headline first, every verdict, every direction, and a unit on every number."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eval_pipeline.comparison import Comparison, MetricChange
from eval_pipeline.comparison.records import CaseChange, Evidence
from eval_pipeline.comparison.words import movement


def evidence(low: float | None, high: float | None) -> Evidence:
    return Evidence(20, "inconclusive", low, high, None, None, None, None, None)


@pytest.mark.parametrize(
    ("verdict", "difference", "unit", "interval", "words"),
    [
        ("regressed", -0.061, "fraction", (-0.092, -0.03), "fell 6.1 points (95 % CI 3.0 to 9.2 points)"),
        ("improved", 0.061, "fraction", (0.03, 0.092), "rose 6.1 points (95 % CI 3.0 to 9.2 points)"),
        (
            "inconclusive",
            -0.283,
            "fraction",
            (-0.666, 0.1),
            "fell 28.3 points (95 % CI from a fall of 66.6 to a rise of 10.0 points)",
        ),
        ("regressed", -3.25, "points", (-4, -2.5), "fell 3.2 points (95 % CI 2.5 to 4.0 points)"),
        ("regressed", -0.136, "number", (-0.195, -0.077), "fell 0.136 (95 % CI 0.077 to 0.195)"),
        ("regressed", 31.0, "milliseconds", (20.0, 42.0), "rose 31 ms (95 % CI 20 to 42 ms)"),
        ("regressed", 0.5, "dollars", (0.25, 0.75), "rose $0.5000 (95 % CI $0.2500 to $0.7500)"),
        ("identical", 0.0, "fraction", (None, None), "is identical in every case"),
        (
            "unchanged",
            -0.003,
            "fraction",
            (-0.021, 0.015),
            "is unchanged (fell 0.3 points, 95 % CI from a fall of 2.1 to a rise of 1.5 points)",
        ),
        ("unchanged", 0.0, "fraction", (0.0, 0.0), "is unchanged (did not move)"),
        ("unchanged", -0.0001, "fraction", (None, None), "is unchanged (fell less than can be shown)"),
        (
            "no worse",
            0.03,
            "fraction",
            (-0.01, 0.07),
            "is no worse (rose 3.0 points, 95 % CI from a fall of 1.0 to a rise of 7.0 points)",
        ),
        ("regressed", None, "fraction", (None, None), "is gone"),
        ("improved", None, "fraction", (None, None), "is defined now"),
        ("unchanged", None, "fraction", (None, None), "is undefined before and after"),
    ],
)
def test_a_movement(verdict: str, difference: Any, unit: Any, interval: tuple[Any, Any], words: str) -> None:
    assert movement("recall", verdict, difference, unit, evidence(*interval)) == f"recall {words}"


CENTS = st.integers(-9999, 9999).map(lambda value: value / 10000)


@given(
    CENTS, CENTS, CENTS, st.sampled_from(["improved", "regressed", "inconclusive", "unchanged", "no worse"])
)
def test_an_interval_says_which_way_it_goes(first: float, second: float, third: float, verdict: str) -> None:
    """What is read aloud, read back, is the interval that was given."""
    low, difference, high = sorted((first, second, third))
    words = movement("recall", verdict, difference, "fraction", evidence(low, high))
    assert words.count("points") == sum((abs(difference) >= 0.0005, low != 0 or high != 0))
    ends = re.search(r"95 % CI (?:from a (fall) of )?([0-9.]+) to (?:a (rise) of )?([0-9.]+) points", words)
    if ends is None:
        assert low == high == 0 or abs(difference) < 0.0005
        return
    near, far = (float(ends[group]) / 100 for group in (2, 4))
    both = (-near, far) if ends[1] else (near, far) if low >= 0 else (-far, -near)
    assert both == pytest.approx((low, high), abs=0.0005 + 1e-9)


def change(
    metric: str, verdict: Any, action: Any = "proceed", gated: bool = True, by: float = -0.1
) -> MetricChange:
    words = movement(metric, verdict, by, "fraction", None)
    return MetricChange(metric, 0.5, 0.5 + by, by, None, None, gated, verdict, action, "", words)


def compared(*changes: MetricChange, regressed: tuple[CaseChange, ...] = ()) -> Comparison:
    return Comparison(
        "toy", "before", "after", (), 20, (), (), (), changes, (), regressed, "regressed", "block", 3, "f1"
    )


def test_the_headline_comes_first_and_then_what_got_worse_and_better() -> None:
    found = compared(
        change("recall", "improved", by=0.2),
        change("precision", "regressed", "investigate"),
        change("canaries", "inconclusive", "block", by=0.1),
        change("mrr", "inconclusive", "investigate"),
        change("hidden", "regressed", gated=False),
        change("f1", "improved", by=0.1),
        regressed=(CaseChange("a", 1.0, 0.5, -0.5), CaseChange("b", 1.0, None, None)),
    )
    assert found.sentence == (
        "f1 rose 10.0 points over 20 cases × 3 trials. "
        "Worse: canaries rose 10.0 points, which may be chance, precision fell 10.0 points. "
        "Better: recall rose 20.0 points. "
        "Unclear: mrr fell 10.0 points. Worst cases by f1: a fell 50.0 points, b has no value any more."
    )


def test_what_blocks_though_it_may_be_chance_says_why() -> None:
    fell = change("precision", "inconclusive", "block")
    into = replace(fell, zone_before="between", zone_after="fail")
    within = replace(fell, zone_before="fail", zone_after="fail")
    for each, why in ((into, "into the fail zone"), (within, "which may be chance")):
        found = compared(change("f1", "identical", by=0.0), each)
        assert found.sentence.endswith(f"Worse: precision fell 10.0 points, {why}.")


def test_an_ungated_headline_is_named_all_the_same_and_a_list_is_bounded() -> None:
    others = [change(f"m{place}", "regressed", "block") for place in range(5)]
    found = compared(*others, change("f1", "inconclusive", gated=False, by=0.1))
    assert found.sentence == (
        "f1 rose 10.0 points, which may be chance, over 20 cases × 3 trials. "
        "Worse: m0 fell 10.0 points, m1 fell 10.0 points, m2 fell 10.0 points and 2 more."
    )


@pytest.mark.parametrize(
    ("verdict", "by", "told"),
    [("regressed", 0.1, ", which is worse, over"), ("improved", -0.1, ", which is better, over")],
)
def test_a_headline_that_should_be_low_says_what_its_rise_means(verdict: str, by: float, told: str) -> None:
    assert told in compared(change("f1", verdict, by=by)).sentence


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        ((), "identical in every case over 20 cases × 3 trials."),
        (("identical", "identical"), "Every other gated metric is identical in every case."),
        (("identical", "unchanged"), "No other gated metric clearly got better or worse."),
        (("no worse",), "No other gated metric clearly got better or worse."),
    ],
)
def test_what_stood_still(verdicts: tuple[str, ...], told: str) -> None:
    others = [change(f"m{place}", verdict) for place, verdict in enumerate(verdicts)]
    assert compared(change("f1", "identical", by=0.0), *others).sentence.endswith(told)
