"""The six alerts of the quality standards, at and around their limits."""

from __future__ import annotations

import datetime

import pytest

from eval_pipeline.monitoring import (
    ALERT_NAMES,
    ALERTS,
    Alert,
    Estimate,
    Figures,
    Quality,
    Spread,
    alerts_for,
    reads_figures,
    watch_figures,
    watch_quality,
)
from eval_pipeline.monitoring.alerts import State, mean_reading
from eval_pipeline.monitoring.sketch import bucket_of
from eval_pipeline.suite.production import HALLUCINATION

AT = datetime.datetime(2026, 3, 2, 12, tzinfo=datetime.UTC)


def alert(name: str) -> Alert:
    return next(each for each in ALERTS if each.name == name)


def spread(values: list[float]) -> Spread:
    buckets: dict[int, int] = {}
    for value in values:
        buckets[bucket_of(value)] = buckets.get(bucket_of(value), 0) + 1
    return Spread(len(values), sum(values), sum(value**2 for value in values), buckets)


def figures(requests: int = 100, errors: int = 0, **measures: list[float]) -> Figures:
    kinds = {"timeout": errors} if errors else {}
    spreads = {name: spread(values) for name, values in measures.items()}
    return Figures("toy", AT - datetime.timedelta(hours=1), AT, requests, kinds, spreads)


def test_they_are_those_of_the_document() -> None:
    assert [(each.name, each.severity, each.limit, each.above) for each in ALERTS] == [
        ("mean_confidence", "warning", 0.7, False),
        ("hallucination_rate", "critical", 0.02, True),
        ("latency_p95_ms", "warning", 5000.0, True),
        ("cost_per_request_usd", "warning", 0.10, True),
        ("concepts_per_answer", "warning", 10.0, False),
        ("error_rate", "critical", 0.01, True),
    ]
    assert [name for name in ALERT_NAMES if not reads_figures(alert(name))] == [HALLUCINATION]


@pytest.mark.parametrize(
    ("name", "given", "state"),
    [
        ("mean_confidence", figures(confidence=[0.6, 0.65] * 50), "crossed"),
        ("mean_confidence", figures(confidence=[0.8] * 100), "kept"),
        ("mean_confidence", figures(confidence=[0.4, 0.95] * 20), "unsure"),
        ("mean_confidence", figures(confidence=[0.1] * 29), "unsure"),
        ("latency_p95_ms", figures(latency_ms=[100.0] * 80 + [6000.0] * 20), "crossed"),
        ("latency_p95_ms", figures(latency_ms=[100.0] * 99 + [60_000.0]), "kept"),
        ("latency_p95_ms", figures(latency_ms=[100.0] * 93 + [6000.0] * 7), "unsure"),
        ("cost_per_request_usd", figures(cost_usd=[0.2, 0.21] * 20), "crossed"),
        ("cost_per_request_usd", figures(cost_usd=[0.05] * 40), "kept"),
        ("concepts_per_answer", figures(concepts=[4.0, 5.0] * 20), "crossed"),
        ("concepts_per_answer", figures(concepts=[20.0] * 40), "kept"),
        ("error_rate", figures(1000, 30), "crossed"),
        ("error_rate", figures(1000, 10), "kept"),
        ("error_rate", figures(100, 2), "unsure"),
        ("error_rate", figures(30, 1), "unsure"),
        ("error_rate", figures(20, 20), "unsure"),
        ("error_rate", figures(0), "unsure"),
        ("cost_per_request_usd", figures(), "unsure"),
    ],
)
def test_a_limit_is_crossed_where_chance_does_not_explain_it(name: str, given: Figures, state: State) -> None:
    assert watch_figures(alert(name), given, AT).state == state


def test_nothing_known_changes_nothing() -> None:
    for each in ALERTS:
        if reads_figures(each):
            assert watch_figures(each, None, AT).state == "unsure"
    assert watch_quality(alert(HALLUCINATION), None, AT).state == "unsure"


@pytest.mark.parametrize(
    ("value", "low", "effective", "state"),
    [
        (0.05, 0.03, 200, "crossed"),
        (0.03, 0.01, 200, "unsure"),
        (0.05, 0.03, 29, "unsure"),
        (0.01, 0.0, 200, "kept"),
    ],
)
def test_hallucinations(value: float, low: float, effective: float, state: State) -> None:
    estimate = Estimate(HALLUCINATION, "fraction", "lower", value, low, 0.9, 200, effective)
    quality = Quality("toy", "", "", True, 900, 200, 200, 0, {HALLUCINATION: estimate})
    watched = watch_quality(alert(HALLUCINATION), quality, AT)
    assert watched.state == state
    assert "in the 7 days until 2026-03-02 12:00 UTC; above 2 % it alerts." in watched.text


def test_a_suite_may_have_limits_of_its_own() -> None:
    own = {each.name: each.limit for each in alerts_for({"error_rate": 0.05})}
    assert own["error_rate"] == 0.05
    assert own["latency_p95_ms"] == 5000.0


def test_the_mean_is_students() -> None:
    from scipy import stats

    values = [1.0, 2.0, 4.0, 7.0]
    read = mean_reading(spread(values))
    assert read is not None
    low, high = stats.t.interval(0.95, 3, loc=3.5, scale=stats.sem(values))
    assert (read.value, read.low, read.high) == pytest.approx((3.5, low, high))
